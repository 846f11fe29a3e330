"""What may go wrong while a robot builds, on demand: bricks knocked off, shifted, taken away, mixed up.

For experiments on recovery and for tests. A brick of the structure that stands at the start becomes a free body
first, with everything on it (see ``SimWorld.loosen``); a connected one comes off without force, which is logged.
"""

from __future__ import annotations

import math
from typing import Protocol

from jarvis_core.errors import RefusedError
from jarvis_core.pose import Pose

#: A brick may be put down this deep in another one: what contacts give in by themselves.
_TOUCHING_M = 0.0005
#: Bricks that were taken away wait here, out of every camera's and the robot's way.
_AWAY, _AWAY_PITCH_M = (-1.5, 2.0, -0.5), 0.1


class Perturbable(Protocol):
    """What perturbations need of a world."""

    def loosen(self, brick: str) -> None: ...
    def pose(self, brick: str) -> Pose: ...
    def bottom_m(self, brick: str) -> float: ...
    def put(self, brick: str, pose: Pose) -> None: ...
    def throw(self, brick: str, velocity_m_s: tuple[float, float, float]) -> None: ...
    def set_away(self, brick: str) -> int: ...
    def deepest_contact_m(self, brick: str) -> float: ...


class Perturbations:
    """Applied to one world, at once, between two steps; each raises RefusedError for a brick it does not know."""

    def __init__(self, world: Perturbable) -> None:
        self._world = world

    def knock_off(self, brick: str, heading_rad: float = 0.0, speed_m_s: float = 0.6) -> None:
        """Tear a brick off whatever holds it and send it off, to one side and a little upwards."""
        self._world.loosen(brick)
        x, y = math.cos(heading_rad) * speed_m_s, math.sin(heading_rad) * speed_m_s
        self._world.throw(brick, (x, y, speed_m_s / 2))

    def shift(self, brick: str, offset_m: tuple[float, float, float], yaw_rad: float = 0.0) -> None:
        """Displace a brick in ``world`` and turn it about its own z, at rest.

        Raises:
            RefusedError: it would stand in something else.
        """
        before = self._world.pose(brick)
        self._world.loosen(brick)
        self._put_free(brick, before, before.translated(offset_m) @ Pose.from_yaw((0.0, 0.0, 0.0), yaw_rad))

    def remove(self, brick: str) -> None:
        """Take a brick out of the cell. Its state goes on to be told; in the scene it is no more."""
        self._world.loosen(brick)
        x, y, z = _AWAY
        self._world.put(brick, Pose((x - _AWAY_PITCH_M * self._world.set_away(brick), y, z)))

    def swap(self, one: str, other: str) -> None:
        """Two bricks change places, each turned as the other was, undersides at the same height.

        Raises:
            RefusedError: one does not fit where the other was.
        """
        poses = {name: self._world.pose(name) for name in (one, other)}
        bottoms = {name: self._world.bottom_m(name) for name in (one, other)}
        self._world.loosen(one)
        self._world.loosen(other)
        for name, place in ((one, other), (other, one)):
            rise = bottoms[place] - bottoms[name] + poses[name].position[2] - poses[place].position[2]
            self._world.put(name, poses[place].translated((0.0, 0.0, rise)))
        for name in (one, other):
            if self._world.deepest_contact_m(name) > _TOUCHING_M:
                for back, pose in poses.items():
                    self._world.put(back, pose)
                raise RefusedError(f"{one} and {other} can't change places: {name} does not fit", fix=_FIX)

    def _put_free(self, brick: str, before: Pose, pose: Pose) -> None:
        self._world.put(brick, pose)
        depth = self._world.deepest_contact_m(brick)
        if depth > _TOUCHING_M:
            self._world.put(brick, before)
            raise RefusedError(f"{brick} would stand {depth * 1000:.1f} mm deep in something", fix=_FIX)


_FIX = "choose another place; what it was connected to is loose now"
