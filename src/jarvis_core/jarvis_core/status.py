"""One status for every skill, in Python and in jarvis_interfaces/msg/SkillStatus alike."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a skill ended. The numbers equal the constants of jarvis_interfaces/msg/SkillStatus."""

    SUCCEEDED = 0
    PRECONDITION_FAILED = 1
    PLANNING_FAILED = 2
    EXECUTION_FAILED = 3
    VERIFICATION_FAILED = 4
    CANCELED = 5
    TIMED_OUT = 6
    INTERNAL_ERROR = 7

    @property
    def ok(self) -> bool:
        return self is Status.SUCCEEDED
