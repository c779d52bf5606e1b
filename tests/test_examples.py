"""The examples run, small."""

import copy
import gzip
import json
import random
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer
from typer.testing import CliRunner

from rnnsearch import RNNsearchTokenizer, cli
from rnnsearch.alignment.forced import force
from rnnsearch.data.grammar import corpus
from rnnsearch.training.parser import OptionParser

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = ["--embedding_size=8", "--hidden_size=8", "--alignment_size=8", "--maxout_size=8", "--num_train_epochs=2"]


def example(name: str):
    """The `main` of an example."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> tuple[Path, Path]:
    """Sixty pairs in two files."""
    folder = tmp_path_factory.mktemp("text")
    pairs = corpus(60, (3, 8), 1)
    for language, texts in (("en", [pair.source for pair in pairs]), ("fr", [pair.target for pair in pairs])):
        (folder / f"train.{language}").write_text("".join(f"{line}\n" for line in texts), encoding="utf-8")
    return folder / "train.en", folder / "train.fr"


@pytest.fixture(scope="module")
def trained(text, tmp_path_factory) -> Path:
    """What examples/train.py leaves behind."""
    folder = tmp_path_factory.mktemp("trained")
    assert 0 <= example("train")(*text, folder, epochs=2, size=12, held_out=10)["BLEU"] <= 100
    return folder


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.name)
def test_configurations_are_complete(path):
    """Each names its text, and nothing in it is unknown to `rnnsearch train`."""
    data, model, arguments = OptionParser().read([str(path)])
    assert len(data.train) == len(data.validation) == 2
    assert model.embedding_size == model.maxout_size == 256
    assert arguments.bf16 and arguments.label_smoothing_factor == 0.1


def test_load_with_transformers(tiny_model_dir, capsys):
    example("load_with_transformers")(str(tiny_model_dir), "The red house is small.")
    translation, *rows = capsys.readouterr().out.splitlines()
    assert translation
    words = {"The", "red", "house", "is", "small", ".", "</s>"}
    assert rows and all(row.split()[-1] in words and 0 < float(row.split()[-2]) <= 1 for row in rows)


@pytest.mark.slow
def test_push_and_load(tiny_model_dir, hub, tmp_path):
    words = [tiny_model_dir, "somebody/example", "The red house is small."]
    result = subprocess.run(
        [sys.executable, EXAMPLES / "push_and_load.py", *words],
        capture_output=True,
        text=True,
        timeout=120,
        env=hub.environment(tmp_path),
    )
    assert result.returncode == 0, result.stderr
    here, from_hub = result.stdout.splitlines()
    assert here == from_hub and here
    assert {"model.safetensors", "tokenizer.json", "modeling_rnnsearch.py"} <= hub.files("somebody/example")


@pytest.fixture
def multi30k(tmp_path) -> Path:
    """A folder of files named as Multi30k's."""
    for number, stem in enumerate(("train", "val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")):
        pairs = corpus(40 if stem == "train" else 5, (3, 8), number)
        texts = {"en": [pair.source for pair in pairs]} | {
            lang: [pair.target for pair in pairs] for lang in ("de", "fr")
        }
        for language, lines in texts.items():
            text = "".join(f"{line}\n" for line in lines).encode()
            name = tmp_path / f"{stem}.{language}{'.gz' if stem == 'train' else ''}"
            name.write_bytes(gzip.compress(text) if stem == "train" else text)
    return tmp_path


def run_small(words: list[str]) -> None:
    """A command that an example starts, with models of a few units, in this process."""
    result = CliRunner().invoke(cli.app, words + (SMALL if words[0] == "train" else []))
    assert result.exit_code == 0, result.output


def test_multi30k(multi30k, tmp_path, monkeypatch):
    main = example("multi30k")
    monkeypatch.setitem(main.__globals__, "run", run_small)
    options = ["fr", "--data", str(multi30k), "--output", str(tmp_path / "model"), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["multi30k.py", *options])
    main()
    results = json.loads((tmp_path / "multi30k_en_fr.json").read_text(encoding="utf-8"))
    assert results["training"]["updates"] == 2
    assert len(results["training"]["validation"]) == 3  # after each epoch, and the best at the end
    assert results["tests"].keys() == {"test_2016_flickr", "test_2017_flickr", "test_2017_mscoco"}
    assert all(scores["BLEU"]["sentences"] == 5 for scores in results["tests"].values())


@pytest.mark.slow
def test_ablations(multi30k, tmp_path, monkeypatch):
    """One training of each kind; the second time nothing is trained."""
    main = example("ablations")
    monkeypatch.setitem(main.__globals__, "run", run_small)
    options = ["--data", str(multi30k), "--output", str(tmp_path / "models"), "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["ablations.py", *options, "--updates", "3", "--seeds", "7"])
    main()
    written = (tmp_path / "ablations.json").read_text(encoding="utf-8")
    results = json.loads(written)
    assert results["updates"] == 3
    for number, row in enumerate(results["rows"].values()):
        [(seed, found)] = row["seeds"].items()
        assert (seed, list(found["validation loss"])) == ("7", ["3"])
        assert found["scores"]["BLEU"]["value"] >= 0
        config = AutoConfig.from_pretrained(tmp_path / "models" / f"{number}-7").to_dict()
        kept = row["changes"].keys() & config.keys() - {"maxout_size", "vocab_size", "src_vocab_size"}
        assert {name: config[name] for name in kept} == {name: row["changes"][name] for name in kept}
    monkeypatch.setitem(main.__globals__, "run", None)
    main()
    assert (tmp_path / "ablations.json").read_text(encoding="utf-8") == written


def test_the_model_card_is_fresh(tmp_path):
    example = runpy.run_path(str(EXAMPLES / "model_card.py"))
    example["main"](tmp_path / "card.md")
    written = (EXAMPLES.parent / "model_card.md").read_text(encoding="utf-8")
    assert (tmp_path / "card.md").read_text(encoding="utf-8") == written, "run: python examples/model_card.py"


def test_train(trained):
    """Left behind is a complete model, whose vocabularies are those of the pairs that are not held out."""
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(trained), AutoTokenizer.from_pretrained(trained)
    assert (model.config.hidden_size, tokenizer.kind) == (12, "word")
    assert model.config.vocab_size == tokenizer.target_vocab_size


def test_fine_tune(trained, text, tmp_path):
    scores = example("fine_tune")(trained, *text, tmp_path / "tuned", epochs=3, held_out=10)
    assert scores.keys() == {"BLEU before", "BLEU after"}
    assert (tmp_path / "tuned" / "tokenizer.json").read_bytes() == (trained / "tokenizer.json").read_bytes()
    before, after = (load_file(folder / "model.safetensors") for folder in (trained, tmp_path / "tuned"))
    unchanged = {name for name in before if torch.equal(before[name], after[name])}
    # While attention is next to even, what is added to every energy alike cancels out in the softmax.
    assert unchanged <= {"model.decoder.attention.query_proj.weight"}


# peft asks with a name that Transformers 5.24 has replaced
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
def test_lora(trained, text, tmp_path):
    figures = example("lora")(trained, *text, tmp_path, epochs=3, rank=2, held_out=10)
    assert 5 < figures["percent trained"] < 50
    adapter = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    projections = {name.split(".lora_")[0].removeprefix("base_model.model.") for name in adapter}
    assert len(projections) == 8
    assert "model.encoder.backward_unit.input_proj" in projections
    assert len(adapter) == 16
    # The second matrix starts at zero: all of them have learnt.
    assert all(value.abs().max() > 0 for value in adapter.values())

    base, merged = (AutoModelForSeq2SeqLM.from_pretrained(folder).eval() for folder in (trained, tmp_path / "merged"))
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "merged")
    batch = tokenizer(["We sing.", "The old house is red."], text_target=["Nous.", "La."], padding=True)
    batch = {name: torch.tensor(rows) for name, rows in batch.items()}
    changed = {name for name, value in merged.state_dict().items() if not torch.equal(value, base.state_dict()[name])}
    assert changed == {f"{name}.weight" for name in projections}
    with torch.no_grad():
        plain, expected = base(**batch).logits, PeftModel.from_pretrained(base, tmp_path / "adapter")(**batch).logits
        torch.testing.assert_close(merged(**batch).logits, expected, atol=1e-5, rtol=0)
    assert (plain - expected).abs().max() > 1e-3


def test_decode(trained, text, capsys):
    scores = example("decode")(trained, *text, lines=6, n_best=2)
    assert scores.keys() == {"BLEU greedy", "BLEU beam 5", "BLEU sampled"}
    source, best, second, *samples, _ = capsys.readouterr().out.splitlines()
    assert source == text[0].read_text(encoding="utf-8").splitlines()[0]
    assert float(best.split()[0]) >= float(second.split()[0])
    assert [line.split()[0] for line in samples] == ["sampled"] * 2


def test_align(tiny_model_dir, tmp_path):
    main = example("align")
    largest = main(tiny_model_dir, "The red house.", "La maison rouge.", tmp_path / "alignment.png")
    assert [name.split()[0] for name in largest] == ["La", "maison", "rouge", ".", "</s>"]
    assert all(19.9 < value <= 100 for value in largest.values())
    assert (tmp_path / "alignment.png").read_bytes().startswith(b"\x89PNG")


class Choices(random.Random):
    """Remembers what it chose."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.made = []

    def choice(self, options):
        self.made.append(super().choice(options))
        return self.made[-1]


def test_erasure_compares_probabilities(tiny_model, tiny_tokenizer):
    """With those of each word of the vocabulary, when the model is made to write it after the words before."""
    model = copy.deepcopy(tiny_model)
    torch.manual_seed(0)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    functions = example("erasure").__globals__
    lines = ["The red house is small.", "A dog sees the old bridge."]
    sentences = [functions["words_of"](tiny_tokenizer, line) for line in lines]
    assert [len(words) for words in sentences] == [6, 7]
    vocabulary = [word for words in sentences for word in words]
    changed = set()
    for seed in range(8):
        words, rng = sentences[seed % 2], Choices(seed)
        found = functions["erase"](model, tiny_tokenizer, words, vocabulary, rng)
        place, another, [new] = rng.made
        source = [index for (index,) in words]
        batch = {"input_ids": torch.tensor([[*source, 2]])}
        written = model.generate(**batch, max_length=functions["LONGEST"])[0, 1:].tolist()

        def probabilities(source: list[int], prefix: list[int] = written[:place]) -> np.ndarray:
            targets = [[*prefix, index] for index in range(model.config.vocab_size)]
            forced = force(model, tiny_tokenizer, [[*source, 2]] * len(targets), targets, 32)
            return np.exp([one.log_probs[-1] for one in forced])

        [noted] = force(model, tiny_tokenizer, [[*source, 2]], [written], 1)
        most = int(noted.weights[place, :-1].argmax())
        assert found["weight"] == pytest.approx([noted.weights[place, position] for position in (most, another)])
        before = probabilities(source)
        assert before.argmax() == written[place]
        for number, position in enumerate((most, another)):
            assert new not in (source[most], source[another])
            after = probabilities([*source[:position], new, *source[position + 1 :]])
            assert found["percent changed"][number] == 100 * (after.argmax() != before.argmax())
            assert found["total variation"][number] == pytest.approx(abs(after - before).sum() / 2, abs=1e-6)
            lost = np.log(before[written[place]] / after[written[place]])
            assert found["log-probability lost"][number] == pytest.approx(lost, abs=1e-5)
            changed.add(found["percent changed"][number])
    assert changed == {0, 100}


def test_erasure(tiny_model_dir, text, tmp_path):
    main = example("erasure")
    report = main(tiny_model_dir, text[0], tmp_path / "erasure.json", lines=12)
    written = json.loads((tmp_path / "erasure.json").read_text(encoding="utf-8"))
    assert written.pop("measured")["lines"] == 12
    assert written == report
    for found in report.values():
        means = {which: mean for which, (mean, _, _) in found.items()}
        assert means["difference"] == pytest.approx(means["most read"] - means["another"], abs=2e-4)
    interval = main.__globals__["interval"]
    ones = np.repeat([0.0, 1.0], 200)  # the mean of as many throws of a coin lies within 1.96 times 1/40 around it
    resampled = np.random.default_rng(0).integers(400, size=(4000, 400))
    assert interval(ones, resampled) == pytest.approx([0.5, 0.5 - 0.049, 0.5 + 0.049], abs=0.004)


def test_erasure_keeps_the_pieces_of_words():
    tokenizer = RNNsearchTokenizer.train(["low lower lowest"] * 3, ["a b"] * 3, kind="bpe", vocab_size=264)
    words = example("erasure").__globals__["words_of"](tokenizer, "slow lower")
    assert len(words) == 2 and max(map(len, words)) > 1
    assert [index for word in words for index in word] == tokenizer("slow lower").input_ids[:-1]


def test_transliterate(tmp_path):
    main = example("transliterate")
    functions = main.__globals__
    assert len(functions["LATIN"]) == 64
    assert {kana: functions["LATIN"][kana] for kana in "あしちつふじゆぺ"} == dict(
        zip("あしちつふじゆぺ", ("a", "shi", "chi", "tsu", "fu", "ji", "yu", "pe"), strict=True)
    )
    words = dict(functions["word"](random.Random(seed)) for seed in range(3000))
    for kana, latin in (("ん", "m"), ("っ", "t"), ("しゃ", "sha"), ("きょ", "kyo"), ("っち", "tchi")):
        assert any(kana in word and latin in spelling for word, spelling in words.items())
    assert 0 <= main(tmp_path, words=120, epochs=1, size=8, held_out=20)["words right"] <= 100
    source, target = ((tmp_path / f"train.{side}").read_text(encoding="utf-8") for side in ("kana", "latin"))
    assert source.count("\n") == target.count("\n") > 90
    assert all(len(sign) == 1 for sign in (source + target).split())


def test_instructions(tmp_path, monkeypatch):
    main = example("instructions")
    pairs = dict(main.__globals__["instructions"]())
    assert len(pairs) == 96 + 2 * 96**2
    assert pairs["wave twice after push left"] == "LEFT PUSH WAVE WAVE"
    assert pairs["grasp behind then lift three times"] == "LEFT LEFT GRASP LEFT LEFT LIFT LIFT LIFT"
    few = random.Random(0).sample(sorted(pairs.items()), 300)
    monkeypatch.setitem(main.__globals__, "instructions", lambda: few)
    figures = main(tmp_path, epochs=1, size=8, held_out=20)
    assert figures.keys() == {"right of known lengths", "right of longer"}
    lengths = [len(line.split()) for line in (tmp_path / "train.actions").read_text(encoding="utf-8").splitlines()]
    assert len(lengths) > 50
    assert max(lengths) <= 12


@pytest.mark.slow
def test_run_translation_no_trainer(text, tmp_path, monkeypatch, two_processes):
    """Interrupted it goes on to the same result; two processes train as one does with batches of twice the size."""
    main = example("run_translation_no_trainer")
    options = {"epochs": 3, "size": 12, "held_out": 12}
    whole = main(*text, tmp_path / "whole", batch_size=16, **options)
    train_epoch, calls = main.__globals__["train_epoch"], []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return train_epoch(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setitem(main.__globals__, "train_epoch", interrupted)
        main(*text, tmp_path / "parts", batch_size=16, **options)
    assert not (tmp_path / "parts" / "model.safetensors").exists()
    assert main(*text, tmp_path / "parts", batch_size=16, resume=True, **options) == whole
    main(*text, tmp_path / "accumulated", batch_size=8, accumulate=2, **options)

    words = [*text, tmp_path / "together", "--epochs", 3, "--size", 12, "--held-out", 12, "--batch-size", 8]
    told, _ = two_processes(EXAMPLES / "run_translation_no_trainer.py", *words)
    assert [line.split(":")[0] for line in told.splitlines()] == [
        "60 pairs kept; 0 dropped", "epoch 1", "epoch 2", "epoch 3",
    ]  # fmt: skip

    def weights(name: str) -> torch.Tensor:
        found = load_file(tmp_path / name / "model.safetensors")
        return torch.cat([found[key].flatten().double() for key in sorted(found)])

    assert torch.equal(weights("parts"), weights("whole"))
    torch.testing.assert_close(weights("together"), weights("accumulated"), atol=1e-6, rtol=0)
    # Adam makes much of the rounding of a weight whose gradient is next to nothing: all weights as one vector.
    difference = (weights("together") - weights("whole")).norm() / weights("whole").norm()
    assert difference < 1e-4
    AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "together")


def test_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = EXAMPLES / "from_equations_to_figure_3.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    names = {"__name__": "__main__"}
    for cell in code:
        exec(compile("".join(cell["source"]), f"{path.name}, {cell['id']}", "exec"), names)
        if "parameters" in cell["metadata"].get("tags", []):
            assert names["PAIRS"] > 1000
            names |= {"PAIRS": 300, "EPOCHS": 1, "SIZE": 10}
    assert np.isclose(names["alpha"].sum(), 1)
    assert 0 < names["links_found"] < 100
