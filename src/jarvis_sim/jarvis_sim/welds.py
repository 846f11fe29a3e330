"""Rigid connections that are made and broken as the simulation runs."""

from __future__ import annotations

import mujoco
import numpy as np
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.engine import Engine, WorldError


class WeldPool:
    """A fixed number of weld constraints, bound to pairs of bodies when they are needed.

    Which bodies a weld joins is part of the model, which the engine saves with its state. Which welds are in use
    is part of the state itself.
    """

    def __init__(self, size: int, solref: tuple[float, float], solimp: tuple[float, float, float]) -> None:
        self._size = size
        self._solref = solref
        self._solimp = solimp

    def build(self, spec: mujoco.MjSpec, body: str) -> None:
        """Reserve the welds; until used, they tie ``body`` to the world and are off."""
        for i in range(self._size):
            weld = spec.add_equality(
                name=f"weld {i}", type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY,
                name1="world", name2=body, active=False, solref=self._solref, solimp=[*self._solimp, 0.5, 2.0],
            )  # fmt: skip
            weld.data[:] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]

    def bind(self, engine: Engine) -> None:
        self._engine = engine
        self._slots = [int(engine.model.equality(f"weld {i}").id) for i in range(self._size)]
        self._welds = frozenset(self._slots)

    def join(self, first: int, second: int) -> int:
        """Weld body ``second`` to body ``first``; gives the weld's index, for ``set_relative``.

        Raises:
            WorldError: no weld is left.
        """
        active = self._engine.data.eq_active
        unused = np.flatnonzero(active[self._slots] == 0)
        if not len(unused):
            raise WorldError(
                f"all {self._size} connections the world has room for are in use",
                fix="raise clutch.welds_per_brick in config/sim.yaml",
            )
        slot, model = self._slots[int(unused[0])], self._engine.model
        model.eq_obj1id[slot], model.eq_obj2id[slot] = first, second
        active[slot] = 1
        return slot

    def set_relative(self, slot: int, relative: Pose, anchor: FloatArray) -> None:
        """The pose a weld holds.

        Args:
            relative: of the second body in the first one's frame.
            anchor: (3,) in the second body's frame, the point the connection is at.
        """
        x, y, z, w = relative.quaternion
        self._engine.model.eq_data[slot] = [*anchor, *(relative @ anchor), w, x, y, z, 1.0]

    def cut(self, slot: int) -> None:
        self._engine.data.eq_active[slot] = 0

    def loads(self) -> dict[int, tuple[FloatArray, FloatArray]]:
        """By index, what strained each weld in the last step; welds between sleeping bodies are left out.

        Returns:
            (3,) newton in ``world`` that pulled the second body away from the first, and (3,) newton metres about
            the anchor in the second body's frame that turned it. MuJoCo's rotational residual is half the rotation,
            so a torque is half the multiplier.
        """
        data = self._engine.data
        ids, forces = data.efc_id[: data.ne], data.efc_force[: data.ne]
        starts = np.flatnonzero(np.diff(ids, prepend=-1))
        slots = self._welds
        return {
            slot: (forces[start : start + 3].copy(), forces[start + 3 : start + 6] / 2)
            for slot, start in zip(ids[starts].tolist(), starts.tolist(), strict=True)
            if slot in slots
        }


def between(start: Pose, end: Pose, share: float) -> Pose:
    """From ``start`` (share 0) to ``end`` (share 1), starting and ending at rest."""
    if share >= 1.0:
        return end
    eased = share * share * (3.0 - 2.0 * share)
    first, last = start.quaternion, end.quaternion
    if first.dot(last) < 0.0:
        last = -last
    # A few degrees at most: between the quaternions is as good as along the arc.
    return Pose(start.position + eased * (end.position - start.position), first + eased * (last - first))
