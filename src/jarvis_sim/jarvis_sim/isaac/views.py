"""Isaac Sim's tensors as the cell's types. The protocols carry the names and arguments of Isaac Sim's own classes.

They are those of ``RigidPrim`` and ``Articulation`` in isaacsim.core.experimental.prims and of ``CameraSensor`` in
isaacsim.sensors.experimental.rtx, versions 6.0.1 and 6.2.0. Positions are metres, quaternions w, x, y, z; arrays are
Warp's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.isaac.ports import Touch


class WarpArray(Protocol):
    """As much of ``warp.array`` as is used."""

    def numpy(self) -> npt.NDArray[Any]: ...


class RigidPrimLike(Protocol):
    """As much of ``RigidPrim`` as is used: N bodies."""

    def get_world_poses(self, *, indices: Any = None) -> tuple[WarpArray, WarpArray]: ...

    def set_world_poses(
        self, positions: Any = None, orientations: Any = None, *, indices: Any = None
    ) -> None: ...

    def set_velocities(
        self, linear_velocities: Any = None, angular_velocities: Any = None, *, indices: Any = None
    ) -> None: ...

    def get_raw_contact_data(self, *, indices: Any = None, dt: float = 1.0) -> tuple[Any, ...]: ...

    def get_actor_paths_from_ids(self, actor_ids: Any) -> list[str]: ...


class ArticulationLike(Protocol):
    """As much of ``Articulation`` as is used: one robot with D degrees of freedom."""

    def get_dof_indices(self, names: str | list[str]) -> WarpArray: ...

    def get_dof_positions(self, *, indices: Any = None, dof_indices: Any = None) -> WarpArray: ...

    def get_dof_velocities(self, *, indices: Any = None, dof_indices: Any = None) -> WarpArray: ...

    def set_dof_positions(self, positions: Any, *, indices: Any = None, dof_indices: Any = None) -> None: ...

    def set_dof_velocities(
        self, velocities: Any, *, indices: Any = None, dof_indices: Any = None
    ) -> None: ...

    def set_dof_position_targets(
        self, positions: Any, *, indices: Any = None, dof_indices: Any = None
    ) -> None: ...

    def set_dof_velocity_targets(
        self, velocities: Any, *, indices: Any = None, dof_indices: Any = None
    ) -> None: ...

    def set_dof_gains(
        self,
        stiffnesses: Any = None,
        dampings: Any = None,
        *,
        indices: Any = None,
        dof_indices: Any = None,
        update_default_gains: bool = True,
    ) -> None: ...

    def set_dof_max_efforts(
        self, max_efforts: Any, *, indices: Any = None, dof_indices: Any = None
    ) -> None: ...


class CameraSensorLike(Protocol):
    """As much of ``CameraSensor`` as is used."""

    def get_data(self, annotator: str, *, out: Any = None) -> tuple[WarpArray | None, dict[str, Any]]: ...


class BrickView:
    """The loose bricks.

    Args:
        prim: over all of them, in the order of ``bricks``.
        bricks: prim path by id.
        others: id by prim path of the structure and the plate.
        timestep_s: turns the impulses of a step into forces.
    """

    def __init__(
        self, prim: RigidPrimLike, bricks: Mapping[str, str], others: Mapping[str, str], timestep_s: float
    ) -> None:
        self._prim = prim
        self._ids = list(bricks)
        self._names = {path: name for name, path in bricks.items()} | dict(others)
        self._dt = timestep_s

    def poses(self) -> dict[str, Pose]:
        """Pose in ``world``, by id."""
        positions, orientations = (array.numpy() for array in self._prim.get_world_poses())
        return {
            name: Pose(position, (x, y, z, w))
            for name, position, (w, x, y, z) in zip(
                self._ids, positions.astype(float), orientations.astype(float), strict=True
            )
        }

    def place(self, poses: Mapping[str, Pose]) -> None:
        """Put bricks somewhere at once, at rest; the others stay where they are."""
        indices = [number for number, name in enumerate(self._ids) if name in poses]
        placed = [poses[self._ids[number]] for number in indices]
        positions = np.array([pose.position for pose in placed], np.float32)
        quaternions = np.array([pose.quaternion[[3, 0, 1, 2]] for pose in placed], np.float32)
        self._prim.set_world_poses(positions, quaternions, indices=indices)
        rest = np.zeros_like(positions)
        self._prim.set_velocities(rest, rest, indices=indices)

    def touches(self) -> list[Touch]:
        """Contact points of the last step. Normals are taken to point towards the brick that feels them."""
        forces, _, normals, _, counts, starts, actors = self._prim.get_raw_contact_data(dt=self._dt)
        counts, starts = counts.numpy().tolist(), starts.numpy().tolist()
        forces, normals = forces.numpy().reshape(-1), normals.numpy().reshape(-1, 3)
        found = []
        for name, count, start in zip(self._ids, counts, starts, strict=True):
            if not count:
                continue
            others = self._prim.get_actor_paths_from_ids(actors[start : start + count])
            for row, path in enumerate(others, start):
                force = float(forces[row]) * normals[row].astype(np.float64)
                found.append(Touch(name, self._name(path), force))
        return found

    def _name(self, path: str) -> str:
        """Id of the brick or plate that a collider or body belongs to; the path itself of anything else."""
        parts = path.split("/")
        for end in range(len(parts), 1, -1):
            if (name := self._names.get("/".join(parts[:end]))) is not None:
                return name
        return path


class RobotView:
    """The robot's joints, by the names and in the order given.

    Args:
        fingers: how many of the joints, the last ones, are fingers.
    """

    def __init__(self, robot: ArticulationLike, dofs: Sequence[str], fingers: int = 2) -> None:
        self._robot = robot
        self._indices = robot.get_dof_indices(list(dofs)).numpy()
        self._fingers = self._indices[-fingers:]

    def measure(self) -> tuple[FloatArray, FloatArray]:
        """(n,) positions and velocities."""
        positions = self._robot.get_dof_positions(dof_indices=self._indices).numpy()
        velocities = self._robot.get_dof_velocities(dof_indices=self._indices).numpy()
        return positions.reshape(-1).astype(np.float64), velocities.reshape(-1).astype(np.float64)

    def drive(self, positions: FloatArray, velocities: FloatArray) -> None:
        """(n,) targets."""
        self._robot.set_dof_position_targets(positions.astype(np.float32)[None], dof_indices=self._indices)
        self._robot.set_dof_velocity_targets(velocities.astype(np.float32)[None], dof_indices=self._indices)

    def place(self, positions: FloatArray) -> None:
        """Put the joints somewhere at once, at rest, and have the drives hold them there."""
        self._robot.set_dof_positions(positions.astype(np.float32)[None], dof_indices=self._indices)
        rest = np.zeros_like(positions)
        self._robot.set_dof_velocities(rest.astype(np.float32)[None], dof_indices=self._indices)
        self.drive(positions, rest)

    def set_gains(self, stiffness: Sequence[float], damping: Sequence[float]) -> None:
        """(n,) of all joints' drives."""
        self._robot.set_dof_gains(
            np.array([stiffness], np.float32), np.array([damping], np.float32), dof_indices=self._indices
        )

    def limit_grip(self, force_n: float) -> None:
        """Largest force of each finger."""
        efforts = np.full((1, len(self._fingers)), force_n, np.float32)
        self._robot.set_dof_max_efforts(efforts, dof_indices=self._fingers)


def picture(
    sensor: CameraSensorLike, rgb: str, depth: str
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]] | None:
    """(h, w, 3) colours and (h, w) metres, 0 where nothing is; None while the renderer has no picture yet.

    Args:
        rgb, depth: names of the annotators.
    """
    colours, distance = sensor.get_data(rgb)[0], sensor.get_data(depth)[0]
    if colours is None or distance is None:
        return None
    metres = distance.numpy().astype(np.float32)
    metres = metres.reshape(metres.shape[:2])
    return np.ascontiguousarray(colours.numpy()[:, :, :3], np.uint8), np.where(
        np.isfinite(metres), metres, 0.0
    )
