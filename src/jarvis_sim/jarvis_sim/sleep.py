"""Bodies at rest sleep: the engine leaves them out until something touches, pulls or moves them.

MuJoCo puts whole islands (bodies that touch or are joined) to sleep and wakes them by contact, by a constraint to an
awake body, by a force on them or when their position is written. Which bodies sleep is not part of its state vector,
and its derived lists are only brought up to date when something wakes; both are dealt with here.
"""

from __future__ import annotations

import mujoco
import numpy as np

#: MuJoCo's value of ``tree_asleep`` for a body that has just moved; it counts up to -1, then the body may sleep.
_AWAKE = -(1 + mujoco.mjMINAWAKE)
#: What sleeping bodies keep from their last step awake, and the solver starts from when they wake.
_STALE = ("qacc", "qacc_smooth")
_STATIC = int(mujoco.mjtSleepState.mjS_STATIC)


class Sleep:
    """Reads and writes who sleeps in one model's data."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model = model
        self._data = data

    def is_awake(self, body: int) -> bool:
        """Whether a body moves, or did a moment ago; a fixed body never is."""
        tree = self._model.body_treeid[body]
        return bool(tree >= 0 and self._data.tree_asleep[tree] < 0)

    def tree(self, body: int) -> int:
        """What ``awake`` calls a body and all that hangs on it by joints; -1 for a fixed one."""
        return int(self._model.body_treeid[body])

    def awake(self) -> list[int]:
        """The trees that are awake, in their order."""
        trees: list[int] = np.flatnonzero(self._data.tree_asleep < 0).tolist()
        return trees

    def keep_awake(self, body: int) -> None:
        """Start the countdown to sleep anew, for a body that has to stay awake however still it is."""
        tree = self._model.body_treeid[body]
        if tree >= 0 and self._data.tree_asleep[tree] < 0:
            self._data.tree_asleep[tree] = _AWAKE

    def wake(self, body: int) -> None:
        """Have a body, and all that sleeps in one island with it, woken in the next step."""
        tree = self._model.body_treeid[body]
        if tree >= 0:
            # The sign of a position that was written: the engine wakes the island.
            self._data.tree_awake[tree] = 1
            self.keep_awake(body)

    def save(self) -> dict[str, bytes]:
        return {name: getattr(self._data, name).tobytes() for name in ("tree_asleep", *_STALE)}

    def wake_all(self) -> None:
        self._set(np.full(self._model.ntree, _AWAKE, np.int32))

    def load(self, saved: dict[str, bytes]) -> None:
        """Who slept when ``saved`` was made; the present state must be the one of that moment."""
        self._set(np.frombuffer(saved["tree_asleep"], np.int32))
        for name in _STALE:
            getattr(self._data, name)[:] = np.frombuffer(saved[name])

    def _set(self, asleep: np.ndarray) -> None:
        model, data = self._model, self._data
        awake = asleep < 0
        data.tree_asleep[:], data.tree_awake[:] = asleep, awake
        data.ntree_awake = int(awake.sum())
        moves = model.body_treeid >= 0
        state = np.where(moves, awake[model.body_treeid] if len(awake) else False, _STATIC)
        data.body_awake[:] = state
        present = np.flatnonzero(state != 0)
        data.body_awake_ind[: len(present)], data.nbody_awake = present, len(present)
        children = np.flatnonzero(state[model.body_parentid] != 0)
        children = children[children > 0]
        data.parent_awake_ind[: len(children)], data.nparent_awake = children, len(children)
        dofs = np.flatnonzero(state[model.dof_bodyid] == 1)
        data.dof_awake_ind[: len(dofs)], data.nv_awake = dofs, len(dofs)
