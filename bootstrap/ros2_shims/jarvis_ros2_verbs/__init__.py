"""Verbs of the `ros2` command that the ROS 2 runtime from pip lacks: launch, action, interface (and run).

Where a real ROS 2 is installed its own verbs are used and this package is not on the path.
"""
