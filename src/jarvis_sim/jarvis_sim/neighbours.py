"""Which bodies may have a stud under a brick: a coarse look before studs are compared one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.connections import StudBody

_MARGIN_M = 0.001


class Neighbours:
    """All bodies that have studs; those that stand for ever are measured once."""

    def __init__(self, bodies: Sequence[StudBody]) -> None:
        studded = [body for body in bodies if len(body.studs)]
        self._free = [body for body in studded if body.fixed is None]
        self._fixed: list[tuple[str, FloatArray]] = [
            (body.id, body.fixed @ body.studs) for body in studded if body.fixed is not None
        ]
        self._low = np.array([studs.min(axis=0) for _, studs in self._fixed]).reshape(-1, 3)
        self._high = np.array([studs.max(axis=0) for _, studs in self._fixed]).reshape(-1, 3)

    def of(self, body: StudBody, pose: Pose, pose_of: Callable[[str], Pose]) -> list[str]:
        """Bodies other than the brick itself with a stud in the box around its anti-studs when it is at ``pose``."""
        if not len(body.antistuds):
            return []
        points = pose @ body.antistuds
        low, high = points.min(axis=0) - _MARGIN_M, points.max(axis=0) + _MARGIN_M
        near = []
        for k in np.flatnonzero(((self._low <= high) & (self._high >= low)).all(axis=1)).tolist():
            name, studs = self._fixed[k]
            if _any_within(studs, low, high):
                near.append(name)
        for other in self._free:
            if other.id != body.id:
                place = pose_of(other.id)
                reach = other.reach_m
                if ((place.position + reach >= low) & (place.position - reach <= high)).all() and _any_within(
                    place @ other.studs, low, high
                ):
                    near.append(other.id)
        return near


def _any_within(points: FloatArray, low: FloatArray, high: FloatArray) -> bool:
    return bool(((points >= low) & (points <= high)).all(axis=1).any())
