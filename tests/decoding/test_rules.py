"""The paper's decoder against a search of its own over teacher forcing, and against all possible translations."""

import copy
import itertools
import logging

import pytest
import torch

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, Translator
from rnnsearch.decoding.rules import paper_rules, paper_steps
from rnnsearch.errors import InputError

BOS, EOS, UNK = 1, 2, 3
INFINITE = float("inf")


def with_large_weights(model, end: float = 0.0, seed: int = 11):
    """A copy with weights so large that no two words are nearly equally likely, and an end as likely as wished."""
    model = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.7, generator=generator)
        model.lm_head.bias[EOS] += end
    return model.eval()


@torch.no_grad()
def next_log_probabilities(model, source: list[int], written: list[tuple[int, ...]]) -> list[list[float]]:
    """Of each next token after texts of one length, from a forward pass over all of them."""
    sources, texts = torch.tensor([source] * len(written)), torch.tensor([[BOS, *text] for text in written])
    return model(input_ids=sources, decoder_input_ids=texts).logits[:, -1].log_softmax(-1).tolist()


def searched(model, source: list[int], beam: int, forbidden: set[int]) -> tuple[float, list[int]] | None:
    """The best translation that ended, with its log-probability; None where nothing ended."""
    live, ended = [(0.0, ())], []
    for step in range(3 * len(source)):
        candidates = []
        after = next_log_probabilities(model, source, [text for _, text in live])
        for (score, text), log_probabilities in zip(live, after, strict=True):
            for token, log_p in enumerate(log_probabilities):
                if token not in forbidden and not (token == EOS and step < len(source) // 2):
                    candidates.append((score + log_p, (*text, token)))
        candidates.sort(reverse=True)
        ended += [one for one in candidates[:beam] if one[1][-1] == EOS]
        live = [one for one in candidates if one[1][-1] != EOS][:beam]
        if len(ended) >= beam:
            break
    return max(((score, list(text)) for score, text in ended), default=None)


@pytest.fixture(scope="module")
def lines(tiny_tokenizer) -> list[str]:
    """Lines of 1 to 6 known words in no order of length, one of them blank."""
    words = tiny_tokenizer.source_tokens(range(4, tiny_tokenizer.src_vocab_size))
    return [" ".join(words[start : start + size]) for start, size in ((0, 3), (3, 6), (9, 1), (5, 0), (2, 4), (7, 2))]


@pytest.mark.parametrize(("seed", "end"), [(2, 2.0), (3, 0.0), (3, 1.0), (11, 2.0)])
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("forbid_unk", [False, True])
def test_the_search_is_the_one_described(tiny_model, tiny_tokenizer, lines, seed, end, beam, forbid_unk):
    model = with_large_weights(tiny_model, end, seed)
    if forbid_unk:
        with torch.no_grad():
            model.lm_head.bias[UNK] += 3.0
    translator = Translator(model, tiny_tokenizer)
    together = translator.translate(lines, num_beams=beam, forbid_unk=forbid_unk, paper_decoding=True)
    for line, [found] in zip(lines, together, strict=True):
        if not line:
            assert (found.text, found.score) == ("", None)
            continue
        source = tiny_tokenizer(line).input_ids
        forbidden, width = {UNK} if forbid_unk else set(), beam
        while (expected := searched(model, source, width, forbidden)) is None:
            forbidden, width = set(), width if forbidden else 2 * width
        score, tokens = expected
        assert found.text == tiny_tokenizer.decode(tokens, skip_special_tokens=True)
        assert found.score == pytest.approx(score, abs=1e-4)
        assert len(source) // 2 < len(tokens) <= 3 * len(source)
        [[alone]] = translator.translate([line], num_beams=beam, forbid_unk=forbid_unk, paper_decoding=True)
        assert (alone.text, alone.score) == (found.text, pytest.approx(found.score, abs=1e-5))


@pytest.mark.parametrize("end", [-3.0, 0.0, 4.0])
@pytest.mark.parametrize("forbid_unk", [False, True])
def test_a_beam_for_everything_finds_the_best_of_all_translations(end, forbid_unk):
    """Five entries and a source of a word and its end: 1 to 5 tokens and an end, 1,364 translations."""
    config = RNNsearchConfig(
        src_vocab_size=6, vocab_size=5, embedding_size=4, hidden_size=5, alignment_size=3, maxout_size=4
    )
    model = with_large_weights(RNNsearchForConditionalGeneration(config), end)
    source = [5, EOS]
    words = [token for token in range(5) if token != EOS and not (forbid_unk and token == UNK)]
    best = (-INFINITE, ())
    for size in range(1, 6):
        written = torch.tensor(list(itertools.product(words, repeat=size)))
        starts = torch.full((len(written), 1), BOS)
        with torch.no_grad():
            logits = model(
                input_ids=torch.tensor([source] * len(written)), decoder_input_ids=torch.cat([starts, written], dim=1)
            ).logits
        tokens = torch.cat([written, torch.full((len(written), 1), EOS)], dim=1)
        totals = logits.log_softmax(-1).gather(2, tokens[:, :, None]).sum(dim=(1, 2))
        best = max(best, (totals.max().item(), tuple(tokens[totals.argmax()].tolist())))
    lengths = torch.tensor([len(source)])
    output = model.generate(
        input_ids=torch.tensor([source]),
        num_beams=1500,
        length_penalty=0.0,
        early_stopping=True,
        max_new_tokens=paper_steps(lengths),
        logits_processor=paper_rules(lengths, EOS),
        suppress_tokens=[UNK] if forbid_unk else None,
        output_scores=True,
        return_dict_in_generate=True,
    )
    found = output.sequences[0, 1:].tolist()
    assert tuple(found[: found.index(EOS) + 1]) == best[1]
    assert output.sequences_scores[0].item() == pytest.approx(best[0], abs=1e-4)


def test_rows_belong_to_their_sentences():
    """Two sentences of 5 and 2 tokens, a beam of three: no end for 2 and 1 tokens, nothing after 15 and 6."""
    shortest, longest = paper_rules([5, 2], EOS)
    scores = torch.arange(24.0).reshape(6, 4)
    for written, kept_back in ((0, [0, 1, 2, 3, 4, 5]), (1, [0, 1, 2]), (2, [])):
        found = shortest(torch.ones(6, 1 + written, dtype=torch.long), scores)
        assert torch.isinf(found).nonzero().tolist() == [[row, EOS] for row in kept_back]
        assert torch.equal(found[~torch.isinf(found)], scores[~torch.isinf(found)])
    for written, given_up in ((5, []), (6, [3, 4, 5]), (14, [3, 4, 5]), (15, [0, 1, 2, 3, 4, 5])):
        found = longest(torch.ones(6, 1 + written, dtype=torch.long), scores)
        for row in range(6):
            ended = [-INFINITE, -INFINITE, -1e6, -INFINITE]
            assert found[row].tolist() == (ended if row in given_up else scores[row].tolist())
    assert paper_steps([5, 2]) == paper_steps(torch.tensor([5, 2])) == 16


@pytest.fixture
def searches(monkeypatch):
    """Beam, sentences, and whether [UNK] was forbidden, of every search of a translator."""

    def record(translator) -> list[tuple[int, int, bool]]:
        found = []
        generate = translator.model.generate

        def recorded(**arguments):
            config = arguments["generation_config"]
            found.append((config.num_beams, len(arguments["input_ids"]), config.suppress_tokens == [UNK]))
            return generate(**arguments)

        monkeypatch.setattr(translator.model, "generate", recorded)
        return found

    return record


def test_what_has_not_ended_is_searched_for_again(tiny_model, tiny_tokenizer, lines, searches):
    """[UNK] is likeliest, then ".", then the end: better than [UNK]s and an end are those with one "." for its end.

    There are two to six of these when the end is first allowed, which a beam of 8 has room for.
    """
    model = with_large_weights(tiny_model)
    with torch.no_grad():
        model.lm_head.weight.zero_()
        model.lm_head.bias[[UNK, 4, EOS]] = torch.tensor([50.0, 49.0, 48.5])
    translator = Translator(model, tiny_tokenizer)
    found = searches(translator)
    results = translator.translate(lines[:2], num_beams=1, forbid_unk=True, paper_decoding=True)
    assert found == [(1, 2, True), (1, 2, False), (2, 2, False), (4, 2, False), (8, 2, False)]
    assert [one.text.split() for [one] in results] == [["[UNK]"] * 2, ["[UNK]"] * 3]


def test_a_line_stays_blank_where_every_search_fails(tiny_model, tiny_tokenizer, lines, searches, caplog):
    translator = Translator(with_large_weights(tiny_model, end=-1e4), tiny_tokenizer)
    found = searches(translator)
    with caplog.at_level(logging.WARNING):
        results = translator.translate([lines[2], "", lines[5]], num_beams=260, batch_size=2, paper_decoding=True)
    assert [(one.text, one.score) for [one] in results] == [("", None)] * 3
    assert found == [(260, 2, False), (520, 1, False), (520, 1, False)]
    assert [record.getMessage() for record in caplog.records] == [
        "lines left blank, for which no translation ended within the paper's limit: 2"
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_best": 2}, "gives one translation of a line, not 2: leave n-best out"),
        ({"length_penalty": 1.0}, "compares plain sums: leave the length penalty of 1 out"),
        ({"min_new_tokens": 3}, "leave the 3 new tokens out"),
    ],
)
def test_what_the_paper_decides_itself_is_refused(tiny_model, tiny_tokenizer, options, message):
    translator = Translator(tiny_model, tiny_tokenizer)
    with pytest.raises(InputError, match=message):
        translator.translate(["a"], paper_decoding=True, **options)
    assert translator.translate(["a"], paper_decoding=True, length_penalty=0.0)
