"""The cell in Isaac Sim 6: the same actions, services and topics as cell.launch.py, and the episode manager.

    ros2 launch jarvis_bringup isaac.launch.py task:=TASK_FOLDER isaac_python:=ISAAC_SIM/python.sh

Not run on this project's machines: docs/isaac-sim.md says what is tested, and how to set it up.
"""

import shutil
import subprocess

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import EnvironmentVariable, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

FIND_ISAAC_SIM = "import importlib.util, sys; sys.exit(importlib.util.find_spec('isaacsim') is None)"
ANSWER_S = 60.0
HOW_TO = "give isaac_python:=ISAAC_SIM/python.sh or set ISAACSIM_PYTHON (docs/isaac-sim.md)"


def isaac_python(context):
    """The interpreter that runs Isaac Sim; ends the launch with one line where there is none."""
    named = LaunchConfiguration("isaac_python").perform(context)
    if not named:
        raise RuntimeError(f"no Isaac Sim is named - {HOW_TO}")
    found = shutil.which(named)
    if found is None:
        raise RuntimeError(f"{named} is no program - {HOW_TO}")
    # Asked before anything starts: else the other nodes fill the screen as they are taken down.
    try:
        code = subprocess.run([found, "-c", FIND_ISAAC_SIM], timeout=ANSWER_S).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f"{named} can't be asked for Isaac Sim ({error}) - {HOW_TO}") from error
    if code != 0:
        raise RuntimeError(f"{named} has no module isaacsim - {HOW_TO}")
    return found


def text(argument):
    """An argument as a string, whatever YAML would make of it."""
    return ParameterValue(LaunchConfiguration(argument), value_type=str)


def cell_nodes(context):
    """Simulator, skills and episode manager."""
    simulator = Node(
        executable=isaac_python(context),
        arguments=["-m", "jarvis_sim.isaac.run"],
        output="screen",
        parameters=[
            {
                "task": text("task"),
                "seed": int(LaunchConfiguration("seed").perform(context)),
                "advance": text("advance"),
                "real_time_factor": float(LaunchConfiguration("real_time_factor").perform(context)),
                "overview_rate_hz": float(LaunchConfiguration("overview_rate_hz").perform(context)),
            }
        ],
    )
    skills = Node(
        package="jarvis_skills",
        executable="skill_server",
        output="screen",
        parameters=[{"scene_service": "/sim/get_scene"}],
    )
    manager = Node(
        package="jarvis_episode",
        executable="episode_node",
        output="screen",
        parameters=[{"results": text("results")}],
    )
    # Half a cell is no cell: the rest would wait for it for ever.
    ends = [
        RegisterEventHandler(
            OnProcessExit(target_action=node, on_exit=[EmitEvent(event=Shutdown(reason=f"{name} has ended"))])
        )
        for name, node in (
            ("Isaac Sim", simulator),
            ("the skill server", skills),
            ("the episode manager", manager),
        )
    ]
    return [simulator, skills, manager, *ends]


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument("task", default_value="", description="task folder; empty: an empty cell"),
            DeclareLaunchArgument("seed", default_value="0", description="decides the initial state"),
            DeclareLaunchArgument(
                "isaac_python",
                default_value=EnvironmentVariable("ISAACSIM_PYTHON", default_value=""),
                description="Isaac Sim's python.sh, or the Python of an environment with the isaacsim packages",
            ),
            DeclareLaunchArgument(
                "advance",
                default_value="continuous",
                description="continuous, or on_demand: time passes only while the arm or gripper is commanded",
            ),
            DeclareLaunchArgument(
                "real_time_factor",
                default_value="1.0",
                description="1: as in life at most; 0: as fast as the machine can",
            ),
            DeclareLaunchArgument(
                "overview_rate_hz",
                default_value="0.0",
                description="pictures of the whole cell per simulated second",
            ),
            DeclareLaunchArgument("results", default_value="results", description="folder for the records"),
            OpaqueFunction(function=cell_nodes),
        ]
    )
