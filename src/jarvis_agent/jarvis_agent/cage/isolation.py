"""Which isolation this machine offers, and the command that starts a program's process in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import numpy as np
from jarvis_core.errors import MissingCapabilityError

_HERE = Path(__file__).resolve().parent
_INSIDE = _HERE / "inside"
_TEST_TIMEOUT_S = 60.0
#: Where things lie in the cage.
_CODE, _PACKAGES = "/cage", "/packages"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom")
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64")


class Isolation(StrEnum):
    """How a program's process is kept apart."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Layout:
    """What is seen in the cage: pairs (source, target), symbolic links (to, from), folders shown empty."""

    binds: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]
    masks: tuple[str, ...]
    python: str


def find_isolation() -> Isolation:
    """The best isolation that works here: tried, not guessed.

    Raises:
        MissingCapabilityError: none does; the fix says what to install or to ask for.
    """
    for isolation in (Isolation.BUBBLEWRAP, Isolation.NAMESPACES):
        if not why_not(isolation):
            return isolation
    reasons = "; ".join(f"{i}: {why_not(i)}" for i in (Isolation.BUBBLEWRAP, Isolation.NAMESPACES))
    raise MissingCapabilityError(
        f"no isolation for agents' programs works here ({reasons})",
        fix="install bubblewrap (apt install bubblewrap) or allow user namespaces; --uncaged runs without, and every "
        "record says so",
    )


@cache
def why_not(isolation: Isolation) -> str:
    """Why a kind of isolation does not work here; empty where it does."""
    if isolation is Isolation.BUBBLEWRAP and shutil.which("bwrap") is None:
        return "bwrap is not installed"
    try:
        words = command(isolation, ["-c", ""], scratch_bytes=1 << 20)
        done = subprocess.run(
            words, env=environment(), capture_output=True, text=True, timeout=_TEST_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it failed"])[-1]


def command(isolation: Isolation, arguments: list[str], *, scratch_bytes: int) -> list[str]:
    """The command line of a Python with ``arguments`` in that isolation.

    Args:
        scratch_bytes: size of the cage's /tmp, which is in memory.
    """
    if isolation is Isolation.NONE:
        return [sys.executable, "-I", "-u", *arguments]
    layout = cage_layout()
    python = [layout.python, "-I", "-S", "-u", *arguments]
    if isolation is Isolation.BUBBLEWRAP:
        return _bubblewrap(layout, python, scratch_bytes)
    spec = {
        "binds": layout.binds,
        "links": layout.links,
        "masks": layout.masks,
        "scratch_bytes": scratch_bytes,
        "command": python,
        "environment": environment(),
    }
    return [layout.python, "-I", "-S", str(_HERE / "enter.py"), json.dumps(spec)]


def environment() -> dict[str, str]:
    """All that a program's process finds in its environment."""
    return {
        "PATH": "/nowhere",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def bootstrap(isolation: Isolation, request_fd: int, answer_fd: int) -> list[str]:
    """Python's arguments that run ``inside.main``."""
    caged = isolation is not Isolation.NONE
    paths = [_CODE, _PACKAGES] if caged else [str(_HERE)]
    code = f"import sys; sys.path += {paths!r}; from inside.main import main; main({request_fd}, {answer_fd})"
    return ["-c", code]


@cache
def cage_layout() -> Layout:
    """Python without its site packages, the system's libraries, NumPy, and the program's side of the pipe."""
    python = os.path.realpath(sys.executable)
    standard = os.path.dirname(os.path.realpath(os.__file__))
    folders = {*_LIBRARIES, standard}
    links = [(os.readlink(f), f) for f in sorted(folders) if os.path.islink(f)]
    binds = [(f, f) for f in sorted(folders) if os.path.isdir(f) and not os.path.islink(f)]
    binds = [(s, t) for s, t in binds if not any(s != o and s.startswith(o + "/") for o, _ in binds)]
    shared = Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib")
    binds += [(str(f), str(f)) for f in shared.glob("libpython*.so*") if not _covered(str(f), binds)]
    binds += [(python, python), *((device, device) for device in _DEVICES)]
    binds.append((str(_INSIDE), f"{_CODE}/inside"))
    numpy = Path(np.__file__).resolve().parent
    binds += [(str(f), f"{_PACKAGES}/{f.name}") for f in (numpy, numpy.with_name("numpy.libs")) if f.is_dir()]
    # Debian's Python keeps other packages in the same tree.
    site = [f"{standard}/{name}" for name in ("site-packages", "dist-packages")]
    masks = [*site, "/usr/lib/python3/dist-packages"]
    return Layout(tuple(binds), tuple(links), tuple(m for m in masks if os.path.isdir(m)), python)


def _covered(path: str, binds: list[tuple[str, str]]) -> bool:
    return any(path.startswith(source + "/") for source, _ in binds)


def _bubblewrap(layout: Layout, python: list[str], scratch_bytes: int) -> list[str]:
    words = [
        "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--clearenv",
    ]
    words[0] = shutil.which("bwrap") or "bwrap"
    for name, value in environment().items():
        words += ["--setenv", name, value]
    for source, target in layout.binds:
        words += ["--dev-bind" if source in _DEVICES else "--ro-bind", source, target]
    for folder in layout.masks:
        words += ["--size", "4096", "--tmpfs", folder, "--remount-ro", folder]
    for target, link in layout.links:
        words += ["--symlink", target, link]
    words += ["--size", str(scratch_bytes), "--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/tmp"]
    if os.geteuid() == 0:
        words += ["--uid", "65534", "--gid", "65534"]
    return [*words, "--", *python]
