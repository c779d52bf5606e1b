"""The page in a browser: its numbers are the model's, it answers to pointer and keyboard, and text stays text."""

import numpy as np
import pytest
from selenium.webdriver import ActionChains, Keys

from rnnsearch.alignment.aligner import SoftAlignment, align
from rnnsearch.alignment.folding import TokenAlignment, Words
from rnnsearch.alignment.page import make_page
from rnnsearch.tokenizer import RNNsearchTokenizer

SOURCES = ["The miller's daughter sold nineteen loaves.", "No."]
TARGETS = ["La fille du meunier vendit dix-neuf pains.", "Non, jamais !"]
HURT = "</script><script>window.hurt=1</script><img src=x onerror='window.hurt=2'>&amp;{{ 7*7 }}"


def spelled(words):
    """Words of one token each, the last of them the end."""
    return Words(tuple(words), np.arange(len(words)) < len(words) - 1, np.eye(len(words)))


def by_hand(source, target, weights):
    tokens = TokenAlignment.from_weights(np.array(weights, dtype=float), spelled(source), spelled(target))
    return SoftAlignment(
        tuple(source), tuple(target), tokens.between_words(), np.zeros(len(target)), frozenset(), tokens
    )


@pytest.fixture(scope="module")
def alignments(make_model):
    """Of words that are cut into pieces."""
    tokenizer = RNNsearchTokenizer.train(SOURCES * 2, TARGETS * 2, kind="bpe", vocab_size=275, src_vocab_size=270)
    found = align(make_model(tokenizer), tokenizer, SOURCES, TARGETS, keep_tokens=True)
    assert (np.array(found[0].tokens.energies.shape) > found[0].weights.shape).all()
    return found


CELLS = """return [...document.querySelectorAll("tbody tr")].map(row => [...row.querySelectorAll("td")].map(
    cell => [cell.style.getPropertyValue("--weight"), cell.innerText].map(Number)))"""
WORDS = """return ["thead", "tbody"].map(part => [...document.querySelectorAll(part + " th")].map(
    cell => [cell.innerText, Number(cell.firstChild.style.getPropertyValue("--lit"))]))"""


class Page:
    """The page in the browser, as a reader has it."""

    def __init__(self, browser):
        self.browser = browser

    def words(self):
        return [tuple(word for word, _ in side) for side in self.browser.execute_script(WORDS)]

    def lit(self):
        """How much each source word is lit, and each target word."""
        return [np.array([light for _, light in side]) for side in self.browser.execute_script(WORDS)]

    def weights(self):
        """As cells are shaded, (T, S); what is written in them is that in per cent."""
        weights, texts = np.moveaxis(np.array(self.browser.execute_script(CELLS)), 2, 0)
        np.testing.assert_allclose(texts, 100 * weights, atol=0.5)
        return weights

    def cell(self, row, column):
        """Row 0 holds the source words, column 0 the target words."""
        line = f"tbody tr:nth-child({row})" if row else "thead tr"
        return self.browser.find_element("css selector", f"{line} > :nth-child({column + 1})")

    def reading(self):
        return self.browser.find_element("id", "reading").text

    def focus(self):
        """Row and column of the cell that has the focus."""
        return self.browser.execute_script("return placeOf(document.activeElement)")

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def point_at(self, element):
        ActionChains(self.browser).move_to_element(element).perform()


@pytest.fixture
def open_page(browser, tmp_path):
    def open_(*arguments):
        path = tmp_path / "page.html"
        path.write_text(make_page(*arguments), encoding="utf-8")
        browser.get(path.as_uri())
        page = Page(browser)
        page.point_at(browser.find_element("tag name", "h1"))  # away from where the last test left the pointer
        return page

    yield open_
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []


@pytest.fixture
def page(open_page, alignments):
    return open_page(alignments)


def test_the_numbers_are_the_models(page, alignments):
    one = alignments[0]
    assert page.words() == [one.source_words, one.target_words]
    np.testing.assert_allclose(page.weights(), one.weights, atol=1e-4)


def test_one_sentence_needs_no_list_to_choose_from(open_page, alignments):
    for pairs in (alignments[:1], alignments[:2]):
        chooser = open_page(pairs).browser.find_element("css selector", "label:has(#sentence)")
        assert chooser.is_displayed() == (len(pairs) > 1)


def test_the_slider_scales_the_energies(page, alignments):
    slider = page.browser.find_element("id", "scale")
    for key, presses, factor in ((Keys.ARROW_RIGHT, 13, 2**1.3), (Keys.HOME, 1, 2**-4), (Keys.END, 1, 2**4)):
        slider.send_keys(*[key] * presses)
        assert page.browser.find_element("id", "factor").text == f"{factor:.2f}"
        assert slider.get_attribute("aria-valuetext") == f"{factor:.2f}"
        np.testing.assert_allclose(page.weights(), alignments[0].tokens.between_words(factor), atol=1e-3)
    # What is lit follows.
    page.cell(1, 0).click()
    before = page.lit()[0]
    slider.send_keys(Keys.HOME)
    np.testing.assert_allclose(page.lit()[0], page.weights()[0])
    assert np.abs(page.lit()[0] - before).max() > 0.1


def test_a_target_word_lights_what_it_read(page, alignments):
    weights = alignments[0].weights
    for row in (3, 1):
        page.point_at(page.cell(row, 0))
        source, target = page.lit()
        np.testing.assert_allclose(source, weights[row - 1], atol=1e-4)
        assert not target.any()
        most = weights[row - 1].argmax()
        first = f"{alignments[0].target_words[row - 1]} read {alignments[0].source_words[most]} "
        assert page.reading().startswith(first)
        assert float(page.reading().removeprefix(first).split(" %")[0]) == pytest.approx(
            100 * weights[row - 1, most], abs=0.06
        )
    page.point_at(page.browser.find_element("tag name", "h1"))
    assert not np.concatenate(page.lit()).any()
    assert page.reading() == ""


def test_a_source_word_lights_what_was_written_from_it(page, alignments):
    page.point_at(page.cell(0, 2))
    source, target = page.lit()
    np.testing.assert_allclose(target, alignments[0].weights[:, 1], atol=1e-4)
    assert not source.any()
    assert page.reading().startswith(f"{alignments[0].source_words[1]} was read by ")


def test_a_cell_lights_both_its_words(page, alignments):
    page.point_at(page.cell(2, 4))
    source, target = page.lit()
    np.testing.assert_allclose(source, alignments[0].weights[1], atol=1e-4)
    np.testing.assert_allclose(target, alignments[0].weights[:, 3], atol=1e-4)
    one = alignments[0]
    assert page.reading() == f"{one.target_words[1]} read {one.source_words[3]} {100 * one.weights[1, 3]:.1f} %"


def test_a_click_holds(page):
    page.cell(2, 0).click()
    held = page.reading()
    page.point_at(page.cell(3, 0))
    assert page.reading() == held
    assert page.cell(2, 0).get_attribute("aria-selected") == "true"
    page.cell(4, 0).click()  # another one instead
    assert page.reading() != held
    assert page.cell(2, 0).get_attribute("aria-selected") is None
    page.cell(4, 0).click()
    page.point_at(page.cell(2, 0))
    assert page.reading() == held
    page.cell(3, 0).click()
    page.press(Keys.ESCAPE)
    page.point_at(page.cell(2, 0))
    assert page.reading() == held


def test_the_keyboard_alone(page, alignments):
    """The sentence, the slider and the grid are one stop each; in the grid arrows lead, but not into its corner."""
    page.press(Keys.TAB)
    assert page.browser.switch_to.active_element.get_attribute("id") == "sentence"
    page.press(Keys.TAB, Keys.TAB)
    assert page.focus() == [1, 0]
    read = page.reading()
    assert read.startswith(f"{alignments[0].target_words[0]} read ")
    steps = [
        (Keys.ARROW_LEFT, [1, 0]), (Keys.ARROW_UP, [1, 0]), (Keys.ARROW_DOWN, [2, 0]), (Keys.ARROW_RIGHT, [2, 1]),
        (Keys.ARROW_UP, [1, 1]), (Keys.ARROW_UP, [0, 1]), (Keys.ARROW_LEFT, [0, 1]), (Keys.ARROW_UP, [0, 1]),
        (Keys.END, [0, len(alignments[0].source_words)]), (Keys.ARROW_RIGHT, [0, len(alignments[0].source_words)]),
        (Keys.HOME, [0, 1]), (Keys.ARROW_DOWN, [1, 1]), (Keys.HOME, [1, 0]),
    ]  # fmt: skip
    for key, place in steps:
        page.press(key)
        assert page.focus() == place
    assert page.reading() == read
    page.press(Keys.ENTER, Keys.ARROW_DOWN)
    assert page.focus() == [2, 0]
    assert page.reading() == read
    page.press(Keys.ESCAPE)
    assert page.reading().startswith(f"{alignments[0].target_words[1]} read ")
    page.press(Keys.TAB)
    assert page.focus() is None
    assert page.reading() == ""


def test_the_grid_stays_under_the_pointer(open_page):
    """Whatever there is to say: were it to move, the pointer would be on another word."""
    words = [f"word{i:02}" for i in range(60)] + ["</s>"]
    page = open_page([by_hand(words, words, np.full((61, 61), 1 / 61))])
    before = page.cell(1, 0).location
    page.point_at(page.cell(1, 0))
    assert page.reading().count(",") == 60
    assert page.cell(1, 0).location == before


def test_another_sentence(page, alignments):
    page.press(Keys.TAB, Keys.ARROW_DOWN)
    assert page.words() == [alignments[1].source_words, alignments[1].target_words]
    np.testing.assert_allclose(page.weights(), alignments[1].weights, atol=1e-4)


def test_what_a_screen_reader_is_told(open_page, alignments):
    page = open_page(alignments, "en", "fr")
    nodes = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    told = sorted((node["role"]["value"], node.get("name", {}).get("value")) for node in nodes if not node["ignored"])
    one = alignments[0]
    for role, names in (
        ("grid", ["Weights in per cent"]),
        ("columnheader", [*one.source_words]),
        ("rowheader", [*one.target_words]),
        ("gridcell", [str(round(100 * weight)) for weight in page.weights().flat]),
        ("combobox", ["Sentence"]),
        ("slider", ["Score scale"]),
    ):
        assert [name for told_role, name in told if told_role == role and name] == sorted(names)
    assert [role for role, _ in told].count("status") == 2  # what was read, and the factor
    assert page.cell(0, 1).find_element("tag name", "span").get_attribute("lang") == "en"
    assert page.cell(1, 0).find_element("tag name", "span").get_attribute("lang") == "fr"


def test_text_is_not_code(open_page):
    one = by_hand([HURT, "</s>"], ["<b>x</b>", HURT, "</s>"], [[0.25, 0.75]] * 3)
    page = open_page([one, one])
    page.cell(2, 0).click()
    assert page.words() == [one.source_words, one.target_words]
    assert page.reading() == f"{HURT} read </s> 75.0 %, {HURT} 25.0 %"
    assert page.browser.find_element("tag name", "option").text == f"1: {HURT} </s>"
    assert page.browser.execute_script("return [window.hurt, document.images.length]") == [None, 0]


def test_scripts_of_the_world(open_page):
    """Arabic from right to left, Chinese upright and downwards, others turned with their beginning at the grid."""
    one = by_hand(["الكلب", "花园", "dog", "</s>"], ["הגן", "x", "</s>"], np.full((3, 4), 0.25))
    page = open_page([one])
    style = """const text = getComputedStyle(arguments[0].firstChild);
        return [text.direction, text.writingMode, text.textOrientation, text.transform !== "none"]"""
    looks = [page.browser.execute_script(style, page.cell(0, column)) for column in (1, 2, 3)]
    assert looks[0] == ["rtl", "vertical-rl", "sideways", True]
    assert looks[1] == ["ltr", "vertical-rl", "upright", False]
    assert looks[2] == ["ltr", "vertical-rl", "sideways", True]
    assert page.browser.execute_script(style, page.cell(1, 0))[:2] == ["rtl", "horizontal-tb"]
    assert page.browser.execute_script(style, page.cell(2, 0))[:2] == ["ltr", "horizontal-tb"]


COLOURS = """const base = rgba(getComputedStyle(document.body).backgroundColor);
    function rgba(text) { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; }
    return [...document.querySelectorAll("#grid td, #grid th span, p, label")].filter(e => e.innerText).map(
        e => [rgba(getComputedStyle(e).color), rgba(getComputedStyle(e).backgroundColor), base])"""


def contrast(ink, paper, base):
    """Of text on a background that may be translucent, as WCAG 2 defines it: 1 to 21."""

    def luminance(colour):
        parts = np.array(colour) / 255
        return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    mixed = np.array(paper[:3]) * paper[3] + np.array(base[:3]) * (1 - paper[3])
    low, high = sorted([luminance(ink[:3]), luminance(mixed)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(open_page, scheme):
    """At least 4.5, of text on every grey, of words however much lit, in both schemes."""
    scale = np.linspace(0, 1, 41)
    page = open_page([by_hand(["a", "</s>"], [f"w{i}" for i in range(41)], np.stack([scale, 1 - scale], axis=1))])
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        page.point_at(page.cell(0, 1))
        assert page.lit()[1].max() == pytest.approx(1)
        colours = page.browser.execute_script(COLOURS)
    finally:
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert (sum(colours[0][2][:3]) > 384) == (scheme == "light")
    assert min(contrast(*one) for one in colours) >= 4.5


def test_nothing_is_fetched(page, alignments):
    assert page.browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    html = make_page(alignments)
    assert "default-src 'none'" in html
    assert not any(word in html for word in ("http:", "https:", "src=", "url(", "@import", "<link"))


def test_what_cannot_be_shown(make_model, alignments):
    with pytest.raises(ValueError, match="give at least one"):
        make_page([])
    one = alignments[0]
    bare = SoftAlignment(one.source_words, one.target_words, one.weights, one.log_probs, one.links)
    with pytest.raises(ValueError, match="keep_tokens=True"):
        make_page([one, bare])
