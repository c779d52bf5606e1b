"""The card of the English-German Multi30k model, model_card.md, from its results and its configuration.

    python examples/model_card.py [FILE]

A model of your own gets its card from `rnnsearch push`, which reads all of this from the model's folder.
"""

import json
import sys
from pathlib import Path

from rnnsearch import RNNsearchConfig
from rnnsearch.evaluation.scores import Score
from rnnsearch.hub.card import Evaluation, Example, ModelFacts, Training, make_card

ROOT = Path(__file__).resolve().parents[1]


def main(path: Path) -> None:
    results = json.loads((ROOT / "results" / "multi30k_en_de.json").read_text(encoding="utf-8"))
    recipe = json.loads((ROOT / "examples" / "multi30k_en_de.json").read_text(encoding="utf-8"))
    config = RNNsearchConfig(**{name: value for name, value in recipe.items() if hasattr(RNNsearchConfig, name)})
    training = results["training"]
    facts = ModelFacts(
        name="my-model",
        config=config,
        example=Example("A man in a red shirt is riding a bicycle.", "Ein Mann in einem roten Hemd fährt Fahrrad."),
        source_lang=recipe["source_lang"],
        target_lang=recipe["target_lang"],
        data="image captions of Multi30k, for non-commercial research",
        recipe=recipe,
        training=Training(
            updates=training["updates"],
            epochs=training["validation"][-1]["epoch"],
            validation_bleu=training["best_validation_bleu"],
        ),
        evaluations=[
            Evaluation(
                test_set,
                [Score(name=measure, **score) for measure, score in scores.items()],
                decoding="beam 5, length penalty 1",
            )
            for test_set, scores in results["tests"].items()
        ],
        picture="results/multi30k_en_de_alignment.png",
    )
    path.write_text(str(make_card(facts)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "model_card.md")
