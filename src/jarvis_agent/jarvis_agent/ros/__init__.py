"""Agents over ROS."""
