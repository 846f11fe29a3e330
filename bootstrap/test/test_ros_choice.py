"""A real Jazzy wins; the pip way needs its licence; every other case says why there is no ROS."""

from pathlib import Path

import pytest

from bootstrap import ros_pip
from bootstrap.eula import Answer
from bootstrap.paths import Layout
from bootstrap.ros_choice import RosChoice, RosWay, choose
from bootstrap.stamps import Stamp

NOT_INSTALLED = Path("/nonexistent/setup.bash")


def never() -> Answer:
    raise AssertionError("the licence was looked up")


@pytest.fixture(autouse=True)
def _machine_that_can_run_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ros_pip, "why_not_here", lambda: None)


@pytest.fixture
def sourced(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "jazzy/share/rclpy").mkdir(parents=True)
    return {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": f"/overlay:{tmp_path / 'jazzy'}"}


def pip_choice(layout: Layout, said: Answer) -> RosChoice:
    return choose(layout, {}, no_ros=False, licence=lambda: said, installed_setup=NOT_INSTALLED)


def test_a_sourced_jazzy_wins_without_a_question(layout: Layout, sourced: dict[str, str]) -> None:
    choice = choose(layout, sourced, no_ros=False, licence=never, installed_setup=NOT_INSTALLED)
    assert choice.way is RosWay.SOURCED
    assert choice.setup_scripts == []


@pytest.mark.parametrize(
    ("name", "value"), [("ROS_DISTRO", "humble"), ("AMENT_PREFIX_PATH", "/without/rclpy")]
)
def test_another_ros_is_not_taken_for_jazzy(
    layout: Layout, sourced: dict[str, str], name: str, value: str
) -> None:
    env = sourced | {name: value}
    choice = choose(
        layout, env, no_ros=False, licence=lambda: Answer.NOT_ASKED, installed_setup=NOT_INSTALLED
    )
    assert choice.way is RosWay.NONE


def test_an_installed_jazzy_is_sourced_for_the_person(layout: Layout, tmp_path: Path) -> None:
    setup = tmp_path / "setup.bash"
    setup.touch()
    choice = choose(layout, {}, no_ros=False, licence=never, installed_setup=setup)
    assert choice.way is RosWay.INSTALLED


def test_no_ros_is_obeyed_even_where_there_is_one(layout: Layout, sourced: dict[str, str]) -> None:
    choice = choose(layout, sourced, no_ros=True, licence=never, installed_setup=NOT_INSTALLED)
    assert choice.way is RosWay.NONE


def test_the_pip_way_needs_a_yes(layout: Layout) -> None:
    assert pip_choice(layout, Answer.ACCEPTED).way is RosWay.PIP
    for other in (Answer.DECLINED, Answer.NOT_ASKED):
        choice = pip_choice(layout, other)
        assert choice.way is RosWay.NONE
        assert "--accept-eula" in choice.reason
        assert "OMNI_KIT_ACCEPT_EULA=YES" in choice.reason


def test_a_tree_that_stands_asks_nothing_again(layout: Layout) -> None:
    layout.ros.mkdir(parents=True)
    Stamp(layout, "ros").write(f"{ros_pip.WHEEL}=={ros_pip.VERSION}")
    choice = choose(layout, {}, no_ros=False, licence=never, installed_setup=NOT_INSTALLED)
    assert choice.way is RosWay.PIP


def test_a_machine_that_cannot_run_the_wheel_is_told_what_to_do(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ros_pip, "why_not_here", lambda: "this is a toaster")
    choice = choose(layout, {}, no_ros=False, licence=never, installed_setup=NOT_INSTALLED)
    assert choice.way is RosWay.NONE
    assert "toaster" in choice.reason
    assert "install ROS 2 Jazzy" in choice.reason
