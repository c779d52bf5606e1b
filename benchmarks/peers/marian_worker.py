"""The worker of Transformers' `MarianMTModel` with three layers of 512 units on either side, whatever the size.

Of the size it has the vocabulary, the batch and the lengths.
"""

from transformers import MarianConfig, MarianMTModel

from sizes import Size
from transformers_system import TransformersSystem
from workload import serve_system


class Marian(TransformersSystem):
    packages = ("transformers", "torch")
    eos = 0
    first_word = 2

    def __init__(self, size: Size):
        self.model = MarianMTModel(
            MarianConfig(
                vocab_size=size.vocabulary,
                d_model=512,
                encoder_layers=3,
                decoder_layers=3,
                encoder_attention_heads=8,
                decoder_attention_heads=8,
                encoder_ffn_dim=2048,
                decoder_ffn_dim=2048,
                dropout=0.0,
                attention_dropout=0.0,
                activation_dropout=0.0,
                max_position_embeddings=512,
                eos_token_id=self.eos,
                pad_token_id=1,
                decoder_start_token_id=1,
                forced_eos_token_id=None,
            )
        )


if __name__ == "__main__":
    serve_system(Marian)
