"""Pages over ROS."""
