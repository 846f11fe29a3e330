"""One episode on the embedded simulator: cell, skills, episode manager and one agent, each a process of its own.

    ros2 launch jarvis_bringup episode.launch.py task:=TASK_FOLDER agent:=oracle

The launch ends when the agent has ended; with agent:=none the cell stays up for you to call it by hand.

On a cell that runs already, a real one say, scored from what perception sees there:

    ros2 launch jarvis_bringup episode.launch.py task:=TASK_FOLDER cell:=running perception:=true states:=perceived \
        agent:=manual_reader
"""

from pathlib import Path

from jarvis_agent.registry import policy_names
from jarvis_core.errors import BadInputError
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import (
    EqualsSubstitution,
    LaunchConfiguration,
    PathJoinSubstitution,
    ThisLaunchFileDir,
)
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

CELLS = ("embedded", "running")
STATES = ("true", "perceived")


def text(argument):
    """An argument as a string, whatever YAML would make of it."""
    return ParameterValue(LaunchConfiguration(argument), value_type=str)


def flag(argument):
    """An argument as a truth value."""
    return ParameterValue(LaunchConfiguration(argument), value_type=bool)


def refuse_bad_arguments(context):
    """What can't work is said before any process starts."""
    task = Path(LaunchConfiguration("task").perform(context))
    if not (task if task.is_file() else task / "task.json").exists():
        raise BadInputError("no task there", where=str(task), fix="make one with `jarvis tasks cut`")
    for argument, values in (("cell", CELLS), ("states", STATES)):
        given = LaunchConfiguration(argument).perform(context)
        if given not in values:
            raise BadInputError(f"unknown {argument} {given!r}", fix=f"choose {' or '.join(values)}")
    agent = LaunchConfiguration("agent").perform(context)
    if agent not in ("", "none", *policy_names()):
        raise BadInputError(
            f"unknown agent {agent!r}", fix=f"choose one of {', '.join(policy_names())}, none"
        )
    return []


def agent_actions(context):
    """Agent and report; the launch ends when the page is written, or at once when the agent failed."""
    agent = LaunchConfiguration("agent").perform(context)
    if agent == "none":
        return []
    node = Node(
        package="jarvis_agent",
        executable="agent_node",
        output="screen",
        parameters=[
            {
                "task": text("task"),
                "agent": ParameterValue(agent, value_type=str),
                "seed": int(LaunchConfiguration("seed").perform(context)),
                "program": text("program"),
                "layer": text("layer"),
                "uncaged": flag("uncaged"),
                "true_scene": flag("true_scene"),
                "perception": flag("perception"),
            }
        ],
    )
    report = Node(
        package="jarvis_bench", executable="report_node", output="screen", parameters=[{"once": True}]
    )

    ended = []

    def after_agent(event, context):
        ended.append(node)
        if event.returncode != 0:
            return [EmitEvent(event=Shutdown(reason="the agent failed"))]
        return [EmitEvent(event=Shutdown(reason="the episode has ended"))] if report in ended else []

    def after_report(event, context):
        # A report that crashed early must not take the episode along.
        ended.append(report)
        return [EmitEvent(event=Shutdown(reason="the episode has ended"))] if node in ended else []

    return [
        node,
        report,
        RegisterEventHandler(OnProcessExit(target_action=node, on_exit=after_agent)),
        RegisterEventHandler(OnProcessExit(target_action=report, on_exit=after_report)),
    ]


def manager_actions(context):
    """The episode manager, and who tells it what perception sees where nobody knows the truth."""
    states = LaunchConfiguration("states").perform(context)
    nodes = [
        Node(
            package="jarvis_episode",
            executable="episode_node",
            output="screen",
            parameters=[{"results": text("results"), "states": ParameterValue(states, value_type=str)}],
        )
    ]
    if states == "perceived":
        nodes.append(Node(package="jarvis_episode", executable="perceived_world_node", output="screen"))
    ends = [
        RegisterEventHandler(
            OnProcessExit(target_action=node, on_exit=[EmitEvent(event=Shutdown(reason=f"{name} has ended"))])
        )
        for name, node in zip(("the episode manager", "the perceived world"), nodes, strict=False)
    ]
    return [*nodes, *ends]


def generate_launch_description():
    cell = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(PathJoinSubstitution([ThisLaunchFileDir(), "cell.launch.py"])),
        launch_arguments={
            "task": LaunchConfiguration("task"),
            "seed": LaunchConfiguration("seed"),
            "advance": "on_demand",
            "real_time_factor": LaunchConfiguration("real_time_factor"),
            "overview_rate_hz": LaunchConfiguration("overview_rate_hz"),
            "perception": LaunchConfiguration("perception"),
            "rviz": LaunchConfiguration("rviz"),
        }.items(),
        condition=IfCondition(EqualsSubstitution(LaunchConfiguration("cell"), "embedded")),
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument("task", description="task folder (see `jarvis tasks cut`)"),
            DeclareLaunchArgument(
                "agent", default_value="", description="a policy's name (default oracle), or none"
            ),
            DeclareLaunchArgument(
                "program", default_value="", description="an agent's program, for the cage"
            ),
            DeclareLaunchArgument("layer", default_value="primitives", description="of a program's calls"),
            DeclareLaunchArgument("uncaged", default_value="false", description="run it without isolation"),
            DeclareLaunchArgument(
                "true_scene", default_value="false", description="show the agent true bricks; records say so"
            ),
            DeclareLaunchArgument("seed", default_value="0", description="decides the initial state"),
            DeclareLaunchArgument("results", default_value="results", description="folder for the records"),
            DeclareLaunchArgument(
                "overview_rate_hz",
                default_value="2.5",
                description="pictures for the video per simulated second",
            ),
            DeclareLaunchArgument(
                "real_time_factor",
                default_value="0.0",
                description="0: as fast as the machine can; 1: as in life, to watch",
            ),
            DeclareLaunchArgument(
                "perception",
                default_value="false",
                description="true: skills and agent see by the top camera, not by the true state",
            ),
            DeclareLaunchArgument(
                "cell",
                default_value="embedded",
                description="or running: one that is up, such as a real robot's",
            ),
            DeclareLaunchArgument(
                "states",
                default_value="true",
                description="what the score is made of: the simulator's own states, or perceived ones",
            ),
            DeclareLaunchArgument("rviz", default_value="false", description="open RViz where installed"),
            OpaqueFunction(function=refuse_bad_arguments),
            cell,
            OpaqueFunction(function=manager_actions),
            OpaqueFunction(function=agent_actions),
        ]
    )
