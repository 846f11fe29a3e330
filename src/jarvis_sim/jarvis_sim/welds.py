"""Rigid connections that are made and broken as the simulation runs."""

from __future__ import annotations

import mujoco
import numpy as np
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.engine import Engine, WorldError

_DISTANCE_ROWS = 3


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

    def join(self, first: int, second: int, relative: Pose, anchor: FloatArray) -> int:
        """Weld body ``second`` to body ``first``; gives the weld's index.

        Args:
            relative: pose of the second body in the first one's frame.
            anchor: (3,) in the second body's frame, the point the connection is at.

        Raises:
            WorldError: no weld is left.
        """
        active = self._engine.data.eq_active
        slot = next((s for s in self._slots if not active[s]), None)
        if slot is None:
            raise WorldError(
                f"all {self._size} connections the world has room for are in use",
                fix="raise clutch.welds_per_brick in config/sim.yaml",
            )
        model = self._engine.model
        model.eq_obj1id[slot], model.eq_obj2id[slot] = first, second
        self.set_relative(slot, relative, anchor)
        active[slot] = 1
        return slot

    def set_relative(self, slot: int, relative: Pose, anchor: FloatArray) -> None:
        """Change the pose a weld holds."""
        x, y, z, w = relative.quaternion
        self._engine.model.eq_data[slot] = [*anchor, *(relative @ anchor), w, x, y, z, 1.0]

    def cut(self, slot: int) -> None:
        self._engine.data.eq_active[slot] = 0

    def force(self, slot: int) -> FloatArray:
        """(3,) newton in ``world``: what pulled the second body away from the first in the last step."""
        data = self._engine.data
        equality = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        rows = np.flatnonzero((data.efc_type == equality) & (data.efc_id == slot))
        if len(rows) < _DISTANCE_ROWS:  # joined after the step's constraints were made
            return np.zeros(3)
        force: FloatArray = data.efc_force[rows[:_DISTANCE_ROWS]].copy()
        return force
