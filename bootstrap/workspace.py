"""The colcon workspace: its packages, and building those whose installed form is out of date.

colcon runs with --symlink-install, so edits to Python sources, launch files and configuration are live. What
does need a build is recorded in a stamp for each package: manifests, CMake files, interfaces, and the names
(not the contents) of installed files.
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bootstrap.environment import build_environment
from bootstrap.paths import Layout
from bootstrap.ros_choice import RosChoice, RosWay
from bootstrap.stamps import Stamp, digest
from bootstrap.steps import run_logged, step

BUILD_FILES = ("package.xml", "setup.py", "setup.cfg", "CMakeLists.txt")
INTERFACE_FOLDERS = ("msg", "srv", "action")
BRINGUP = "jarvis_bringup"
BRINGUP_FOLDERS = ("launch", "config", "urdf", "rviz")
NOT_INSTALLED = ("__pycache__", "test")


def packages(layout: Layout) -> list[Path]:
    """The folders of the workspace's packages, by name."""
    return sorted(manifest.parent for manifest in layout.sources.glob("*/package.xml"))


def python_source_folders(layout: Layout) -> list[Path]:
    """The folders to put on PYTHONPATH to import the workspace's Python packages from their sources."""
    return sorted(
        module.parent.parent for module in layout.sources.glob("*/*/__init__.py") if _is_module(module.parent)
    )


def _is_module(folder: Path) -> bool:
    return folder.name == folder.parent.name


def state_of(layout: Layout, choice: RosChoice) -> dict[str, str]:
    """What the installed workspace depends on: one hash for the whole, one for each package."""
    generators = "rosidl.txt" if choice.way is RosWay.PIP else "test.txt"
    tools = [layout.root / "colcon.meta", layout.requirements / generators]
    whole = digest([str(layout.root), choice.way.value, *(path.read_bytes() for path in tools)])
    return {"workspace": whole} | {
        package.name: _package_hash(layout, package) for package in packages(layout)
    }


def _package_hash(layout: Layout, package: Path) -> str:
    parts: list[str | bytes] = []
    for path in _files_that_need_a_build(package):
        parts += [str(path.relative_to(package)), path.read_bytes()]
    parts += sorted(_installed_names(package))
    if package.name == BRINGUP:
        for folder in BRINGUP_FOLDERS:
            parts += sorted(_installed_names(layout.root / folder, python=True))
    return digest(parts)


def _files_that_need_a_build(package: Path) -> Iterator[Path]:
    yield from (package / name for name in BUILD_FILES if (package / name).exists())
    for folder in INTERFACE_FOLDERS:
        yield from sorted((package / folder).glob("*"))


def _installed_names(folder: Path, *, python: bool = False) -> Iterator[str]:
    """Names of the files below `folder` that are linked one by one at build time: Python only where asked for."""
    for current, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if name not in NOT_INSTALLED and not name.endswith(".egg-info")
        ]
        left_out = (".pyc",) if python else (".py", ".pyc")
        yield from (os.path.join(current, name) for name in files if not name.endswith(left_out))


def is_built(layout: Layout, choice: RosChoice) -> bool:
    return not choice.has_ros or _recorded(layout) == state_of(layout, choice)


def _recorded(layout: Layout) -> dict[str, str]:
    text = Stamp(layout, "workspace").read()
    return dict(json.loads(text)) if text else {}


def ensure_built(layout: Layout, choice: RosChoice, env: Mapping[str, str]) -> None:
    """Build the packages whose installed form is out of date; everything where the workspace itself changed.

    :raises SetupError: when colcon fails.
    """
    if not choice.has_ros:
        return
    wanted, recorded = state_of(layout, choice), _recorded(layout)
    if wanted == recorded:
        return
    stamp = Stamp(layout, "workspace")
    stamp.clear()
    shutil.rmtree(layout.environments, ignore_errors=True)
    gone = recorded.keys() - wanted.keys()
    if gone or recorded.get("workspace") != wanted["workspace"] or not layout.install.is_dir():
        for folder in (layout.build, layout.install):
            shutil.rmtree(folder, ignore_errors=True)
        recorded = {}
    _colcon_build(layout, choice, env, [name for name in wanted if wanted[name] != recorded.get(name)])
    stamp.write(json.dumps(wanted, indent=1))


def _colcon_build(layout: Layout, choice: RosChoice, env: Mapping[str, str], stale: Iterable[str]) -> None:
    names = [name for name in stale if name != "workspace"]
    if not names:
        return
    with step(f"colcon build of {len(names)} packages"):
        run_logged(
            colcon_command(layout, choice, names),
            layout.log / "colcon-build.log",
            what="colcon could not build the workspace",
            fix="mend the package named above, then run the same command again",
            env=build_environment(layout, choice, env),
            cwd=layout.root,
        )


def colcon_command(layout: Layout, choice: RosChoice, names: Iterable[str]) -> list[str | Path]:
    cmake_arguments: list[str] = []
    if choice.way is RosWay.PIP:
        cmake_arguments += ["-DJARVIS_QUICK_BUILD=ON", "-DCMAKE_C_FLAGS=-O1", "-DCMAKE_CXX_FLAGS=-O1"]
    else:
        cmake_arguments += ["-DCMAKE_BUILD_TYPE=Release", f"-DPython3_EXECUTABLE={layout.venv_python}"]
    return [
        *(layout.venv_python, "-m", "colcon", "--log-base", layout.log / "colcon", "build"),
        *("--base-paths", layout.sources, "--build-base", layout.build, "--install-base", layout.install),
        *("--merge-install", "--symlink-install", "--metas", layout.root / "colcon.meta"),
        *("--event-handlers", "console_direct+", "desktop_notification-", "--packages-select", *names),
        *("--cmake-args", *cmake_arguments),
    ]
