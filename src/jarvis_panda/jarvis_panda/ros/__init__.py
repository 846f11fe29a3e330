"""The adapter node between this workspace and franka_ros2."""
