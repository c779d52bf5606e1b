"""Publishing a model on the Hugging Face Hub, with a card that says what is known of it."""
