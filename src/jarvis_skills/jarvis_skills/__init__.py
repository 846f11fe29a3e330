"""Manipulation skills: the primitives a program, a chat loop or a graph is built from.

The same functions run in-process and behind the ROS actions ``/skills/NAME`` (``jarvis_skills.ros``).
"""
