"""Publish a trained model on the Hugging Face Hub, and translate with what lies there.

    python examples/push_and_load.py demo/model somebody/rnnsearch-demo "The old house is red."

Needs an access token that may write (`hf auth login`). Model, tokenizer, pipeline and the code of their classes are
uploaded; who has no RNNsearch installed loads them with `trust_remote_code=True`. `rnnsearch push` does the upload in
one commit, with a card of what is known of the model.
"""

import sys

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, pipeline

import rnnsearch  # noqa: F401  (tells Transformers about the model and the task)


def main(folder: str, repository: str, sentence: str) -> None:
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    here = pipeline("translation", model=model, tokenizer=tokenizer)
    here.push_to_hub(repository)
    from_hub = pipeline("translation", model=repository)
    for translate in (here, from_hub):
        print(translate(sentence)[0]["translation_text"])


if __name__ == "__main__":
    main(*sys.argv[1:])
