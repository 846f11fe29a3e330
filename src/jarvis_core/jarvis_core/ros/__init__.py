"""Doors to ROS shared by all nodes: message conversions, waiting, node mains."""
