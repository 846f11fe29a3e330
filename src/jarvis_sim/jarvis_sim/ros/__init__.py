"""The embedded simulator behind standard ROS interfaces."""
