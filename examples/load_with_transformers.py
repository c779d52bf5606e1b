"""Translate with a trained model through Transformers alone, and see where it looked.

    python examples/load_with_transformers.py demo/model "The French nurse gives it to the old doctor."

Any folder that `rnnsearch train` or `rnnsearch demo` has written will do; a second or two on one CPU core.
"""

import sys

from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import rnnsearch  # noqa: F401  (tells the Auto classes about the model)


def main(folder: str, sentence: str) -> None:
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(sentence, return_tensors="pt")
    output = model.generate(
        **inputs, num_beams=5, max_new_tokens=100, output_attentions=True, return_dict_in_generate=True
    )
    print(tokenizer.decode(output.sequences[0], skip_special_tokens=True))

    source = tokenizer.source_tokens(inputs.input_ids[0])
    written = output.sequences[0, 1:]
    # Which beam each word of the winner came from; its weights are in that row of the step.
    for step, (token, beam) in enumerate(zip(tokenizer.target_tokens(written), output.beam_indices[0], strict=False)):
        if beam >= 0:
            weights = output.cross_attentions[step][0][beam, 0, -1]
            print(f"{token:>20}  {weights.max().item():.2f}  {source[int(weights.argmax())]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
