"""Errors that a person can act on.

Expected failures of skills are values (``SkillResult``), not exceptions. What is raised here is bad input or
a machine that lacks something: the command line prints it as one line and exits with status 2.
"""

from __future__ import annotations


class JarvisError(Exception):
    """What went wrong, where, and how to fix it.

    Args:
        what: the fault, in one sentence without a full stop.
        where: file, file:line, topic or option it was found at.
        fix: what the reader can do about it.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(self.line())

    def line(self) -> str:
        """Everything on one line, as the command line prints it."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        return " ".join(f"{head} - {self.fix}".split()) if self.fix else " ".join(head.split())


class BadInputError(JarvisError):
    """A file, option or message from outside that can't be used."""


class ConfigError(BadInputError):
    """A configuration file with an unknown key, a missing key or a value of the wrong kind."""


class RefusedError(JarvisError):
    """A well-formed request that this cell can't do (a task that can't be built, no free table space)."""


class PerceptionRefusedError(RefusedError):
    """A picture that nothing can be told from: dark, stale, without depth, from another camera than calibrated."""


class MissingCapabilityError(JarvisError):
    """This machine lacks something (GL, a library, ROS); the fix names what to install."""
