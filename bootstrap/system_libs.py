"""What must come from the operating system: what is missing, and installing it where that is possible."""

import ctypes
import glob
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bootstrap.errors import SetupError
from bootstrap.paths import Layout
from bootstrap.python import BasePython
from bootstrap.stamps import Stamp, digest
from bootstrap.steps import run_logged, say, step

APT_OPTIONS = ("-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120")


@dataclass(frozen=True)
class Need:
    """One thing from the operating system: how to see it, what Debian and Ubuntu call it, what it is for."""

    name: str
    is_there: Callable[[], bool]
    apt: str
    purpose: str
    required: bool


def needs(python: BasePython, builds_messages: bool) -> list[Need]:
    """What this workspace wants from the system; `builds_messages` where it compiles ROS 2 messages."""
    found = [
        Need(
            "venv module", lambda: _has_module("ensurepip"), "python3.12-venv", "the Python environment", True
        ),
        Need("libEGL", lambda: can_load("libEGL.so.1"), "libegl1", "rendering without a screen", False),
        Need("Mesa's drivers", has_gl_driver, "libgl1-mesa-dri", "rendering without a graphics card", False),
    ]
    if builds_messages:
        found += [
            Need("a C++ compiler", lambda: _on_path("g++"), "g++", "compiling the ROS 2 messages", True),
            Need("make", lambda: _on_path("make"), "make", "compiling the ROS 2 messages", True),
            Need(
                "Python.h",
                lambda: (python.include / "Python.h").exists(),
                "python3.12-dev",
                "compiling the ROS 2 messages",
                True,
            ),
            Need(
                python.shared_library,
                lambda: python.shared_library_folder() is not None or can_load(python.shared_library),
                "libpython3.12t64",
                "the ROS 2 runtime (a Python from pyenv needs PYTHON_CONFIGURE_OPTS=--enable-shared)",
                True,
            ),
        ]
    return found


def missing(wanted: Sequence[Need]) -> list[Need]:
    return [need for need in wanted if not need.is_there()]


def ensure_system_libs(layout: Layout, python: BasePython, builds_messages: bool) -> None:
    """Install what is missing where we may; otherwise say the one command that does.

    Looked at once for each clone, and again by ./jarvis setup; ./jarvis doctor always looks.

    :raises SetupError: when something required is missing and cannot be installed from here.
    """
    stamp = Stamp(layout, "system")
    current = digest([str(python.executable), str(builds_messages)])
    if stamp.is_current(current):
        return
    lacking = missing(needs(python, builds_messages))
    if lacking and (apt := _apt_get()) is not None:
        _apt_install(layout, apt, lacking)
        lacking = missing(lacking)
    _report(lacking)
    stamp.write(current)


def _report(lacking: Sequence[Need]) -> None:
    if not lacking:
        return
    command = apt_command(lacking)
    required = [need for need in lacking if need.required]
    if required:
        names = ", ".join(f"{need.name} (for {need.purpose})" for need in required)
        raise SetupError(f"missing from this system: {names}", command, status=2)
    names = ", ".join(f"{need.name} (for {need.purpose})" for need in lacking)
    say(f"going on without {names}. To have it: {command}")


def apt_command(lacking: Sequence[Need]) -> str:
    return "sudo apt-get install " + " ".join(need.apt for need in lacking)


def _apt_install(layout: Layout, apt: Sequence[str], lacking: Sequence[Need]) -> None:
    """Ask apt for each package; a failure is only said, and what is then still missing is judged later."""
    with step(f"system packages {' '.join(need.apt for need in lacking)}"):
        _apt(layout, [*apt, "update"], "apt-update", "check the network, or go on without")
        for need in lacking:
            _apt(layout, [*apt, "install", *APT_OPTIONS, need.apt], f"apt-{need.apt}", apt_command([need]))


def _apt(layout: Layout, command: Sequence[str], log: str, fix: str) -> None:
    try:
        run_logged(command, layout.log / f"{log}.log", what=f"apt-get {command[-1]} failed", fix=fix)
    except SetupError as error:
        say(str(error))


def _apt_get() -> list[str] | None:
    """How to call apt-get here: as root, with a sudo that asks nothing, or (None) not at all."""
    apt = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    if not _on_path("apt-get"):
        return None
    if os.geteuid() == 0:
        return apt
    if _on_path("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n", *apt]
    return None


def can_load(library: str) -> bool:
    """Whether the dynamic linker finds `library`."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def has_gl_driver() -> bool:
    """Whether there is a driver behind EGL: Mesa's (by file) or NVIDIA's (by library)."""
    folders = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib")
    names = ("dri/swrast_dri.so", "libgallium-*.so", "libEGL_nvidia.so.0")
    return any(glob.glob(f"{folder}/{name}") for folder in folders for name in names)


def _has_module(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _on_path(program: str) -> bool:
    return shutil.which(program) is not None
