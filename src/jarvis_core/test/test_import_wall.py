"""The walls of the architecture, checked on the source of every package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2]
#: A package may import those before it.
ORDER = (
    "jarvis_interfaces",
    "jarvis_core",
    "jarvis_bricks",
    "jarvis_render",
    "jarvis_tasks",
    "jarvis_scoring",
    "jarvis_robot",
    "jarvis_sim",
    "jarvis_motion",
    "jarvis_panda",
    "jarvis_perception",
    "jarvis_skills",
    "jarvis_episode",
    "jarvis_agent",
    "jarvis_bench",
    "jarvis_bringup",
    "jarvis_cli",
)
ROS_MODULES = {
    "rclpy", "jarvis_interfaces", "action_msgs", "builtin_interfaces", "control_msgs", "franka_msgs", "geometry_msgs",
    "moveit", "moveit_msgs", "rosgraph_msgs", "sensor_msgs", "shape_msgs", "simulation_interfaces", "std_msgs",
    "std_srvs", "tf2_msgs", "tf2_ros", "trajectory_msgs", "vision_msgs", "visualization_msgs",
}  # fmt: skip
#: What an agent must never be able to import its answers from.
HIDDEN_FROM_AGENTS = {"jarvis_tasks", "jarvis_scoring", "jarvis_sim"}


def modules() -> list[Path]:
    return sorted(p for p in SRC.glob("*/jarvis_*/**/*.py") if p.parent.name != "test")


def imported(path: Path) -> Iterator[str]:
    """Full names of everything a file imports, at any depth of nesting."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def breaches(path: Path, package: str, in_ros: bool) -> list[str]:
    """Every wall that a file of a package breaks."""
    found = []
    for name in imported(path):
        top = name.split(".")[0]
        if top in ORDER and ORDER.index(top) > ORDER.index(package):
            found.append(f"imports {name}, which comes after {package}")
        if top in ROS_MODULES and not in_ros:
            found.append(f"imports {name} outside ros/")
        if name.startswith(f"{package}.ros") and not in_ros:
            found.append(f"imports its own ros/ ({name})")
        if package == "jarvis_agent" and top in HIDDEN_FROM_AGENTS:
            found.append(f"imports {name}, which an agent must not see")
    return found


def test_every_package_has_its_place() -> None:
    packages = {p.parent.name for p in SRC.glob("*/package.xml")}
    assert packages <= set(ORDER)
    assert {"jarvis_core", "jarvis_sim", "jarvis_agent"} <= packages


def test_imports_keep_to_the_walls() -> None:
    problems = []
    for path in modules():
        relative = path.relative_to(SRC)
        for problem in breaches(path, relative.parts[0], "ros" in relative.parts[2:-1]):
            problems.append(f"{relative}: {problem}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("source", "package", "reason"),
    [
        ("import jarvis_sim.world", "jarvis_core", "comes after"),
        ("def f():\n    from rclpy.node import Node", "jarvis_skills", "outside ros/"),
        ("from jarvis_skills import ros", "jarvis_skills", "its own ros/"),
        ("from jarvis_tasks.task import Task", "jarvis_agent", "must not see"),
    ],
)
def test_the_check_finds_a_breach(tmp_path: Path, source: str, package: str, reason: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(source)
    assert any(reason in problem for problem in breaches(path, package, in_ros=False))


def test_nothing_spins_inside_a_node() -> None:
    """spin_until_future_complete in a callback stops every later goal: nobody gets to use it at all."""
    users = [
        str(p.relative_to(SRC)) for p in modules() if "spin_until_future" in p.read_text(encoding="utf-8")
    ]
    # The executor of clients is no node: it spins in a thread of its own.
    assert users == ["jarvis_core/jarvis_core/ros/spinning.py"]


def test_the_engine_knows_no_bricks() -> None:
    """The engine simulates anything: bricks, clutch and arm are components on it."""
    words = re.findall(
        r"\b(bricks?|studs?|panda)\b", (SRC / "jarvis_sim/jarvis_sim/engine.py").read_text(), re.I
    )
    assert not words


def test_no_module_names_a_path_of_one_machine() -> None:
    """No fixed path of a machine in any package."""
    pattern = re.compile(r"[\"'](/home/|/root/|/opt/ros/|/work/)")
    users = [str(p.relative_to(SRC)) for p in modules() if pattern.search(p.read_text(encoding="utf-8"))]
    assert not users
