"""Shared types and ports of the workspace. Plain Python: nothing here imports ROS, a simulator or a renderer.

Conventions, everywhere in the workspace: SI units; frame ``world`` has z up, x forward, its origin on the
tabletop under the robot base; quaternions are x, y, z, w; poses map points of the named child frame into the
named parent frame.
"""
