"""Episodes over ROS: the manager node."""
