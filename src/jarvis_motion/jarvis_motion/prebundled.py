"""NVIDIA's libraries lie inside the wheel isaacsim-robot-motion, in folders that Isaac Sim puts on Python's path.

Nothing else of Isaac Sim is needed: ``pip install --no-deps isaacsim-robot-motion`` brings both libraries. The wheel is
under NVIDIA's licence and no requirement of this project.
"""

from __future__ import annotations

import sys
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

WHEEL = "isaacsim-robot-motion"
FOLDER = "pip_prebundle"


def is_importable(name: str) -> bool:
    """Whether ``import_prebundled`` finds a module; nothing is loaded."""
    return find_spec(name) is not None or _folder_of(name) is not None


def import_prebundled(name: str) -> ModuleType:
    """Import a module that is installed, or lies in a ``pip_prebundle`` folder of the wheel.

    Raises:
        ImportError: it is neither here nor there.
    """
    if find_spec(name) is None and (folder := _folder_of(name)) is not None:
        sys.path.append(str(folder))  # at the end: it must hide nothing
    return import_module(name)


def _folder_of(name: str) -> Path | None:
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        path = Path(str(file.locate()))
        if path.parent.name == FOLDER and path.name.partition(".")[0] == name:
            return path.parent
        if path.parent.parent.name == FOLDER and path.parent.name == name:
            return path.parent.parent
    return None
