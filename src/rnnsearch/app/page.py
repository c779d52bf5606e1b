"""The page of the demo app, in Gradio."""

from html import escape
from typing import Any

from ..alignment.aligner import SoftAlignment
from ..alignment.page import make_page
from ..decoding.translator import Translator
from ..errors import InputError
from .answers import answers, loaded

try:
    import gradio as gr
except ModuleNotFoundError as error:
    raise InputError("the demo app needs Gradio: pip install 'rnnsearch[app]'") from error

__all__ = ["page", "serve"]

TITLE = "RNNsearch: translate, and see what was read"
FIXED = "This model reads every source word at once (context 'fixed'), so it has no alignment to draw."
# Not a part of the window's height: in a Space the window is a frame that grows with what is in it.
FRAME = '<iframe title="Alignment" srcdoc="{}" style="width: 100%; height: 800px; border: 0"></iframe>'


def serve(model: str = "") -> None:
    """Start the app on this machine, say where it is, and stay until it is interrupted.

    Gradio's own variables of the environment say where it listens, such as `GRADIO_SERVER_PORT`.

    Args:
        model: what `page` takes.

    Raises:
        InputError: it cannot listen there.
    """
    blocks = page(model)
    try:
        _, address, _ = blocks.launch(quiet=True, share=False, footer_links=[], prevent_thread_lock=True)
    except OSError as error:
        raise InputError(f"the app cannot start: {error}") from error
    print(f"The app is at {address} until you press Ctrl+C", flush=True)
    blocks.block_thread()


def page(model: str = "") -> gr.Blocks:
    """The page: its parts, and what happens when somebody types, presses and chooses.

    Args:
        model: the model that it begins with, a folder or a name on the Hugging Face Hub; in the page, people can name
            another one.
    """
    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True) as blocks:
        gr.Markdown(f"# {TITLE}")
        with gr.Row():
            with gr.Column(scale=2):
                sentence = gr.Textbox(label="Sentence", placeholder="Type a sentence and press Enter", autofocus=True)
                button = gr.Button("Translate", variant="primary")
                beam = gr.Slider(1, 20, 5, step=1, label="Beam", info="Hypotheses kept at each step; 1 is greedy.")
                length_penalty = gr.Slider(
                    0, 2, 1, step=0.1, label="Length penalty", info="Power of the length that divides scores."
                )
                n_best = gr.Slider(
                    1, 10, 1, step=1, label="n-best", info="Translations shown, at most as many as the beam."
                )
                name = gr.Textbox(model, label="Model", placeholder="A folder, or a name on the Hugging Face Hub")
                about = gr.Markdown()
            with gr.Column(scale=3):
                message = gr.Textbox(label="Please note", interactive=False, visible=False)
                translation = gr.Textbox(label="Translation", interactive=False, buttons=["copy"])
                found = gr.State([])
                choice = gr.Radio(label="Translations, best first, with their scores", visible=False)
                alignment = gr.HTML()
        gr.on([blocks.load, name.submit], _about, name, [about, message])
        inputs = [name, sentence, beam, length_penalty, n_best]
        shown = [translation, alignment]
        gr.on([button.click, sentence.submit], _translate, inputs, [about, message, found, choice, *shown])
        choice.input(list.__getitem__, [found, choice], shown)
    return blocks


def _about(name: str) -> tuple[str, Any]:
    """A line on a model, and the message if there is none of that name."""
    try:
        return _line(loaded(name)), _message("")
    except InputError as error:
        return "", _message(str(error))


def _line(translator: Translator) -> str:
    tokenizer, millions = translator.tokenizer, translator.model.num_parameters() / 1e6
    return f"{tokenizer.source_lang} → {tokenizer.target_lang}, {millions:.1f} million parameters"


def _message(text: str) -> Any:
    return gr.update(value=text, visible=bool(text))


def _translate(
    name: str, sentence: str, num_beams: int, length_penalty: float, n_best: int
) -> tuple[str, Any, list[tuple[str, str]], Any, str, str]:
    """What stands in the page after the button was pressed: all of it anew, or the message alone.

    The third is what can be chosen from: for each translation its text, and the HTML of its alignment.
    """
    about, found = "", []
    try:
        translator = loaded(name)
        about = _line(translator)
        found = answers(translator, sentence, num_beams, length_penalty, n_best)
        message = FIXED if translator.model.config.context == "fixed" else ""
    except InputError as error:
        message = str(error)
    shown = [(one.text, _frame(one.alignment, translator)) for one in found] or [("", "")]
    choices = [(f"{one.score:.3f}  {one.text}", place) for place, one in enumerate(found)]
    choice = gr.update(choices=choices, value=0 if found else None, visible=len(found) > 1)
    return about, _message(message), shown, choice, *shown[0]


def _frame(alignment: SoftAlignment | None, translator: Translator) -> str:
    if alignment is None:
        return ""
    tokenizer = translator.tokenizer
    return FRAME.format(escape(make_page([alignment], tokenizer.source_lang, tokenizer.target_lang)))
