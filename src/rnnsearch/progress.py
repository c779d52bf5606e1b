"""The bar that a person sees while sentences are worked on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def progress_bar(name: str, total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """What advances a bar on standard error, by the number of sentences that are done."""
    with Progress(console=Console(stderr=True), transient=True, disable=not shown) as bar:
        task = bar.add_task(name, total=total)
        yield lambda done: bar.advance(task, done)
