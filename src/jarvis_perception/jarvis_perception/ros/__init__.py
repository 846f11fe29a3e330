"""The ROS door of perception."""
