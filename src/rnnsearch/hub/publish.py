"""A folder with a model onto the Hub, in one commit."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError, HTTPError

from ..errors import InputError

__all__ = ["create_repository", "publish"]

# What an earlier upload may have left and this one has under other names, weights in another number of parts above
# all: they would be loaded in the place of the new ones.
_REPLACED = ["*.safetensors", "*.safetensors.index.json", "*_rnnsearch.py"]


def create_repository(name: str, private: bool = False) -> str:
    """Make an empty repository, unless there is one.

    Args:
        name: `owner/name`, or a name alone for the owner of the access token.
        private: whether only its owner sees it; an existing one stays as it is.

    Returns:
        `owner/name`.

    Raises:
        InputError: the Hub refuses or cannot be reached.
    """
    with _one_line(name):
        return HfApi().create_repo(name, private=private or None, exist_ok=True).repo_id


def publish(folder: str | PathLike[str], repository: str) -> str:
    """Upload a folder, in which a model, its tokenizer and its card are saved.

    All arrives in one commit: an upload that is cut off changes nothing that others see, and can be run again. Weights
    and code that lie in the repository and not in the folder are deleted with it.

    Args:
        folder: all files in it are uploaded.
        repository: an existing one, `owner/name`.

    Returns:
        the address of the commit.

    Raises:
        InputError: the Hub refuses or cannot be reached.
    """
    with _one_line(repository):
        commit = HfApi().upload_folder(
            repo_id=repository,
            folder_path=Path(folder),
            commit_message="Upload an RNNsearch model",
            delete_patterns=_REPLACED,
        )
    return commit.commit_url


@contextmanager
def _one_line(repository: str) -> Iterator[None]:
    """Turn what huggingface_hub says of a failure into one line."""
    try:
        yield
    # RuntimeError is that of an upload cut off; its cause says more.
    except (HTTPError, OSError, RuntimeError, ValueError) as error:
        reason = (str(error.__cause__ or error).splitlines() or [type(error).__name__])[0]
        refused = isinstance(error, HfHubHTTPError) and error.response.status_code in (401, 403)
        hint = "log in with `hf auth login` or put a token that may write into HF_TOKEN" if refused else "try again"
        raise InputError(f"{repository}: not published: {reason}; {hint}") from error
