"""The bricks: baked into the world, or free bodies.

Baked bricks are shapes of the world itself: hundreds of fixed bodies would cost more time than everything else. Which
shapes are whose is known by their names. Free bricks have a body each, whose frame is the part's.

Declared simplification: studs are drawn, but don't collide. What they do to each other is declared physics, the
stud clutch (clutch.py); a brick that lies on studs without engaging them lies on the surface below them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import mujoco
import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import Mesh, PartGeometry
from jarvis_core.objects import Box
from jarvis_core.pose import Pose

from jarvis_sim.config import BrickConfig
from jarvis_sim.covering import covered, without_studs
from jarvis_sim.engine import Engine, PassiveComponent
from jarvis_sim.shapes import LOOKS_GROUP, Rgba, add_box, add_mesh, material, narrowed, to_mujoco

#: Thinner things don't collide.
_THINNEST_M = 2e-4
#: LDraw's code for "the brick's own colour".
_MAIN_COLOUR = 16


@dataclass(frozen=True, slots=True)
class BrickItem:
    """One brick to put into the world.

    Attributes:
        id: also the name of its body, if it is free.
        pose: of the part frame in ``world``: where the task has it stand (for a loose brick: its target).
    """

    id: str
    geometry: PartGeometry
    colour: int
    pose: Pose


class Bricks(PassiveComponent):
    """Baked and free bricks.

    Attributes:
        baked, free: as given.
        bodies: what ``Engine.owners`` calls each brick, by id; for a free brick the index of its body.
    """

    name = "bricks"

    def __init__(
        self,
        baked: Sequence[BrickItem],
        free: Sequence[BrickItem],
        config: BrickConfig,
        rgba: Callable[[int], Rgba],
    ) -> None:
        self.baked = tuple(baked)
        self.free = tuple(free)
        self.bodies: dict[str, int] = {}
        self._config = config
        self._rgba = rgba
        self._initial: dict[str, Pose] = {}
        self._fixed = {item.id: item.pose for item in self.baked}
        self._qpos: dict[str, int] = {}
        self._qvel: dict[str, int] = {}
        self._last: dict[str, tuple[bytes, Pose]] = {}

    def set_initial(self, poses: dict[str, Pose]) -> None:
        """Poses of the free bricks after the next reset, ``world``."""
        self._initial = {item.id: poses[item.id] for item in self.free}

    def build(self, spec: mujoco.MjSpec) -> None:
        covers = self.covers()
        for item in self.baked:
            studs = item.geometry.studs
            hidden = covered(item.pose @ studs.positions, studs.axes @ item.pose.rotation.T, covers)
            self._add_shape(spec, spec.worldbody, item, item.pose, hidden)
        for item in self.free:
            body = spec.worldbody.add_body(name=item.id)
            body.add_freejoint(name=item.id)
            _set_inertia(body, item.geometry, self._config)
            self._add_shape(spec, body, item, Pose(), np.zeros(len(item.geometry.studs), bool))

    def covers(self) -> list[Box]:
        """All that hides what is under it for good: bodies of opaque baked bricks, ``world``."""
        opaque = [item for item in self.baked if self._rgba(item.colour)[3] >= 1.0]
        return [Box(i.pose @ box.pose, box.size_m) for i in opaque for box in i.geometry.body_boxes]

    def bind(self, engine: Engine) -> None:
        self._engine = engine
        model = engine.model
        for number, item in enumerate(self.baked, start=model.nbody):
            self.bodies[item.id] = number
        for geom in range(model.body_geomadr[0], model.body_geomadr[0] + model.body_geomnum[0]):
            brick = model.geom(geom).name.rpartition(" ")[0]
            engine.owners[geom] = self.bodies.get(brick, 0)
        for item in self.free:
            self.bodies[item.id] = engine.body(item.id)
            joint = model.joint(item.id)
            self._qpos[item.id], self._qvel[item.id] = int(joint.qposadr[0]), int(joint.dofadr[0])

    def reset(self) -> None:
        for brick, pose in self._initial.items():
            self.move(brick, pose)

    def pose(self, brick: str) -> Pose:
        """Present pose of a brick's part frame, ``world``; the same object as last time if it has not moved."""
        address = self._qpos.get(brick)
        if address is None:
            return self._fixed[brick]
        numbers = self._engine.data.qpos[address : address + 7]
        raw, last = numbers.tobytes(), self._last.get(brick)
        if last is not None and last[0] == raw:
            return last[1]
        x, y, z, qw, qx, qy, qz = numbers.tolist()
        pose = Pose((x, y, z), (qx, qy, qz, qw))
        self._last[brick] = (raw, pose)
        return pose

    def move(self, brick: str, pose: Pose) -> None:
        """Put a free brick somewhere, at rest."""
        address, velocity = self._qpos[brick], self._qvel[brick]
        self._engine.data.qpos[address : address + 7] = (*pose.position, *to_mujoco(pose))
        self._engine.data.qvel[velocity : velocity + 6] = 0.0
        self._engine.moved()

    def throw(self, brick: str, velocity_m_s: tuple[float, float, float]) -> None:
        """Give a free brick a velocity, ``world``."""
        self._engine.data.qvel[self._qvel[brick] : self._qvel[brick] + 3] = velocity_m_s
        self._engine.sleep.wake(self.bodies[brick])

    def is_away(self, brick: str) -> bool:
        """Whether a brick was taken away."""
        return brick in self._qpos and bool(self._engine.model.body_gravcomp[self.bodies[brick]] > 0.0)

    def set_away(self, brick: str) -> int:
        """Let a free brick be weightless; gives the number of those that already were."""
        already = sum(self.is_away(item.id) for item in self.free)
        self._engine.model.body_gravcomp[self.bodies[brick]] = 1.0
        return already

    def _add_shape(
        self,
        spec: mujoco.MjSpec,
        body: mujoco.MjsBody,
        item: BrickItem,
        pose: Pose,
        hidden: npt.NDArray[np.bool_],
    ) -> None:
        """Collision boxes and looks of a brick that stands at ``pose`` in the body's frame.

        Args:
            hidden: (n,) which of its studs are not drawn.
        """
        numbers = count()
        for box in item.geometry.boxes:
            if min(box.size_m) < _THINNEST_M:
                continue  # a sticker: nothing to bump into
            box = narrowed(box, self._config.side_gap_m)
            geom = add_box(body, Box(pose @ box.pose, box.size_m), self._config.contact)
            geom.name = f"{item.id} {next(numbers)}"
        mesh = item.geometry.low_poly
        for code in np.unique(mesh.colours).tolist():
            name = f"part {item.geometry.part} {code} {np.packbits(hidden).tobytes().hex() if hidden.any() else ''}"
            if spec.mesh(name) is None:
                seen = without_studs(mesh, item.geometry.studs, hidden) if hidden.any() else mesh
                if not (seen.colours == code).any():
                    continue
                add_mesh(spec, name, *_triangles_of(seen, code))
            colour = item.colour if code == _MAIN_COLOUR else code
            paint = f"colour {colour}"
            if spec.material(paint) is None:
                material(spec, paint, self._rgba(colour), shine=0.4)
            body.add_geom(
                name=f"{item.id} {next(numbers)}", type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=paint,
                pos=pose.position, quat=to_mujoco(pose), group=LOOKS_GROUP, contype=0, conaffinity=0, mass=0.0,
            )  # fmt: skip


def _set_inertia(body: mujoco.MjsBody, geometry: PartGeometry, config: BrickConfig) -> None:
    """Mass properties of a solid cuboid of the part's bounds and mass, with floors."""
    low, high = geometry.bounds
    mass = max(geometry.mass_kg, config.mass_floor_kg)
    x, y, z = (high - low) ** 2
    inertia = np.array([y + z, x + z, x + y]) * mass / 12
    body.explicitinertial = True
    body.mass = mass
    body.ipos = (low + high) / 2
    body.inertia = np.maximum(inertia, config.inertia_floor_kg_m2)


def _triangles_of(mesh: Mesh, code: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Vertices and triangles of one colour."""
    used, index = np.unique(mesh.triangles[mesh.colours == code], return_inverse=True)
    return mesh.vertices[used], index.reshape(-1, 3).astype(np.int32)
