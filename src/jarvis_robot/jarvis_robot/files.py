"""Finding model files: the project's urdf/ folder and ``package://`` names of installed packages."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from jarvis_core.errors import ConfigError, MissingCapabilityError

_SCHEME = "package://"


def find_model_file(name: str) -> Path:
    """Path of a model file given as ``package://NAME/...``, as a name in urdf/ or as an absolute path.

    Raises:
        ConfigError: there is no such file.
        MissingCapabilityError: the package is not installed.
    """
    if name.startswith(_SCHEME):
        package, _, rest = name.removeprefix(_SCHEME).partition("/")
        path = package_folder(package) / rest
    else:
        path = Path(name) if Path(name).is_absolute() else urdf_folder() / name
    if not path.is_file():
        raise ConfigError("no such model file", where=str(path), fix=f"check {name!r} in config/robots")
    return path


def urdf_folder() -> Path:
    """urdf/ of the sourced workspace (share/jarvis_bringup), else of the source tree this module lies in."""
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        installed = Path(prefix) / "share" / "jarvis_bringup" / "urdf"
        if prefix and installed.is_dir():
            return installed
    for parent in Path(__file__).resolve().parents:
        if (parent / "urdf").is_dir() and (parent / "config").is_dir():
            return parent / "urdf"
    raise ConfigError(
        "the urdf folder was not found", fix="source the workspace, or run from its source tree"
    )


@lru_cache
def package_folder(package: str) -> Path:
    """The share folder of a package: of the sourced ROS workspace, else of the installed Python distribution.

    Raises:
        MissingCapabilityError: neither has it; the fix names what to install.
    """
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        shared = Path(prefix) / "share" / package
        if prefix and shared.is_dir():
            return shared
    try:
        files = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        parts = file.parts
        if "share" in parts[:-1] and parts[parts.index("share") + 1] == package:
            depth = len(parts) - parts.index("share") - 2
            return Path(str(file.locate())).resolve().parents[depth - 1]
    raise MissingCapabilityError(f"package {package!r} is not installed", fix=f"pip install {package}")
