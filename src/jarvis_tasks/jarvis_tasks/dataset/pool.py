"""Units built by several processes: any of them may die, one bad model stops nobody."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for
from pathlib import Path

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import MissingPartError
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import JarvisError, MissingCapabilityError

from jarvis_tasks.dataset.layout import FailedModel
from jarvis_tasks.dataset.sources import Source
from jarvis_tasks.dataset.units import UnitSettings, write_unit

_log = logging.getLogger(__name__)

#: What came of a source: a failure, or None when its archives are written.
type Outcome = FailedModel | None
#: Models handed out per process: no process waits for the next one.
_AHEAD = 2


class Worker:
    """Builds one unit after the other in one process; knows the library and all parts it has met.

    Args:
        library: root of the LDraw library, None for built-in parts only.
    """

    def __init__(self, settings: UnitSettings, out: Path, library: Path | None) -> None:
        self._settings = settings
        self._out = out
        self._root = library
        self._forget()

    def _forget(self) -> None:
        self._library = LDrawLibrary(self._root) if self._root is not None else None
        self._shared = PartCatalogue(self._library)

    def build(self, source: Source) -> Outcome:
        """Raises OSError when something can't be written, MissingCapabilityError when nothing can be drawn."""
        try:
            write_unit(source, self._settings, self._out, self._library, self._shared)
        except MissingPartError as error:
            return FailedModel(source.path.name, "missing part", error.line())
        except (MissingCapabilityError, OSError):
            raise
        except JarvisError as error:
            return FailedModel(source.path.name, "can't be read or judged", error.line())
        except Exception as error:  # noqa: BLE001 - told with its model, like any other failure of one
            _log.exception("%s", source.path)
            line = f"{source.path}: {type(error).__name__}: {error} (-v shows where)"
            return FailedModel(source.path.name, "a fault of this program", " ".join(line.split()))
        finally:
            if self._shared.n_met > self._settings.config.dataset.parts_in_memory:
                self._forget()
        return None


def build_units(
    sources: Sequence[Source], settings: UnitSettings, out: Path, library: Path | None, jobs: int
) -> Iterator[Outcome]:
    """Build all sources, in no particular order. Errors as Worker.build."""
    if jobs == 1:
        worker = Worker(settings, out, library)
        yield from map(worker.build, sources)
        return
    start = (settings, out, library)
    waiting = deque(sources)
    while waiting:
        suspects = yield from _together(waiting, start, jobs)
        yield from _one_by_one(suspects, start)


def _together(
    waiting: deque[Source], start: tuple[UnitSettings, Path, Path | None], jobs: int
) -> Generator[Outcome, None, list[Source]]:
    """Until all are done or a process has died; returns what was being built then."""
    running: dict[Future[Outcome], Source] = {}
    with _executor(jobs, start) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < jobs * _AHEAD:
                    future = pool.submit(_build, waiting[0])
                    running[future] = waiting.popleft()
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    outcome = future.result()
                    del running[future]
                    yield outcome
        except BrokenProcessPool:
            return list(running.values())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return []


def _one_by_one(
    suspects: Sequence[Source], start: tuple[UnitSettings, Path, Path | None]
) -> Iterator[Outcome]:
    """One at a time: if the process dies again, it is this model's fault."""
    waiting = deque(suspects)
    while waiting:
        with _executor(1, start) as pool:
            try:
                while waiting:
                    outcome = pool.submit(_build, waiting[0]).result()
                    waiting.popleft()
                    yield outcome
            except BrokenProcessPool:
                source = waiting.popleft()
                line = f"{source.path}: its process died (out of memory?)"
                yield FailedModel(source.path.name, "its process died", line)


def _executor(jobs: int, start: tuple[UnitSettings, Path, Path | None]) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_start, initargs=start)


_worker: Worker | None = None


def _start(settings: UnitSettings, out: Path, library: Path | None) -> None:
    """In a new process."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = Worker(settings, out, library)


def _end_with_parent() -> None:
    """A killed parent can't tell its children to end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _build(source: Source) -> Outcome:
    assert _worker is not None
    return _worker.build(source)
