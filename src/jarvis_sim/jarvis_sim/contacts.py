"""Contacts of a step, read from the engine's data."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray

IntArray = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Contacts:
    """Contacts of the last step.

    Attributes:
        geoms, bodies: (n, 2) indices of both sides; ``bodies`` as ``Engine.owners`` counts them.
        normals: (n, 3) unit vectors from the first to the second side, ``world``.
        points: (n, 3) where, ``world``.
        forces: (n,) normal force in newton, >= 0.

    Sleeping bodies have contacts with awake ones only.
    """

    geoms: IntArray
    bodies: IntArray
    normals: FloatArray
    points: FloatArray
    forces: FloatArray


#: Of each contact, the indices of both geoms, and those of what they belong to, as in Contacts.
Touching = tuple[list[list[int]], list[list[int]]]


def read_contacts(data: mujoco.MjData, owners: IntArray) -> Contacts:
    """Everything about them; ``owners`` as ``Engine.owners``."""
    contact = data.contact
    geoms = np.array(contact.geom, np.int32).reshape(-1, 2)
    address = np.array(contact.efc_address, np.int64)
    # In an elliptic cone the first row of a contact is its normal force.
    forces = np.where(address >= 0, data.efc_force[np.maximum(address, 0)] if address.size else 0.0, 0.0)
    normals = np.array(contact.frame, np.float64).reshape(-1, 9)[:, :3]
    points = np.array(contact.pos, np.float64).reshape(-1, 3)
    return Contacts(geoms, owners[geoms], normals, points, forces)


def read_touching(data: mujoco.MjData, owners: IntArray) -> Touching:
    """Indices alone."""
    geoms = data.contact.geom
    return (geoms.tolist(), owners[geoms].tolist()) if len(geoms) else ([], [])


def deepest(data: mujoco.MjData, geom_bodyid: IntArray, body: int) -> float:
    """How deep a body is in others, metres."""
    contact = data.contact
    if not len(contact.geom):
        return 0.0
    own = (geom_bodyid[contact.geom] == body).any(axis=1)
    return float(np.max(-contact.dist[own], initial=0.0))
