"""Progress on a terminal, silence in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress
from rich.progress import track as rich_track

#: Progress goes to stderr, so that stdout can be piped.
console = Console(stderr=True)


def track[T](items: Sequence[T], what: str) -> Iterator[T]:
    """Go through items under a progress bar (with more than one item, on a terminal)."""
    if len(items) < 2 or not console.is_terminal:
        yield from items
    else:
        yield from rich_track(items, description=what, console=console, transient=True)


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A progress bar (on a terminal); call what it yields with the number of items that are done."""
    if total < 2 or not console.is_terminal:
        yield lambda _: None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.advance(task, count)


class Activity:
    """A line that says what is going on."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._status = console.status(title) if console.is_terminal else None

    def update(self, text: str) -> None:
        if self._status is not None:
            self._status.update(f"{self._title}: {text}")

    @contextmanager
    def running(self) -> Iterator[Activity]:
        if self._status is None:
            yield self
            return
        with self._status:
            yield self
