"""A recorded episode, scored again from its bag: nothing is simulated.

    ros2 launch jarvis_bringup replay.launch.py bag:=results/my-task-oracle-0

The score appears on the terminal and, latched, on /score/episode; with keep:=true the node stays up for whoever
comes to listen.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    scorer = Node(
        package="jarvis_episode",
        executable="replay_node",
        output="screen",
        parameters=[
            {
                "bag": ParameterValue(LaunchConfiguration("bag"), value_type=str),
                "protocol": ParameterValue(LaunchConfiguration("protocol"), value_type=str),
                "keep": ParameterValue(LaunchConfiguration("keep"), value_type=bool),
            }
        ],
    )
    ended = OnProcessExit(
        target_action=scorer, on_exit=[EmitEvent(event=Shutdown(reason="the bag has been scored"))]
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "bag", description="bag (folder or file), or an episode's folder (see `jarvis score`)"
            ),
            DeclareLaunchArgument(
                "protocol", default_value="", description="of the score; empty: as the bag says"
            ),
            DeclareLaunchArgument(
                "keep", default_value="false", description="go on publishing until interrupted"
            ),
            scorer,
            RegisterEventHandler(ended),
        ]
    )
