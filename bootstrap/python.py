"""The project's virtual environment, and the Python that it is made with."""

import os
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from bootstrap.errors import SetupError
from bootstrap.paths import Layout
from bootstrap.stamps import Stamp, digest
from bootstrap.steps import run_logged, run_logged_together, step

NETWORK_FIX = "check the network and the log above, then run ./jarvis setup again"


@dataclass(frozen=True)
class BasePython:
    """The Python 3.12 outside any virtual environment that runs the bootstrap."""

    executable: Path
    include: Path
    library_folders: tuple[Path, ...]

    @property
    def shared_library(self) -> str:
        return "libpython3.12.so.1.0"

    def shared_library_folder(self) -> Path | None:
        """Where this Python keeps its own shared library; None where it has none (the system's may serve)."""
        for folder in self.library_folders:
            if (folder / self.shared_library).exists():
                return folder
        return None


def base_python() -> BasePython:
    """The Python that runs this, seen through the virtual environment where it is one.

    :raises SetupError: when it is not Python 3.12, the version that ROS 2 Jazzy is built for.
    """
    if sys.version_info[:2] != (3, 12):
        raise SetupError(
            f"this is Python {sys.version.split()[0]}, and ROS 2 Jazzy needs 3.12",
            "install Python 3.12 or name it in JARVIS_PYTHON=/path/to/python3.12",
            status=2,
        )
    executable = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    folders = [Path(str(sysconfig.get_config_var("LIBDIR"))), executable.parent.parent / "lib"]
    return BasePython(executable, Path(sysconfig.get_path("include")), tuple(folders))


def stands(layout: Layout, python: BasePython) -> bool:
    """Whether the virtual environment is complete, made for this folder and from today's requirements."""
    current = f"{_place(layout, python)} {_requirements(layout)}"
    return Stamp(layout, "venv").is_current(current) and layout.venv_python.exists()


def _place(layout: Layout, python: BasePython) -> str:
    """What a virtual environment cannot outlive: its Python, and the folder whose path is in its scripts."""
    return digest([str(python.executable), str(layout.venv)])


def _requirements(layout: Layout) -> str:
    return digest([(layout.requirements / "test.txt").read_bytes()])


def ensure_venv(layout: Layout, python: BasePython) -> None:
    """Make the virtual environment; bring it up to date where it was complete and only the requirements changed.

    What is no longer required stays in it until it is made anew.
    """
    if stands(layout, python):
        return
    with step("Python packages into .jarvis/venv"):
        stamp = Stamp(layout, "venv")
        finished_before = (stamp.read() or "").startswith(_place(layout, python))
        stamp.clear()
        if not (finished_before and layout.venv_python.exists()):
            make_venv(layout.venv, python, layout.log / "venv.log")
        install_locked(layout, layout.venv_python, "test.txt")
        stamp.write(f"{_place(layout, python)} {_requirements(layout)}")


def install_locked(layout: Layout, executable: Path, lock_file: str) -> None:
    """Install what a lock file names into the environment of the Python `executable`.

    The file is complete, so pip need not resolve anything, and several pips can each install a part of it: one pip
    keeps one core busy for minutes, unpacking. What is never imported is never compiled either.
    """
    shares = divide_lock((layout.requirements / lock_file).read_text("utf-8"), min(4, os.cpu_count() or 1))
    commands: dict[Path, list[str | Path]] = {}
    for number, share in enumerate(shares, start=1):
        log = layout.log / f"pip-{Path(lock_file).stem}-{number}.log"
        commands[log] = [executable, "-m", "pip", "install", "--no-deps", "--no-compile", *share]
    run_logged_together(commands, what=f"pip could not install requirements/{lock_file}", fix=NETWORK_FIX)


def divide_lock(text: str, parts: int) -> list[list[str]]:
    """The requirements of a lock file in `parts` shares, dealt like cards: large relatives stand side by side."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    pins = [line for line in lines if line]
    return [share for start in range(parts) if (share := pins[start::parts])]


def make_venv(folder: Path, python: BasePython, log: Path) -> None:
    """Make an empty virtual environment in place of `folder`; it cannot move, its scripts hold its path."""
    shutil.rmtree(folder, ignore_errors=True)
    run_logged(
        [python.executable, "-m", "venv", folder],
        log,
        what=f"{python.executable} could not make a virtual environment",
        fix="install Python's venv module (Ubuntu: sudo apt-get install python3.12-venv), ./jarvis setup",
    )
