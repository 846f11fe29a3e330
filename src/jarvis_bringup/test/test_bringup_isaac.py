"""The launch file of the cell in Isaac Sim, read but not run: there is no Isaac Sim here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("launch_ros", reason="no ROS 2 here (see ./jarvis doctor)")

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.utilities import perform_substitutions
from launch_ros.actions import Node

LAUNCH = Path(__file__).resolve().parents[3] / "launch" / "isaac.launch.py"


@pytest.fixture
def isaac(tmp_path: Path) -> str:
    """A program that answers as a Python with Isaac Sim does."""
    program = tmp_path / "python.sh"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def file() -> ModuleType:
    spec = importlib.util.spec_from_file_location("isaac_launch", LAUNCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def context_of(description: LaunchDescription, **arguments: str) -> LaunchContext:
    """A context with all arguments declared, these given."""
    context = LaunchContext()
    context.launch_configurations.update(arguments)
    for action in description.entities:
        if isinstance(action, DeclareLaunchArgument):
            action.execute(context)
    return context


def test_isaac_sims_python_runs_the_cell(file: ModuleType, isaac: str) -> None:
    context = context_of(file.generate_launch_description(), isaac_python=isaac, task="1", seed="3")
    nodes = [action for action in file.cell_nodes(context) if isinstance(action, Node)]
    assert len(nodes) == 3
    command = [perform_substitutions(context, part) for part in nodes[0].cmd]
    assert command[:3] == [isaac, "-m", "jarvis_sim.isaac.run"]
    assert [(n.node_package, n.node_executable) for n in nodes[1:]] == [
        ("jarvis_skills", "skill_server"),
        ("jarvis_episode", "episode_node"),
    ]


@pytest.mark.parametrize("named", ["", "/no/such/python.sh", sys.executable])
def test_a_missing_isaac_sim_is_one_clear_line(
    file: ModuleType, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ISAACSIM_PYTHON", raising=False)
    arguments = {"isaac_python": named} if named else {}
    context = context_of(file.generate_launch_description(), **arguments)
    with pytest.raises(RuntimeError) as failed:
        file.cell_nodes(context)
    assert "\n" not in str(failed.value)
    assert "ISAACSIM_PYTHON" in str(failed.value)


def test_the_variable_names_isaac_sims_python(
    file: ModuleType, isaac: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISAACSIM_PYTHON", isaac)
    context = context_of(file.generate_launch_description())
    assert file.isaac_python(context) == isaac
