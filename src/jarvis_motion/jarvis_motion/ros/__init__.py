"""Motion backends that are reached over ROS: MoveIt, and Isaac ROS's planner behind its action."""
