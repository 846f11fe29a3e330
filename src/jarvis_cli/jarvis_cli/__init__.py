"""The ``jarvis`` command."""
