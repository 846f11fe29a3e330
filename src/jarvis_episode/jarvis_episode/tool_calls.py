"""What an agent asked of its tools and was answered, as text."""

from __future__ import annotations

from typing import Any

from jarvis_core.files import encode_line
from jarvis_core.manual import TaskBrief
from jarvis_core.observation import Observation


def as_text(value: Any) -> str:
    """Arguments or an answer as one line of JSON.

    Pictures are left out: they stand in the bag by themselves, pages in the task's folder. A program may have passed
    anything: what has no JSON form is named by its type.
    """
    if isinstance(value, Observation):
        value = {"picture_s": value.camera.time_s, "robot": value.robot}
    elif isinstance(value, TaskBrief):
        value = {"task_id": value.task_id, "n_required": value.n_required, "budget_s": value.budget_s}
    try:
        return encode_line(value)
    except (TypeError, ValueError, NotImplementedError, RecursionError):
        if isinstance(value, dict):
            return encode_line({str(name): f"<{type(item).__name__}>" for name, item in value.items()})
        return encode_line(f"<{type(value).__name__}>")
