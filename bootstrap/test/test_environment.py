"""The variables that everything runs with."""

import os
from pathlib import Path

import pytest

from bootstrap.environment import build_environment, runtime_environment, source, without_ours
from bootstrap.errors import SetupError
from bootstrap.paths import Layout
from bootstrap.python import BasePython
from bootstrap.ros_choice import RosChoice, RosWay

PIP = RosChoice(RosWay.PIP, "")
SOURCED = RosChoice(RosWay.SOURCED, "")
NONE = RosChoice(RosWay.NONE, "")
SYSTEM_PATH = os.environ["PATH"]
HUMBLE = {
    "PATH": f"/opt/ros/humble/bin:{SYSTEM_PATH}",
    "ROS_DISTRO": "humble",
    "PYTHONPATH": "/opt/ros/humble/lib/python3.10/site-packages",
    "LD_LIBRARY_PATH": "/opt/ros/humble/lib:/usr/local/cuda/lib64",
    "AMENT_PREFIX_PATH": "/opt/ros/humble",
    "CMAKE_PREFIX_PATH": "/opt/ros/humble",
}


@pytest.fixture
def workspace_installed(layout: Layout) -> Layout:
    layout.install.mkdir(parents=True)
    script = f"export AMENT_PREFIX_PATH={layout.install}:$AMENT_PREFIX_PATH; unset UNWANTED; echo sourced"
    (layout.install / "local_setup.bash").write_text(script)
    return layout


def test_the_pip_way_follows_the_measured_recipe(workspace_installed: Layout, base: BasePython) -> None:
    layout = workspace_installed
    env = runtime_environment(layout, PIP, base, [layout.sources / "alpha"], {"PATH": SYSTEM_PATH})
    assert env["RMW_IMPLEMENTATION"] == "rmw_cyclonedds_cpp"
    assert env["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert (env["ROS_DISTRO"], env["ROS_VERSION"], env["ROS_PYTHON_VERSION"]) == ("jazzy", "2", "3")
    assert env["AMENT_PREFIX_PATH"] == f"{layout.install}:{layout.ros}"
    assert env["LD_LIBRARY_PATH"] == f"{layout.ros}/lib"
    assert env["PYTHONPATH"] == f"{layout.sources}/alpha:{layout.ros}/rclpy"
    assert env["PATH"].split(":")[:2] == [f"{layout.venv}/bin", f"{layout.ros2_shims}/bin"]
    assert str(layout.rosidl) not in "".join(env.values())


def test_what_the_person_set_is_kept(workspace_installed: Layout, base: BasePython) -> None:
    said = {
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
        "ROS_DOMAIN_ID": "7",
    }
    env = runtime_environment(workspace_installed, PIP, base, [], {"PATH": SYSTEM_PATH, **said})
    assert {name: env[name] for name in said} == said


@pytest.mark.parametrize("choice", [PIP, NONE])
def test_another_distribution_that_is_sourced_is_left_out(
    workspace_installed: Layout, base: BasePython, choice: RosChoice
) -> None:
    env = runtime_environment(workspace_installed, choice, base, [], HUMBLE)
    assert not [name for name, value in env.items() if "humble" in value]
    assert "/usr/local/cuda/lib64" in env["LD_LIBRARY_PATH"]


def test_a_sourced_ros_is_kept_as_it_is(workspace_installed: Layout, base: BasePython) -> None:
    layout = workspace_installed
    mine = {"PATH": SYSTEM_PATH, "PYTHONPATH": "/opt/ros/jazzy/py", "AMENT_PREFIX_PATH": "/opt/ros/jazzy"}
    env = runtime_environment(layout, SOURCED, base, [], mine)
    assert env["AMENT_PREFIX_PATH"] == f"{layout.install}:/opt/ros/jazzy"
    assert env["PYTHONPATH"] == "/opt/ros/jazzy/py"
    assert str(layout.ros2_shims) not in env["PATH"]


def test_without_ros_the_sources_are_importable(layout: Layout, base: BasePython) -> None:
    env = runtime_environment(layout, NONE, base, [layout.sources / "alpha"], {"PATH": SYSTEM_PATH})
    assert env["PYTHONPATH"] == str(layout.sources / "alpha")
    assert "AMENT_PREFIX_PATH" not in env
    assert env["VIRTUAL_ENV"] == str(layout.venv)


def test_bash_is_asked_once(workspace_installed: Layout, base: BasePython) -> None:
    mine = {"PATH": SYSTEM_PATH, "UNWANTED": "x"}
    first = runtime_environment(workspace_installed, PIP, base, [], mine)
    (workspace_installed.install / "local_setup.bash").unlink()
    assert runtime_environment(workspace_installed, PIP, base, [], mine) == first
    assert "UNWANTED" not in first


@pytest.mark.parametrize("choice", [PIP, NONE])
def test_a_start_inside_our_own_shell_begins_from_the_person_s_environment(
    workspace_installed: Layout, base: BasePython, choice: RosChoice
) -> None:
    mine = {"PATH": SYSTEM_PATH, "LD_LIBRARY_PATH": "/mine", "HOME": "/home/me"}
    inside = runtime_environment(
        workspace_installed, choice, base, [workspace_installed.sources / "alpha"], mine
    )
    outside = without_ours(inside)
    assert {name: outside[name] for name in mine} == mine
    assert not outside.keys() & {"ROS_DISTRO", "AMENT_PREFIX_PATH", "PYTHONPATH", "VIRTUAL_ENV"}


def test_the_build_sees_the_generators_and_not_the_runtime(layout: Layout) -> None:
    env = build_environment(layout, PIP, HUMBLE)
    assert env["AMENT_PREFIX_PATH"] == str(layout.rosidl)
    assert env["PATH"].startswith(f"{layout.rosidl}/bin:")
    assert "LD_LIBRARY_PATH" not in env
    assert str(layout.ros) + "/" not in "".join(env.values())


def test_a_setup_script_that_fails_is_named_with_its_words_and_a_fix(tmp_path: Path) -> None:
    script = tmp_path / "broken.bash"
    script.write_text("echo 'no such thing' >&2; return 3")
    with pytest.raises(SetupError, match=r"broken\.bash: no such thing\. Fix: .*\./jarvis setup"):
        source([script], {"PATH": SYSTEM_PATH})
