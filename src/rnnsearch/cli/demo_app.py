"""`rnnsearch demo-app`: a page where people type sentences and see what was read to translate them."""

from typing import Annotated

import typer


def demo_app(
    model: Annotated[str, typer.Option(help="Folder of a trained model, or its name on the Hugging Face Hub.")],
) -> None:
    """Translate in the browser, and see which source words each word was read from.

    It needs `pip install rnnsearch[app]`, and listens on this machine alone; GRADIO_SERVER_NAME and GRADIO_SERVER_PORT
    say otherwise.
    """
    from ..app.answers import loaded
    from ..app.page import serve

    loaded(model)  # a wrong name ends here and not in the page
    serve(model)
