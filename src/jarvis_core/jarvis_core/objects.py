"""Things on the table, without a word about what kind of thing they are."""

from __future__ import annotations

from typing import Literal

import msgspec

from jarvis_core.pose import Pose

#: Identifier of the fixed base that structures stand on, wherever a support or connection is named.
GROUND = "plate"

#: What states of objects are made of: a simulator's own, or what perception sees where no simulator is.
StateSource = Literal["true", "perceived"]


class Box(msgspec.Struct, frozen=True):
    """A cuboid: ``pose`` of its centre in the frame of its owner, full edge lengths ``size_m`` (x, y, z)."""

    pose: Pose
    size_m: tuple[float, float, float]


class RigidObject(msgspec.Struct, frozen=True):
    """One rigid thing with its shape and place.

    Attributes:
        id: unique in the episode.
        kind: what it is, e.g. an LDraw part number; equal kind and colour means interchangeable.
        colour: LDraw colour code.
        pose: of the object's frame in ``world``.
        boxes: collision shape in the object's frame, the largest (the one to grip) first.
        held: in the gripper.
        fixed: can't be moved (baked into the world).
    """

    id: str
    kind: str
    colour: int
    pose: Pose
    boxes: tuple[Box, ...]
    held: bool = False
    fixed: bool = False

    def world_boxes(self) -> tuple[Box, ...]:
        """The collision shape in ``world``."""
        return tuple(Box(self.pose @ box.pose, box.size_m) for box in self.boxes)


class Scene(msgspec.Struct, frozen=True):
    """All objects at one moment.

    Attributes:
        source: ``true`` (a simulator's own state: privileged) or ``perceived``.
        time_s: the clock of the cell.
    """

    time_s: float
    source: str
    objects: tuple[RigidObject, ...]

    def find(self, object_id: str) -> RigidObject | None:
        return next((o for o in self.objects if o.id == object_id), None)

    def ids(self) -> tuple[str, ...]:
        return tuple(o.id for o in self.objects)


class TargetObject(msgspec.Struct, frozen=True):
    """Where a required object should end. Ground truth: for the evaluator and declared oracles only.

    Attributes:
        object: the object at its target pose (``world``); its id is that of the loose object.
        support: id of the object it is meant to sit on, or GROUND.
        connections: ids of all objects (and GROUND) it should be connected to in the finished state.
        symmetries: unit quaternions (x, y, z, w) in the object's frame that map its shape onto itself; the
            identity is always one of them.
        step: the manual step it belongs to, from 1.
        symmetry_centre: (3,) metres, object frame: the point that all symmetries leave where it is (the middle
            of the body, which is not always the frame's origin).
    """

    object: RigidObject
    support: str
    connections: tuple[str, ...]
    symmetries: tuple[tuple[float, float, float, float], ...]
    step: int
    symmetry_centre: tuple[float, float, float] = (0.0, 0.0, 0.0)


class ObjectState(msgspec.Struct, frozen=True):
    """Pose of one object in ``world``, float64, and whether the gripper holds it."""

    id: str
    pose: Pose
    held: bool = False


class WorldState(msgspec.Struct, frozen=True):
    """What a score is computed from: every object's state and who is connected to whom.

    Attributes:
        connections: pairs (upper id, lower id or GROUND) joined by a working connection.
    """

    time_s: float
    objects: tuple[ObjectState, ...]
    connections: tuple[tuple[str, str], ...]


class ConnectionEvent(msgspec.Struct, frozen=True):
    """A connection made or broken, as a simulator declares it.

    Attributes:
        kind: ``engaged`` or ``released``.
        upper, lower: the two sides; ``lower`` may be GROUND.
        error_xy_m, error_z_m, error_yaw_rad: misalignment just before an engagement; 0 for a release.
        force_n: pressing force (engaged) or pulling force (released) that caused it.
        studs: number of studs involved.
    """

    time_s: float
    kind: str
    upper: str
    lower: str
    error_xy_m: float
    error_z_m: float
    error_yaw_rad: float
    force_n: float
    studs: int
