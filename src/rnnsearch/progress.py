"""The bar that a person sees while sentences are worked on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def progress_bar(name: str, total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """What advances a bar on standard error, by the number of sentences that are done."""
    if not shown:  # earlier versions of rich end even a disabled bar with an empty line
        yield lambda done: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda done: bar.advance(task, done)
