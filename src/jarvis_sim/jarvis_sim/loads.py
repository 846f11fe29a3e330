"""What a load does to a connection by studs: pulling, peeling, shearing.

Every engaged stud holds at most a pull along its axis and a shear across it, and yields there (a rigid-plastic
joint). A load then opens the connection in one of these ways, seen from the side::

         pull           peel about the edge e            shear
          ^                 ^
      +---|---+         +---|---+                     +-------+
      | studs |         |       |  <- lifts here      |       | -->
      +-o-o-o-+       e +-o-o-o-+                     +-o-o-o-+
                        ^ lever of each stud is its distance from e

Peeling about an edge needs the moment pull * sum(levers). A load in the middle lifts all studs at once whatever
the edge: a straight pull is the peeling case in which every edge is as good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import STUD_PITCH_M, STUD_RADIUS_M
from jarvis_core.pose import FloatArray

from jarvis_sim.connections import Point
from jarvis_sim.contacts import Contacts

#: Of a weld: (3,) newton in ``world`` that pull the upper body off, (3,) newton metres about its anchor, upper's frame.
Strain = tuple[FloatArray, FloatArray]


@dataclass(slots=True)
class Push:
    """Contact of an upper brick with another one.

    Attributes:
        along: newton along the upper one's z.
        force, torque: (3,) each, what the contact exerts on the upper one, about the origin of ``world``.
    """

    along: float
    force: FloatArray
    torque: FloatArray


#: By upper brick and by the one it touches.
Pushes = dict[str, dict[str, Push]]


@dataclass(frozen=True, slots=True)
class Load:
    """What pulls the upper part off the lower one.

    Attributes:
        force: (3,) newton in the upper part's frame; z is along the studs, positive apart.
        torque: (3,) newton metres about the middle of the engaged studs, same frame.
    """

    force: FloatArray
    torque: FloatArray


def read_pushes(
    contacts: Contacts,
    xmat: npt.NDArray[np.float64],
    names: Mapping[int, str],
    free: frozenset[str],
) -> Pushes:
    """How each free brick is pushed by each body with studs that it touches; friction is left out.

    Args:
        xmat: (nbody, 9) MuJoCo's orientations.
        names: of bricks, by what the contacts call them.
    """
    pushes: Pushes = {}
    forces = contacts.normals * contacts.forces[:, None]
    (x, y, z), (u, v, w) = contacts.points.T, forces.T
    torques = np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=1)
    for i, (first, second) in enumerate(contacts.bodies.tolist()):
        one, two = names.get(first), names.get(second)
        if one is None or two is None:
            continue
        for index, brick, other, sign in ((first, one, two, -1.0), (second, two, one, 1.0)):
            if brick in free:
                push = pushes.setdefault(brick, {}).setdefault(other, Push(0.0, np.zeros(3), np.zeros(3)))
                push.along += sign * float(forces[i] @ xmat[index, 2::3])
                push.force += sign * forces[i]
                push.torque += sign * torques[i]
    return pushes


def net_load(
    points: FloatArray,
    pulls: Sequence[tuple[Point, FloatArray, FloatArray]],
    pushes: Sequence[Push],
    origin: FloatArray,
    turn: FloatArray,
) -> Load:
    """What pulls a brick off what is below it: what its welds hold, less what the contacts push.

    Args:
        points: (n, 3) its engaged studs, brick's frame.
        pulls: anchor and strain of each weld; pushes: contacts with the bodies below.
        origin, turn: of the brick's frame in ``world``, (3,) and (3, 3).
    """
    centre = points.mean(axis=0)
    middle = origin + turn @ centre
    force, torque = np.zeros(3), np.zeros(3)
    for anchor, pull, moment in pulls:
        local = turn.T @ pull
        force += local
        torque += moment + _cross(np.array(anchor) - centre, local)
    for push in pushes:
        force -= turn.T @ push.force
        torque -= turn.T @ (push.torque - _cross(middle, push.force))
    return Load(force, torque)


def opening_share(load: Load, points: FloatArray, pull_n: float, shear_n: float, *, peel: bool) -> float:
    """How near a load is to opening a connection: 1 opens it.

    Args:
        points: (n, 3) engaged studs in the upper part's frame.
        pull_n, shear_n: what one stud holds along its axis and across it.
        peel: whether moments and shear count; else the pull alone does.
    """
    if not peel:
        return float(load.force[2]) / (pull_n * len(points))
    x, y = (points[:, :2] - points[:, :2].mean(axis=0)).T
    axial, half = float(load.force[2]), STUD_PITCH_M / 2
    torque_x, torque_y, torque_z = load.torque.tolist()
    peeling = max(
        (lever * axial + moment) / (pull_n * float(levers.sum()))
        for lever, moment, levers in (
            (x.max() + half, torque_y, x.max() + half - x),
            (half - x.min(), -torque_y, x + half - x.min()),
            (y.max() + half, -torque_x, y.max() + half - y),
            (half - y.min(), torque_x, y + half - y.min()),
        )
    )
    # A single stud turns in its opening: what holds it then is friction all around it.
    radii = np.maximum(np.hypot(x, y), STUD_RADIUS_M)
    across = float(np.hypot(load.force[0], load.force[1]))
    shearing = across / (shear_n * len(points)) + abs(torque_z) / (shear_n * float(radii.sum()))
    share: float = max(peeling, shearing)
    return share


def _cross(first: FloatArray, second: FloatArray) -> FloatArray:
    """Of two vectors; numpy's takes ten times as long over it."""
    (x, y, z), (u, v, w) = first.tolist(), second.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))
