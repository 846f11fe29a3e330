"""The environment variables that the workspace is built with and runs in.

Running needs bash to source setup scripts; the outcome is cached in .jarvis/environments, so that a later
start only reads a file.
"""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bootstrap.errors import SetupError
from bootstrap.paths import Layout
from bootstrap.python import BasePython
from bootstrap.ros_choice import RosChoice, RosWay
from bootstrap.stamps import Stamp, digest, write_atomically

# Set in every environment made here, so that a start inside ./jarvis shell can take its own things out again.
STATE_VARIABLE = "JARVIS_STATE"
WAY_VARIABLE = "JARVIS_ROS"

SEARCH_PATHS = (
    *("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH"),
    *("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH"),
)
ROS_VARIABLES = ("ROS_DISTRO", "ROS_VERSION", "ROS_PYTHON_VERSION")
RUNTIME_DEFAULTS = {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp", "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
SYSTEM_LIBRARY_FOLDERS = (Path("/lib"), Path("/usr/lib"), Path("/usr/lib/x86_64-linux-gnu"))
OF_BASH_ITSELF = ("_", "SHLVL", "PWD", "OLDPWD")


def without_ours(env: Mapping[str, str]) -> dict[str, str]:
    """`env` as it was before a ./jarvis shell put the workspace into it."""
    clean = dict(env)
    state = clean.pop(STATE_VARIABLE, None)
    if state is None:
        return clean
    root = str(Path(state).parent)
    for name in SEARCH_PATHS:
        kept = [
            entry for entry in clean.get(name, "").split(os.pathsep) if entry and not _is_below(entry, root)
        ]
        _set_path(clean, name, kept)
    if clean.pop(WAY_VARIABLE, None) == RosWay.PIP.value:
        for name in ROS_VARIABLES:
            clean.pop(name, None)
    clean.pop("VIRTUAL_ENV", None)
    return clean


def _is_below(entry: str, folder: str) -> bool:
    return entry == folder or entry.startswith(folder + os.sep)


def _set_path(env: dict[str, str], name: str, entries: Iterable[str | Path]) -> None:
    """Set a search path, or remove it where nothing is left: an empty entry would mean the current folder."""
    text = os.pathsep.join(str(entry) for entry in entries)
    if text:
        env[name] = text
    else:
        env.pop(name, None)


def _entries(env: Mapping[str, str], name: str) -> list[str]:
    return [entry for entry in env.get(name, "").split(os.pathsep) if entry]


def build_environment(layout: Layout, choice: RosChoice, env: Mapping[str, str]) -> dict[str, str]:
    """What colcon runs in. The pip way shows it only the generators: the runtime tree breaks builds."""
    clean = without_ours(env)
    if choice.way is not RosWay.PIP:
        _set_path(clean, "PATH", [layout.venv / "bin", *_entries(clean, "PATH")])
        return source(choice.setup_scripts, clean)
    for name in (*SEARCH_PATHS[1:], *ROS_VARIABLES):
        clean.pop(name, None)
    _set_path(clean, "PATH", [layout.rosidl / "bin", *_entries(env, "PATH")])
    return clean | {"AMENT_PREFIX_PATH": str(layout.rosidl), "ROS_DISTRO": "jazzy", "ROS_VERSION": "2"}


def runtime_environment(
    layout: Layout,
    choice: RosChoice,
    python: BasePython,
    source_folders: Iterable[Path],
    env: Mapping[str, str],
) -> dict[str, str]:
    """What everything runs in: the virtual environment, ROS 2 where there is one, and the workspace."""
    base = _base_environment(layout, choice, python, env)
    if choice.has_ros:
        base = _with_workspace_sourced(layout, choice, base)
    # The sources come first, so that a traceback names the file that a person edits.
    _set_path(base, "PYTHONPATH", [*source_folders, *_entries(base, "PYTHONPATH")])
    return base


def _base_environment(
    layout: Layout, choice: RosChoice, python: BasePython, env: Mapping[str, str]
) -> dict[str, str]:
    base = without_ours(env)
    base.pop("PYTHONHOME", None)
    programs: list[str | Path] = [layout.venv / "bin"]
    if choice.way in (RosWay.PIP, RosWay.NONE):
        _take_other_ros_out(base)
    if choice.way is RosWay.PIP:
        programs.append(layout.ros2_shims / "bin")
        _put_pip_ros_in(layout, python, base)
    if choice.has_ros:
        base = RUNTIME_DEFAULTS | {"ROS_LOG_DIR": str(layout.log / "ros")} | base
    _set_path(base, "PATH", [*programs, *_entries(base, "PATH")])
    return base | {
        "VIRTUAL_ENV": str(layout.venv),
        STATE_VARIABLE: str(layout.state),
        WAY_VARIABLE: choice.way.value,
    }


def _take_other_ros_out(base: dict[str, str]) -> None:
    """Another distribution may be sourced in the person's shell; nothing of it may reach us."""
    for name in (
        "PYTHONPATH",
        "AMENT_PREFIX_PATH",
        "COLCON_PREFIX_PATH",
        "CMAKE_PREFIX_PATH",
        *ROS_VARIABLES,
    ):
        base.pop(name, None)
    for name in ("PATH", "LD_LIBRARY_PATH"):
        _set_path(base, name, [entry for entry in _entries(base, name) if not _is_below(entry, "/opt/ros")])


def _put_pip_ros_in(layout: Layout, python: BasePython, base: dict[str, str]) -> None:
    libraries: list[str | Path] = [layout.ros / "lib", *_entries(base, "LD_LIBRARY_PATH")]
    if (own := python.shared_library_folder()) is not None and own not in SYSTEM_LIBRARY_FOLDERS:
        libraries.append(own)
    _set_path(base, "LD_LIBRARY_PATH", libraries)
    base |= {"ROS_VERSION": "2", "ROS_PYTHON_VERSION": "3", "ROS_DISTRO": "jazzy"}
    base |= {"AMENT_PREFIX_PATH": str(layout.ros), "PYTHONPATH": str(layout.ros / "rclpy")}


def _with_workspace_sourced(layout: Layout, choice: RosChoice, base: dict[str, str]) -> dict[str, str]:
    """`base` after sourcing ROS and the workspace: from the cache, or by asking bash once."""
    relevant = sorted(
        (k, v) for k, v in base.items() if k in SEARCH_PATHS or k.startswith(("ROS_", "RMW_", "AMENT_"))
    )
    built = Stamp(layout, "workspace").read() or ""
    cache = layout.environments / f"{digest([built, choice.way.value, json.dumps(relevant)])[:16]}.json"
    try:
        changes: dict[str, Any] = json.loads(cache.read_text(encoding="utf-8"))
    except FileNotFoundError:
        after = source([*choice.setup_scripts, layout.install / "local_setup.bash"], base)
        changes = {
            "set": {name: value for name, value in after.items() if base.get(name) != value},
            "unset": [name for name in base if name not in after],
        }
        write_atomically(cache, json.dumps(changes, indent=1))
    kept = {name: value for name, value in base.items() if name not in changes["unset"]}
    return kept | dict(changes["set"])


def source(scripts: Iterable[Path], env: Mapping[str, str]) -> dict[str, str]:
    """The environment after bash has sourced `scripts` in `env`.

    :raises SetupError: when a script fails, or there is no bash.
    """
    if shutil.which("bash") is None:
        raise SetupError("ROS 2 is set up by bash scripts, and there is no bash", "install bash", status=2)
    lines = [f". {shlex.quote(str(script))} >&2 || exit 1" for script in scripts]
    command = ["bash", "--noprofile", "--norc", "-c", "; ".join([*lines, "env -0"])]
    result = subprocess.run(command, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True)
    if result.returncode != 0:
        said = result.stderr.decode(errors="replace").strip().splitlines()
        raise SetupError(
            f"bash could not source {', '.join(map(str, scripts))}: {said[-1] if said else 'no message'}",
            "delete .jarvis/install and run ./jarvis setup again",
        )
    pairs = (entry.partition("=") for entry in result.stdout.decode().split("\0") if entry)
    return {name: value for name, _, value in pairs if name not in OF_BASH_ITSELF}
