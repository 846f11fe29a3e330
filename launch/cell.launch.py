"""The embedded cell: simulated arm, gripper and cameras behind standard interfaces, and the skills on top.

    ros2 launch jarvis_bringup cell.launch.py task:=TASK_FOLDER

Then, for example:  ros2 action send_goal /skills/home jarvis_interfaces/action/Home '{}' --feedback
"""

import json
from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def cell_nodes(context):
    """Simulator and skills."""
    simulator = Node(
        package="jarvis_sim",
        executable="sim_node",
        output="screen",
        parameters=[
            {
                "task": ParameterValue(LaunchConfiguration("task"), value_type=str),
                "seed": int(LaunchConfiguration("seed").perform(context)),
                "advance": ParameterValue(LaunchConfiguration("advance"), value_type=str),
                "real_time_factor": float(LaunchConfiguration("real_time_factor").perform(context)),
                "overview_rate_hz": float(LaunchConfiguration("overview_rate_hz").perform(context)),
            }
        ],
    )
    sees = LaunchConfiguration("perception").perform(context).lower() == "true"
    skills = Node(
        package="jarvis_skills",
        executable="skill_server",
        output="screen",
        parameters=[{"scene_service": "/perception/get_scene" if sees else "/sim/get_scene"}],
    )
    nodes = [("the simulator", simulator), ("the skill server", skills)]
    if sees:
        parts = listed_parts(LaunchConfiguration("task").perform(context))
        perception = Node(
            package="jarvis_perception",
            executable="perception_node",
            output="screen",
            parameters=[{"parts": ParameterValue(parts, value_type=str)}],
        )
        nodes.append(("perception", perception))
    # Half a cell is no cell: the rest would wait for it for ever.
    ends = [
        RegisterEventHandler(
            OnProcessExit(target_action=node, on_exit=[EmitEvent(event=Shutdown(reason=f"{name} has ended"))])
        )
        for name, node in nodes
    ]
    return [*(node for _, node in nodes), *ends]


def listed_parts(task):
    """The manual's list of parts, as the perception node takes it; empty without a task."""
    if not task:
        return ""
    manual = json.loads((Path(task) / "manual" / "manual.json").read_text(encoding="utf-8"))
    return ",".join(f"{line['part']}:{line['colour']}" for line in manual["parts"])


def generate_launch_description():
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        arguments=["-d", PathJoinSubstitution([FindPackageShare("jarvis_bringup"), "rviz", "cell.rviz"])],
        parameters=[{"use_sim_time": True}],
        condition=IfCondition(LaunchConfiguration("rviz")),
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument("task", default_value="", description="task folder; empty: an empty cell"),
            DeclareLaunchArgument("seed", default_value="0", description="decides the initial state"),
            DeclareLaunchArgument(
                "advance",
                default_value="continuous",
                description="continuous, or on_demand: time passes only while the arm or gripper is commanded",
            ),
            DeclareLaunchArgument(
                "real_time_factor",
                default_value="1.0",
                description="1: as in life; 0: as fast as the machine can",
            ),
            DeclareLaunchArgument(
                "overview_rate_hz",
                default_value="0.0",
                description="pictures of the whole cell per simulated second",
            ),
            DeclareLaunchArgument(
                "perception",
                default_value="false",
                description="true: skills see by the top camera, not by the simulator's true state",
            ),
            DeclareLaunchArgument("rviz", default_value="false", description="open RViz where installed"),
            OpaqueFunction(function=cell_nodes),
            rviz,
        ]
    )
