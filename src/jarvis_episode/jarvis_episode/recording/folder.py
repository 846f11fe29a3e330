"""The folder of one episode: finished and whole, or not there.

::

    ROOT/
      EPISODE_ID/          renamed to this name only when record.json is complete
        record.json        EpisodeRecord, written before anything is computed from it
        bag/               rosbag2 directory (MCAP)
        video.mp4
        before.png  after.png
        agent/             what an agent left: transcript, program, report
        task.json  manual/ the task and its pages, as in a task folder
        score.json         computed from record.json; may be written again
        report.html        made from the rest; may be written again
      .EPISODE_ID.partial/ an episode that runs, or ran in a process that died
        owner.json         who writes here
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from pathlib import Path

import msgspec
import psutil
from jarvis_core.episode import EpisodeRecord
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_json, write_bytes, write_json
from jarvis_core.manual import Manual
from jarvis_scoring.protocol import EpisodeScore
from jarvis_tasks.store import save_task
from jarvis_tasks.task import Task

RECORD_FILE = "record.json"
SCORE_FILE = "score.json"
VIDEO_FILE = "video.mp4"
BAG_FOLDER = "bag"
REPORT_FILE = "report.html"
AGENT_FOLDER = "agent"
BEFORE_FILE = "before.png"
AFTER_FILE = "after.png"

_OWNER_FILE = "owner.json"
_PARTIAL = re.compile(r"\..+\.partial")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,150}")
#: A partial folder without an owner was just made, or its process died between two system calls.
_OWNERLESS_S = 60.0


class Owner(msgspec.Struct, frozen=True):
    """The process that writes a partial folder; a process number alone may have been given to another since."""

    host: str
    pid: int
    started: float

    @classmethod
    def this_process(cls) -> Owner:
        return cls(socket.gethostname(), os.getpid(), psutil.Process().create_time())

    def is_dead(self) -> bool:
        """Whether the process is known to have ended; of another host's processes nothing is known."""
        if self.host != socket.gethostname():
            return False
        try:
            process = psutil.Process(self.pid)
            return abs(process.create_time() - self.started) > 1.0 or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True


class EpisodeFolder:
    """A folder being written. Writers of bag and video must be closed before ``finish``.

    Use ``create``; a folder that is never finished stays invisible and is removed after its process ended.
    """

    def __init__(self, root: Path, episode_id: str, path: Path) -> None:
        self._root = root
        self._episode_id = episode_id
        self._path = path

    @classmethod
    def create(cls, root: Path, episode_id: str) -> EpisodeFolder:
        """Claim an episode; removes partial folders of dead processes first.

        Raises:
            BadInputError: the id is no folder name, the episode was recorded before, or another process that
                still runs is recording it.
        """
        if not _NAME.fullmatch(episode_id):
            raise BadInputError(
                f"{episode_id!r} is no name for an episode folder", fix="use letters, digits, - and _"
            )
        root.mkdir(parents=True, exist_ok=True)
        remove_stale(root)
        if (root / episode_id).exists():
            raise BadInputError(
                "this episode was recorded before",
                where=str(root / episode_id),
                fix="choose another output folder",
            )
        partial = root / f".{episode_id}.partial"
        try:
            partial.mkdir()
        except FileExistsError as error:
            raise BadInputError("another process is recording this episode", where=str(partial)) from error
        write_json(partial / _OWNER_FILE, Owner.this_process())
        return cls(root, episode_id, partial)

    @property
    def path(self) -> Path:
        """Where the files are now: the partial folder, after ``finish`` the final one."""
        return self._path

    @property
    def agent(self) -> Path:
        """Folder for what an agent leaves: transcript, program, report."""
        return self._path / AGENT_FOLDER

    @property
    def video(self) -> Path:
        return self._path / VIDEO_FILE

    @property
    def bag(self) -> Path:
        return self._path / BAG_FOLDER

    def write_task(self, task: Task, manual: Manual) -> None:
        """Write task.json and manual/: a report needs nothing but the episode's folder."""
        save_task(self._path, task, manual)

    def write_before(self, png: bytes) -> None:
        write_bytes(self._path / BEFORE_FILE, png)

    def write_after(self, png: bytes) -> None:
        write_bytes(self._path / AFTER_FILE, png)

    def finish(self, record: EpisodeRecord) -> Path:
        """Write record.json, then give the folder its final name; returns it.

        Raises:
            BadInputError: the record is another episode's, or the final folder appeared meanwhile.
        """
        if record.episode_id != self._episode_id:
            raise BadInputError(f"the record is of {record.episode_id}", where=str(self._path))
        final = self._root / self._episode_id
        write_json(self._path / RECORD_FILE, record)
        if final.exists():
            raise BadInputError("this episode was recorded before", where=str(final))
        (self._path / _OWNER_FILE).unlink()
        self._path.rename(final)
        _sync(self._root)
        self._path = final
        return final

    def discard(self) -> None:
        """Remove what was written; nothing happens after ``finish``."""
        if self._path.name.startswith("."):
            shutil.rmtree(self._path)


def write_score(folder: Path, score: EpisodeScore) -> Path:
    """Write score.json into a finished folder."""
    write_json(folder / SCORE_FILE, score)
    return folder / SCORE_FILE


def read_score(folder: Path) -> EpisodeScore:
    """Read score.json; raises BadInputError."""
    return read_json(folder / SCORE_FILE, EpisodeScore)


def finished(root: Path) -> tuple[Path, ...]:
    """Folders of all finished episodes under ``root``, by name."""
    return tuple(sorted(p.parent for p in root.glob(f"*/{RECORD_FILE}") if not p.parent.name.startswith(".")))


def remove_stale(root: Path) -> tuple[Path, ...]:
    """Remove the partial folders of processes that ended; returns what was removed."""
    stale = [p for p in sorted(root.glob(".*.partial")) if _PARTIAL.fullmatch(p.name) and _is_stale(p)]
    for path in stale:
        shutil.rmtree(path)
    return tuple(stale)


def _is_stale(partial: Path) -> bool:
    owner = partial / _OWNER_FILE
    if owner.exists():
        return read_json(owner, Owner).is_dead()
    return time.time() - partial.stat().st_mtime > _OWNERLESS_S


def _sync(folder: Path) -> None:
    """Make a rename inside ``folder`` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
