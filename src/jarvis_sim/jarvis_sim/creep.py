"""What is gripped must not creep between the pads when the hand moves fast.

MuJoCo's contacts demand J a = -b u of the accelerations a, where u = J v is the slip. The relative acceleration is
J a + J' v, though, and on a swinging arm J' v is the centripetal acceleration: the slip settles at u = J' v / b, and a
step of h moves the contact by (u - h J' v / 2) h. That is millimetres in a fast motion, however hard the grip. With
-(1 - b h / 2) J' v added to the demand it is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from jarvis_sim.config import ContactConfig
from jarvis_sim.engine import Engine

#: A hand that is accelerated less than this by its joints' speeds is left alone: the slip would be 2 um/s.
_NEGLIGIBLE_M_S2 = 1e-3


class CreepCorrection:
    """Corrects the contacts of the pads in a step whose constraints are made, but not solved yet.

    Args:
        pads: geoms of the pads; hand: the body they move with; dofs: of the arm.
    """

    def __init__(
        self, engine: Engine, pad: ContactConfig, pads: Sequence[int], hand: int, dofs: slice
    ) -> None:
        self._model, self._data, self._hand = engine.model, engine.data, hand
        self._speeds = engine.data.qvel[dofs]
        self._gain = _gain(pad, engine.timestep_s)
        self._linear, self._angular = jacobians = np.zeros((2, 3, engine.model.nv))
        self._arm_linear, self._arm_angular = jacobians[:, :, dofs]
        # +1: the pad is the second geom, whose Jacobian counts positive; -1: it is the first.
        self._signs = np.zeros(engine.model.ngeom)
        self._signs[list(pads)] = 1.0
        # Frames of contacts, flattened, times this are their rows: along the contact's axes, then about them.
        self._onto_rows = np.zeros((9, pad.condim))
        self._onto = [(row % 3 * 3, row, row >= 3) for row in range(pad.condim)]
        self._rows = np.arange(pad.condim)

    def apply(self) -> None:
        """Change the demanded accelerations of this step."""
        data = self._data
        contact = data.contact
        signs, addresses = self._signs.take(contact.geom), contact.efc_address
        signs = signs[:, 1] - signs[:, 0]
        of_pads = ((signs != 0.0) & (addresses >= 0)).nonzero()[0]
        if not len(of_pads):
            return
        # One point stands for all contacts: the acceleration hardly differs over a brick's width.
        mujoco.mj_jacDot(self._model, data, self._linear, self._angular, contact.pos[of_pads[0]], self._hand)
        linear = self._arm_linear.dot(self._speeds)
        if linear.dot(linear) < _NEGLIGIBLE_M_S2**2:
            return
        angular = self._arm_angular.dot(self._speeds)
        for start, row, turning in self._onto:
            self._onto_rows[start : start + 3, row] = angular if turning else linear
        demand = contact.frame[of_pads].dot(self._onto_rows)
        demand *= (self._gain * signs[of_pads])[:, None]
        rows = addresses[of_pads][:, None] + self._rows
        data.efc_aref[rows] -= demand


def _gain(pad: ContactConfig, timestep_s: float) -> float:
    """1 - b h / 2; b = 2 / (dmax timeconst), from MuJoCo's manual, "Solver parameters"."""
    time_constant = max(pad.solref[0], 2 * timestep_s)
    return 1.0 - timestep_s / (pad.solimp[1] * time_constant)
