"""What makes a package out of date, and what does not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bootstrap import workspace
from bootstrap.paths import Layout
from bootstrap.ros_choice import RosChoice, RosWay
from bootstrap.stamps import Stamp

PIP = RosChoice(RosWay.PIP, "")
SOURCED = RosChoice(RosWay.SOURCED, "")
NONE = RosChoice(RosWay.NONE, "")


def stale(layout: Layout, change: Callable[[], object]) -> set[str]:
    """The parts whose hash differs after `change`."""
    before = workspace.state_of(layout, PIP)
    change()
    after = workspace.state_of(layout, PIP)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def write(layout: Layout, name: str, text: str = "changed") -> Callable[[], object]:
    def do() -> None:
        path = layout.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    return do


def test_packages_are_the_folders_with_a_manifest(layout: Layout) -> None:
    assert [path.name for path in workspace.packages(layout)] == ["alpha", "jarvis_bringup", "words"]
    assert [path.name for path in workspace.python_source_folders(layout)] == ["alpha"]


@pytest.mark.parametrize(
    "name", ["src/alpha/alpha/new.py", "src/alpha/test/data.yaml", "launch/a.launch.py", "README.md"]
)
def test_what_is_live_needs_no_build(layout: Layout, name: str) -> None:
    assert stale(layout, write(layout, name)) == set()


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("src/alpha/setup.py", "alpha"),
        ("src/alpha/package.xml", "alpha"),
        ("src/alpha/alpha/data/new.yaml", "alpha"),
        ("src/words/msg/Word.msg", "words"),
        ("src/words/srv/New.srv", "words"),
        ("src/words/CMakeLists.txt", "words"),
        ("config/new.yaml", "jarvis_bringup"),
        ("launch/new.launch.xml", "jarvis_bringup"),
        ("launch/new.launch.py", "jarvis_bringup"),
        ("colcon.meta", "workspace"),
        ("requirements/rosidl.txt", "workspace"),
    ],
)
def test_only_what_changed_is_built_again(layout: Layout, name: str, package: str) -> None:
    assert stale(layout, write(layout, name)) == {package}


def test_a_moved_clone_is_built_again(layout: Layout, tmp_path: Path) -> None:
    before = workspace.state_of(layout, PIP)
    moved = Layout(layout.root.rename(tmp_path / "elsewhere"))
    after = workspace.state_of(moved, PIP)
    assert before["workspace"] != after["workspace"]


def test_another_ros_is_built_for_again(layout: Layout) -> None:
    assert workspace.state_of(layout, PIP)["workspace"] != workspace.state_of(layout, SOURCED)["workspace"]


def test_without_ros_nothing_is_ever_built(layout: Layout) -> None:
    assert workspace.is_built(layout, NONE)
    workspace.ensure_built(layout, NONE, {})
    assert not layout.state.exists()


@pytest.fixture
def built(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names of the packages of each build, none of which really happens."""
    calls: list[list[str]] = []

    def build(_layout: object, _choice: object, _env: object, names: list[str]) -> None:
        layout.install.mkdir(parents=True, exist_ok=True)
        calls.append([name for name in names if name != "workspace"])

    monkeypatch.setattr(workspace, "_colcon_build", build)
    return calls


def test_each_build_does_what_is_left(layout: Layout, built: list[list[str]]) -> None:
    workspace.ensure_built(layout, PIP, {})
    workspace.ensure_built(layout, PIP, {})
    write(layout, "src/words/msg/Word.msg")()
    workspace.ensure_built(layout, PIP, {})
    assert built == [["alpha", "jarvis_bringup", "words"], ["words"]]


def test_a_removed_package_leaves_nothing_installed(layout: Layout, built: list[list[str]]) -> None:
    workspace.ensure_built(layout, PIP, {})
    (layout.install / "leftover").touch()
    shutil.rmtree(layout.sources / "words")
    workspace.ensure_built(layout, PIP, {})
    assert built[-1] == ["alpha", "jarvis_bringup"]
    assert not (layout.install / "leftover").exists()


def test_a_failed_build_is_tried_again(
    layout: Layout, built: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.ensure_built(layout, PIP, {})
    write(layout, "src/words/msg/Word.msg")()

    def fail(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as failing:
        failing.setattr(workspace, "_colcon_build", fail)
        with pytest.raises(RuntimeError):
            workspace.ensure_built(layout, PIP, {})
    assert not workspace.is_built(layout, PIP)
    assert Stamp(layout, "workspace").read() is None


def test_the_stamp_is_readable(layout: Layout, built: list[list[str]]) -> None:
    workspace.ensure_built(layout, PIP, {})
    assert json.loads(Stamp(layout, "workspace").read() or "").keys() == {
        "workspace", "alpha", "jarvis_bringup", "words",
    }  # fmt: skip
