"""The page as a person uses it, in Chromium, beside what the translator and the aligner say."""

import time
from pathlib import Path

import gradio as gr
import pytest
from selenium.webdriver.common.keys import Keys

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, align
from rnnsearch.app.page import FIXED, serve
from rnnsearch.errors import InputError

SENTENCE = "A dog sees the old bridge."
SPACE = Path(__file__).parents[2] / "examples" / "space"
START = "import runpy\nrunpy.run_path(sys.argv[1], run_name='__main__')"


@pytest.fixture(scope="module")
def app(started, model_folder, browser):
    """Address and standard error of the app, started as a Space starts it."""
    with started(START, str(SPACE / "app.py"), MODEL=str(model_folder)) as (address, errors):
        yield address, errors


class Page:
    """What a person sees and does."""

    def __init__(self, browser, address: str):
        self.browser = browser
        browser.get(address)
        self.wait(lambda: self.about, lambda text: "en → fr" in text)

    def wait(self, read, good):
        """What `read` gives as soon as it is good."""
        end = time.monotonic() + 180
        while not good(value := read()):
            assert time.monotonic() < end, value
            time.sleep(0.05)
        return value

    def find(self, path: str) -> list:
        return self.browser.find_elements("xpath", path)

    def box(self, label: str):
        """The text box of this label, if it is shown."""
        found = self.find(f"//label[.//span[normalize-space()='{label}']]//textarea")
        return found[0] if found and found[0].is_displayed() else None

    def text(self, label: str) -> str:
        box = self.box(label)
        return box.get_property("value") if box else ""

    @property
    def about(self) -> str:
        return self.find("//body")[0].text

    @property
    def choices(self) -> list[str]:
        return [label.text for label in self.find("//label[.//input[@type='radio']]")]

    def type(self, label: str, text: str) -> None:
        self.box(label).send_keys(Keys.CONTROL, "a", Keys.NULL, Keys.DELETE, text)

    def set(self, slider: str, number: str) -> None:
        [field] = self.find(f"//input[@type='number' and contains(@aria-label, '{slider}')]")
        field.send_keys(Keys.CONTROL, "a", Keys.NULL, number, Keys.TAB)

    def press(self) -> None:
        self.find("//button[normalize-space()='Translate']")[0].click()

    def target_words(self) -> list[str]:
        """Down the side of the alignment; none where there is no alignment."""
        frames = self.find("//iframe[@title='Alignment']")
        if not frames:
            return []
        self.browser.switch_to.frame(frames[0])
        words = [word.text for word in self.find("//tbody//th")]
        self.browser.switch_to.default_content()
        return words

    def wait_for(self, translation: str) -> None:
        self.wait(lambda: self.text("Translation"), lambda text: text == translation)


@pytest.fixture
def page(browser, app) -> Page:
    return Page(browser, app[0])


def words(translator, *targets: str) -> list[list[str]]:
    found = align(translator.model, translator.tokenizer, [SENTENCE] * len(targets), targets)
    return [list(one.target_words) for one in found]


def test_a_sentence_is_translated_and_its_alignment_drawn(page, app, translator, model_folder):
    [[expected]] = translator.translate([SENTENCE])
    assert page.text("Model") == str(model_folder)
    page.type("Sentence", SENTENCE)
    page.press()
    page.wait_for(expected.text)
    page.wait(page.target_words, lambda shown: [shown] == words(translator, expected.text))
    assert page.text("Please note") == "" and page.choices == []

    # Another beam.
    [[greedy]] = translator.translate([SENTENCE], num_beams=1)
    assert greedy.text != expected.text
    page.set("Beam", "1")
    page.press()
    page.wait_for(greedy.text)

    # Nothing came from elsewhere, and nothing was asked for there.
    loaded = page.browser.execute_script("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert len(loaded) > 10 and [name for name in loaded if not name.startswith((app[0], "data:"))] == []
    assert "asked for" not in app[1].read_text()


def test_one_of_several_translations_is_chosen(page, translator):
    [expected] = translator.translate([SENTENCE], num_beams=4, n_best=3, length_penalty=0.5)
    assert len({one.text for one in expected}) == 3
    for slider, number in (("Beam", "4"), ("Length penalty", "0.5"), ("n-best", "3")):
        page.set(slider, number)
    page.type("Sentence", SENTENCE + Keys.ENTER)
    labels = [f"{one.score:.3f} {one.text}" for one in expected]
    page.wait(lambda: page.choices, lambda shown: shown == labels)
    page.wait_for(expected[0].text)
    page.find("//label[.//input[@type='radio']]")[1].click()
    page.wait_for(expected[1].text)
    page.wait(page.target_words, lambda shown: [shown] == words(translator, expected[1].text))


def test_what_is_wrong_is_said_in_the_page(page, app, translator):
    page.type("Sentence", SENTENCE)
    page.press()
    page.wait_for(translator.translate([SENTENCE])[0][0].text)

    page.type("Sentence", " ")
    page.press()
    page.wait(lambda: page.text("Please note"), lambda text: text == "there is nothing to translate: type a sentence")
    assert page.text("Translation") == "" and page.target_words() == []

    page.type("Model", "no-such/model" + Keys.ENTER)
    page.wait(lambda: page.text("Please note"), lambda text: text.startswith("no-such/model: no model can be loaded"))
    page.wait(lambda: page.about, lambda text: "en → fr" not in text)
    page.type("Model", " ")
    page.press()
    page.wait(lambda: page.text("Please note"), lambda text: text.startswith("no model is named"))
    assert "Traceback" not in app[1].read_text()


def test_a_model_without_alignments_translates(page, translator, tmp_path):
    settings = translator.model.config.to_dict() | {"context": "fixed"}
    RNNsearchForConditionalGeneration(RNNsearchConfig(**settings)).save_pretrained(tmp_path)
    translator.tokenizer.save_pretrained(tmp_path)
    expected = type(translator).from_pretrained(tmp_path).translate([SENTENCE])[0][0].text
    page.type("Model", str(tmp_path))
    page.type("Sentence", SENTENCE)
    page.press()
    page.wait_for(expected)
    assert page.text("Please note") == FIXED
    assert page.target_words() == []


def test_no_port_to_listen_on(monkeypatch):
    def launch(*_, **__):
        raise OSError("Cannot find empty port in range: 7860-7959.")

    monkeypatch.setattr(gr.Blocks, "launch", launch)
    with pytest.raises(InputError, match="the app cannot start: Cannot find empty port in range: 7860-7959"):
        serve()
