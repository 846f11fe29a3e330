"""Which bodies may have a stud under a brick: a coarse look before studs are compared one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.connections import StudBody

_MARGIN_M = 0.001


class Neighbours:
    """All bodies that have studs; those that stand for ever are measured once.

    Attributes:
        free: those that do not.
    """

    def __init__(self, bodies: Sequence[StudBody]) -> None:
        studded = [body for body in bodies if len(body.studs)]
        self.free = tuple(body for body in studded if body.fixed is None)
        self._reach = np.array([body.reach_m for body in self.free])
        self._fixed = [(body.id, body.fixed @ body.studs) for body in studded if body.fixed is not None]
        self._low = np.array([studs.min(axis=0) for _, studs in self._fixed]).reshape(-1, 3)
        self._high = np.array([studs.max(axis=0) for _, studs in self._fixed]).reshape(-1, 3)

    def of(
        self, body: StudBody, pose: Pose, origins: FloatArray, pose_of: Callable[[str], Pose]
    ) -> list[str]:
        """Bodies other than the brick itself with a stud in the box around its anti-studs when it is at ``pose``.

        Args:
            origins: (n, 3) of the n bodies ``free``, ``world``.
            pose_of: gives the pose of one of them.
        """
        if not len(body.antistuds):
            return []
        points = pose @ body.antistuds
        low, high = points.min(axis=0) - _MARGIN_M, points.max(axis=0) + _MARGIN_M
        near = []
        for k in np.flatnonzero(((self._low <= high) & (self._high >= low)).all(axis=1)).tolist():
            name, studs = self._fixed[k]
            if _any_within(studs, low, high):
                near.append(name)
        reach = self._reach[:, None]
        for k in np.flatnonzero(((origins + reach >= low) & (origins - reach <= high)).all(axis=1)).tolist():
            other = self.free[k]
            if other.id != body.id and _any_within(pose_of(other.id) @ other.studs, low, high):
                near.append(other.id)
        return near


def _any_within(points: FloatArray, low: FloatArray, high: FloatArray) -> bool:
    return bool(((points >= low) & (points <= high)).all(axis=1).any())
