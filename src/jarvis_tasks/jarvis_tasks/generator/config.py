"""How models are generated: read from config/generator.yaml."""

from __future__ import annotations

from typing import Annotated

from jarvis_bricks.grip import FingerClearance
from jarvis_core.config import Config
from msgspec import Meta

Count = Annotated[int, Meta(ge=1)]


class GeneratorConfig(Config, frozen=True):
    """What all generated models have in common.

    Attributes:
        author, licence: of the models' headers.
        step_bricks: a step has at most so many.
        attempts: how often a design that turns out to be impossible is drawn anew.
        repeats: how many seeds in turn may give a design that was there before.
        plate_studs, height_plates: a model is no larger.
        fingers: the room that the order of building leaves for them.
    """

    author: str
    licence: str
    step_bricks: Count
    attempts: Count
    repeats: Count
    plate_studs: Count
    height_plates: Count
    fingers: FingerClearance
