"""A plan as read, in the layout that `jarvis plan schema` describes: for tables of planning alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import PLATE_HEIGHT_M, STUD_PITCH_M
from jarvis_core.files import write_json

from jarvis_agent.manual_reader.order import bounds
from jarvis_agent.manual_reader.plan import ReadPlace, ReadPlan

#: Of the layout. The scorer's own types are out of an agent's reach; a test reads what is written here with them.
PLAN_SCHEMA = 1
#: An agent is not told how its manual is drawn.
UNTOLD_STYLE = "not told"


def plan_document(plan: ReadPlan, catalogue: PartCatalogue, agent: str) -> dict[str, Any]:
    """The plan's bricks on the plate's grid, as plain data."""
    return {
        "schema": PLAN_SCHEMA,
        "task": plan.task_id,
        "agent": agent,
        "style": UNTOLD_STYLE,
        "steps": [_step(step.page, brick.place, catalogue) for step in plan.steps for brick in step.bricks],
    }


def write_plan_file(plan: ReadPlan, catalogue: PartCatalogue, agent: str, path: Path) -> None:
    """Write it for `jarvis plan score`, whole or not at all."""
    write_json(path, plan_document(plan, catalogue, agent))


def _step(number: int, place: ReadPlace, catalogue: PartCatalogue) -> dict[str, Any]:
    boxes = bounds(catalogue.geometry(place.part).boxes, place.pose)
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    middle = (low + high) / 2 / STUD_PITCH_M
    return {
        "step": number,
        "part": place.part,
        "colour": place.colour,
        "x_studs": round(float(middle[0]), 6),
        "y_studs": round(float(middle[1]), 6),
        "level_plates": round(float(low[2]) / PLATE_HEIGHT_M, 6) + 0.0,
        "quarter_turns": round(place.pose.yaw / (math.pi / 2), 6) % 4,
    }
