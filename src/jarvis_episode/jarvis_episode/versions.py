"""Versions that a record names."""

from __future__ import annotations

import platform
from importlib import metadata

#: Libraries whose version can change a result.
_LIBRARIES = ("mujoco", "roboplan", "numpy", "scipy", "moderngl", "opencv-python-headless", "rosbags")


def versions() -> dict[str, str]:
    """Python, platform and every library that can change a result."""
    found = {"python": platform.python_version(), "platform": platform.platform(), "jarvis": "0.1.0"}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "absent"
    return found
