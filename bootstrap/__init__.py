"""Sets up and starts the workspace: what runs behind ./jarvis before the project's own packages exist.

Standard library only, because it runs before anything is installed.
"""
