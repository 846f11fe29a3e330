"""YAML configuration, read once into frozen typed objects. Unknown keys are errors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import msgspec
import yaml

from jarvis_core.errors import ConfigError
from jarvis_core.files import decode_hook

T = TypeVar("T", bound="Config")


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of every configuration object: frozen, keyword-only, strict about keys."""


def load_config[T: "Config"](path: Path, kind: type[T]) -> T:
    """Read a YAML file into ``kind``.

    Raises:
        ConfigError: the file is absent, is no YAML, has an unknown key, lacks one or has a wrong value.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can't be read ({error.strerror})", where=str(path)) from error
    return parse_config(text, kind, where=str(path))


def parse_config[T: "Config"](text: str, kind: type[T], *, where: str) -> T:
    """Read YAML text into ``kind``; ``where`` names the source in errors."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"is no YAML ({error})", where=where) from error
    try:
        return msgspec.convert(document if document is not None else {}, kind, dec_hook=decode_hook)
    except (msgspec.ValidationError, ValueError) as error:
        raise ConfigError(str(error), where=where, fix="compare it with config/ of the project") from error


def config_folder() -> Path:
    """The folder of the default configuration files.

    JARVIS_CONFIG names it; else it is share/jarvis_bringup/config of the workspace that was sourced; else
    config/ of the source tree this module lies in.
    """
    named = os.environ.get("JARVIS_CONFIG")
    if named:
        return Path(named)
    for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep):
        installed = Path(prefix) / "share" / "jarvis_bringup" / "config"
        if prefix and installed.is_dir():
            return installed
    for parent in Path(__file__).resolve().parents:
        if (parent / "config" / "cell.yaml").is_file():
            return parent / "config"
    raise ConfigError(
        "the configuration folder was not found", fix="set JARVIS_CONFIG to the project's config folder"
    )


def load_default[T: "Config"](name: str, kind: type[T]) -> T:
    """Read ``NAME.yaml`` of the configuration folder into ``kind``."""
    return load_config(config_folder() / f"{name}.yaml", kind)
