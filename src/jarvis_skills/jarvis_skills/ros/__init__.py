"""Skills over ROS: the action servers, and the arm and scene behind standard actions and services."""
