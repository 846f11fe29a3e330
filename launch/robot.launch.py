"""A real Panda: franka_ros2 in the namespace /franka, the adapter with its guards, and the skills on top.

    ros2 launch jarvis_bringup robot.launch.py robot_ip:=172.16.0.2 scene_service:=/perception/get_scene

Then, with a hand on the emergency stop:  ros2 service call /panda/confirm std_srvs/srv/Trigger

Not run on this project's machines: docs/real-panda.md says what is tested, and how to set it up.
"""

from pathlib import Path

import xacro
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

NAMESPACE = "franka"
HOW_TO = "build and source franka_ros2 (docs/real-panda.md)"


def require(package):
    """Ends the launch with one line where a package is absent."""
    try:
        get_package_share_directory(package)
    except PackageNotFoundError as error:
        raise RuntimeError(f"package {package} is not installed - {HOW_TO}") from error


def robot_nodes(context):
    """Hardware and controllers, gripper, adapter, skills."""
    robot_ip = LaunchConfiguration("robot_ip").perform(context)
    if not robot_ip:
        raise RuntimeError("no robot is named - give robot_ip:=ADDRESS, as the Desk's settings show it")
    for package in ("controller_manager", "franka_hardware", "franka_gripper"):
        require(package)
    share = Path(get_package_share_directory("jarvis_bringup"))
    model = xacro.process_file(
        str(share / "urdf" / "panda_real.urdf.xacro"), mappings={"robot_ip": robot_ip}
    ).toxml()
    controllers = Node(
        package="controller_manager",
        executable="ros2_control_node",
        namespace=NAMESPACE,
        output="screen",
        parameters=[{"robot_description": model}, str(share / "config" / "robot_controllers.yaml")],
    )
    spawners = [
        Node(
            package="controller_manager",
            executable="spawner",
            arguments=[name, "--controller-manager", f"/{NAMESPACE}/controller_manager"],
            output="screen",
        )
        for name in ("joint_state_broadcaster", "panda_arm_controller")
    ]
    gripper = Node(
        package="franka_gripper",
        executable="franka_gripper_node",
        name="panda_gripper",
        namespace=NAMESPACE,
        output="screen",
        parameters=[
            {
                "robot_ip": robot_ip,
                "joint_names": ["panda_finger_joint1", "panda_finger_joint2"],
                # For gripper_action: a grasp may end at any width, the skills judge it.
                "default_grasp_epsilon.inner": 0.08,
                "default_grasp_epsilon.outer": 0.08,
                "default_speed": 0.03,
            }
        ],
    )
    frames = Node(
        package="robot_state_publisher",
        executable="robot_state_publisher",
        parameters=[{"robot_description": model}],
    )
    adapter = Node(package="jarvis_panda", executable="panda_adapter", output="screen")
    scene_service = LaunchConfiguration("scene_service").perform(context)
    skills = Node(
        package="jarvis_skills",
        executable="skill_server",
        output="screen",
        parameters=[{"scene_service": scene_service}],
    )
    eyes = []
    if scene_service.startswith("/perception/"):
        parts = LaunchConfiguration("parts").perform(context)
        eyes = [
            Node(
                package="jarvis_perception",
                executable="perception_node",
                output="screen",
                parameters=[{"parts": ParameterValue(parts, value_type=str)}],
            )
        ]
    # Half a cell is no cell; without the adapter nobody heeds the emergency stop.
    ends = [
        RegisterEventHandler(
            OnProcessExit(target_action=node, on_exit=[EmitEvent(event=Shutdown(reason=f"{name} has ended"))])
        )
        for name, node in (
            ("ros2_control", controllers),
            ("the gripper", gripper),
            ("the adapter", adapter),
            ("the skill server", skills),
            *(("perception", node) for node in eyes),
        )
    ]
    return [controllers, *spawners, gripper, frames, adapter, skills, *eyes, *ends]


def generate_launch_description():
    return LaunchDescription(
        [
            DeclareLaunchArgument("robot_ip", default_value="", description="of the robot's control unit"),
            DeclareLaunchArgument(
                "scene_service",
                default_value="/perception/get_scene",
                description="GetScene service that tells the skills where objects are",
            ),
            DeclareLaunchArgument(
                "parts",
                default_value="",
                description="what may lie there, as 3001:4,3020:14 (part:colour); empty: the whole catalogue",
            ),
            OpaqueFunction(function=robot_nodes),
        ]
    )
