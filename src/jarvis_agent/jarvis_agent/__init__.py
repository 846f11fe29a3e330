"""Agents: everything that decides what the robot does next. Imports no task, score or simulator."""
