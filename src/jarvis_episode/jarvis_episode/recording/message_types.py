"""The project's own message types, read from their definitions; needs no ROS."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jarvis_core.errors import BadInputError, MissingCapabilityError
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

PACKAGE = "jarvis_interfaces"


def interfaces_folder() -> Path:
    """The folder that holds msg/: share/jarvis_interfaces of a sourced workspace, else that of the source tree.

    Raises:
        MissingCapabilityError: neither is there.
    """
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        installed = Path(prefix) / "share" / PACKAGE
        if prefix and (installed / "msg").is_dir():
            return installed
    for parent in Path(__file__).resolve().parents:
        for source in (parent / PACKAGE, parent / "src" / PACKAGE):
            if (source / "msg").is_dir():
                return source
    raise MissingCapabilityError(
        f"the message definitions of {PACKAGE} were not found",
        fix="source the workspace's install/setup.bash",
    )


def typestore(folder: Path | None = None) -> Typestore:
    """The types of ROS 2 Jazzy and of ``folder``/msg/*.msg.

    Raises:
        BadInputError: a definition that can't be read.
    """
    store = get_typestore(Stores.ROS2_JAZZY)
    types: dict[str, Any] = {}
    for file in sorted(((folder or interfaces_folder()) / "msg").glob("*.msg")):
        try:
            types |= get_types_from_msg(file.read_text(encoding="utf-8"), f"{PACKAGE}/msg/{file.stem}")
        except Exception as error:
            raise BadInputError(f"is no message definition ({error})", where=str(file)) from error
    store.register(types)
    return store
