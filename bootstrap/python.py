"""The project's virtual environment, and the Python that it is made with."""

import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from bootstrap.errors import SetupError
from bootstrap.paths import Layout
from bootstrap.stamps import Stamp, digest
from bootstrap.steps import run_logged, step

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
        # The lock file is complete, so pip need not resolve anything.
        run_logged(
            [layout.venv_python, "-m", "pip", "install", "--no-deps", "-r", layout.requirements / "test.txt"],
            layout.log / "pip.log",
            what="pip could not install requirements/test.txt",
            fix=NETWORK_FIX,
        )
        stamp.write(f"{_place(layout, python)} {_requirements(layout)}")


def make_venv(folder: Path, python: BasePython, log: Path) -> None:
    """Make an empty virtual environment in place of `folder`; it cannot move, its scripts hold its path."""
    shutil.rmtree(folder, ignore_errors=True)
    run_logged(
        [python.executable, "-m", "venv", folder],
        log,
        what=f"{python.executable} could not make a virtual environment",
        fix="install Python's venv module (Ubuntu: sudo apt-get install python3.12-venv), ./jarvis setup",
    )
