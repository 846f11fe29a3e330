"""Rigid transforms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from jarvis_core import quaternions

FloatArray = npt.NDArray[np.float64]


class Pose:
    """An immutable rigid transform: position in metres and unit quaternion (x, y, z, w).

    ``a @ b`` first applies ``b``, then ``a``; ``a @ points`` maps points of shape (3,) or (n, 3).

    Raises:
        ValueError: a value is not finite, a shape is wrong or the quaternion has no length.
    """

    __slots__ = ("_position", "_quaternion")

    def __init__(
        self,
        position: Sequence[float] | FloatArray = (0.0, 0.0, 0.0),
        quaternion: Sequence[float] | FloatArray = (0.0, 0.0, 0.0, 1.0),
    ) -> None:
        p = np.array(position, dtype=np.float64)
        q = np.array(quaternion, dtype=np.float64)
        if p.shape != (3,) or q.shape != (4,):
            raise ValueError(f"a pose takes 3 + 4 numbers, got shapes {p.shape} and {q.shape}")
        norm = math.hypot(*q.tolist())
        if not (math.isfinite(norm) and all(map(math.isfinite, p.tolist()))) or norm < 1e-9:
            raise ValueError(f"a pose needs finite numbers and a quaternion with length, got {p} {q}")
        # Dividing a unit quaternion again would change its last bit: a pose must survive a file unchanged.
        if abs(norm - 1.0) > 1e-12:
            q = q / norm
        p.setflags(write=False)
        q.setflags(write=False)
        self._position = p
        self._quaternion = q

    @property
    def position(self) -> FloatArray:
        """(3,) metres, read-only."""
        return self._position

    @property
    def quaternion(self) -> FloatArray:
        """(4,) x, y, z, w, unit length, read-only."""
        return self._quaternion

    @property
    def rotation(self) -> FloatArray:
        """(3, 3) rotation matrix."""
        return np.array(quaternions.to_matrix(self._q))

    @property
    def _q(self) -> quaternions.Quaternion:
        x, y, z, w = self._quaternion.tolist()
        return (x, y, z, w)

    @property
    def matrix(self) -> FloatArray:
        """(4, 4) homogeneous transform."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self._position
        return matrix

    @property
    def yaw(self) -> float:
        """Rotation about z in radians, of the x axis projected onto the ground, in (-pi, pi]."""
        x_axis = self.rotation[:, 0]
        return float(np.arctan2(x_axis[1], x_axis[0]))

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike) -> Pose:
        """From a (4, 4) homogeneous matrix whose upper left block is a rotation."""
        m = np.asarray(matrix, dtype=np.float64)
        if m.shape != (4, 4):
            raise ValueError(f"a pose matrix has shape (4, 4), not {m.shape}")
        return cls(m[:3, 3], _quaternion_of(m[:3, :3]))

    @classmethod
    def from_rotation(cls, position: Sequence[float] | FloatArray, rotation: npt.ArrayLike) -> Pose:
        """From a position and a (3, 3) rotation matrix."""
        return cls(position, _quaternion_of(np.asarray(rotation, dtype=np.float64)))

    @classmethod
    def from_yaw(cls, position: Sequence[float] | FloatArray, yaw: float) -> Pose:
        """From a position and a rotation about z in radians."""
        return cls(position, (0.0, 0.0, float(np.sin(yaw / 2)), float(np.cos(yaw / 2))))

    def inverse(self) -> Pose:
        x, y, z, w = self._q
        return Pose(-(self.rotation.T @ self._position), (-x, -y, -z, w))

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Pose):
            turned = quaternions.canonical(quaternions.product(self._q, other._q))
            return Pose(self.rotation @ other._position + self._position, turned)
        points = np.asarray(other, dtype=np.float64)
        return points @ self.rotation.T + self._position

    def translated(self, offset: Sequence[float] | FloatArray) -> Pose:
        """The pose moved by ``offset`` (3,) metres in the parent frame."""
        return Pose(self._position + np.asarray(offset, dtype=np.float64), self._quaternion)

    def angle_to(self, other: Pose) -> float:
        """Rotation angle between both orientations, radians in [0, pi]."""
        dot = abs(float(np.dot(self._quaternion, other._quaternion)))
        # Near zero arccos loses half the digits; the chord does not.
        chord = min(
            float(np.linalg.norm(self._quaternion - other._quaternion)),
            float(np.linalg.norm(self._quaternion + other._quaternion)),
        )
        return 4.0 * float(np.arcsin(min(1.0, chord / 2.0))) if dot > 0.9 else 2.0 * float(np.arccos(dot))

    def distance_to(self, other: Pose) -> float:
        """Distance between both origins in metres."""
        return float(np.linalg.norm(self._position - other._position))

    def is_close(self, other: Pose, position_m: float = 1e-9, angle_rad: float = 1e-9) -> bool:
        return self.distance_to(other) <= position_m and self.angle_to(other) <= angle_rad

    def to_list(self) -> list[float]:
        """[x, y, z, qx, qy, qz, qw]; ``from_list`` gives the same pose back, bit for bit."""
        return [*self._position.tolist(), *self._quaternion.tolist()]

    @classmethod
    def from_list(cls, values: Iterable[float]) -> Pose:
        numbers = [float(v) for v in values]
        if len(numbers) != 7:
            raise ValueError(f"a pose takes 7 numbers (x y z qx qy qz qw), got {len(numbers)}")
        return cls(numbers[:3], numbers[3:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pose) and self.to_list() == other.to_list()

    def __hash__(self) -> int:
        return hash(tuple(self.to_list()))

    def __repr__(self) -> str:
        p = ", ".join(f"{v:.4f}" for v in self._position)
        q = ", ".join(f"{v:.4f}" for v in self._quaternion)
        return f"Pose(({p}), ({q}))"


def _quaternion_of(rotation: FloatArray) -> quaternions.Quaternion:
    a, b, c = rotation.tolist()
    return quaternions.from_matrix((tuple(a), tuple(b), tuple(c)))
