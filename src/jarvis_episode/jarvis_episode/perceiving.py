"""Skills and agents that see for themselves: the camera's picture in place of the simulator's own state."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.manual import PartCount
from jarvis_perception.perceiver import BrickPerception
from jarvis_perception.robot import ArmShape
from jarvis_perception.scene import PerceivedScene
from jarvis_robot.model import RobotModel

from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.settings import Settings


def open_eyes(
    cell: EmbeddedCell, settings: Settings, catalogue: PartCatalogue, parts: Sequence[PartCount]
) -> PerceivedScene:
    """From now on the cell's skills know only what perception sees; so does whoever is given what this returns.

    Args:
        parts: what may lie on the table (the manual's list).
    """
    arm = ArmShape(RobotModel.load(settings.robot))
    perception = BrickPerception(settings.cell, settings.perception, catalogue, arm=arm)
    eyes = PerceivedScene(cell.camera, cell.robot, perception, settings.cell, parts)
    cell.skills.context.scenes = eyes
    return eyes
