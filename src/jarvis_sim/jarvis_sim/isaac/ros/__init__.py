"""The ROS door of the cell in Isaac Sim."""
