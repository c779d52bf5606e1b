"""What an exported folder holds beside configurations and tokenizer, and which packages it takes."""

from importlib.util import find_spec

from ..errors import InputError

ENCODER = "encoder.onnx"
STEP = "decoder_step.onnx"


def require(*packages: str) -> None:
    """Of the extra `onnx`, these packages are needed now.

    Raises:
        InputError: one of them is not installed.
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise InputError(f"not installed: {', '.join(missing)}; run: pip install 'rnnsearch[onnx]'")
