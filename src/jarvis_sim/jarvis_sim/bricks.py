"""The tabletop with its studded plate, and the bricks on it.

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
from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_PITCH_M, STUD_RADIUS_M, Mesh, PartGeometry
from jarvis_core.cell import CellConfig, PlateConfig
from jarvis_core.objects import GROUND, Box
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.config import BrickConfig, ContactConfig, LooksConfig
from jarvis_sim.engine import Engine, PassiveComponent

#: Collision bits: things on the table meet each other and the robot; the robot doesn't meet itself.
THINGS, ROBOT = 1, 2
#: Geom groups: collision shapes are hidden, looks are drawn everywhere, scenery only in pictures for people.
COLLISION_GROUP, LOOKS_GROUP, SCENERY_GROUP = 3, 2, 1

Rgba = tuple[float, float, float, float]

_TABLE_THICKNESS_M = 0.03
#: Thinner things don't collide.
_THINNEST_M = 2e-4
_FLOOR_Z_M = -0.75
#: Where light comes from: over the viewer's left shoulder, and weaker from the other side.
_KEY_LIGHT, _FILL_LIGHT = (-0.35, 0.45, -1.0), (0.5, -0.2, -0.8)
_STUD_SIDES = 8
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


class Tabletop(PassiveComponent):
    """Table, plate and the room around them. The plate is the body named GROUND; its frame is frame ``plate``."""

    name = "tabletop"

    def __init__(self, cell: CellConfig, contact: ContactConfig, looks: LooksConfig) -> None:
        self._cell = cell
        self._contact = contact
        self._looks = looks

    def build(self, spec: mujoco.MjSpec) -> None:
        _add_room(spec, self._looks)
        x, y = self._cell.table.x, self._cell.table.y
        table = spec.worldbody.add_body(name="table")
        material(spec, "table", (*self._looks.table_rgb, 1.0), shine=0.15)
        top = Box(
            Pose(((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, -_TABLE_THICKNESS_M / 2)),
            (x[1] - x[0], y[1] - y[0], _TABLE_THICKNESS_M),
        )
        shape = add_box(table, top, self._contact)
        shape.group, shape.material = LOOKS_GROUP, "table"
        plate = self._cell.plate
        body = spec.worldbody.add_body(name=GROUND, pos=plate.pose.position, quat=to_mujoco(plate.pose))
        size = (plate.studs[0] * STUD_PITCH_M, plate.studs[1] * STUD_PITCH_M, plate.thickness_m)
        material(spec, GROUND, (*self._looks.plate_rgb, 1.0), shine=0.3)
        shape = add_box(body, Box(Pose((0.0, 0.0, -plate.thickness_m / 2)), size), self._contact)
        shape.group, shape.material = LOOKS_GROUP, GROUND
        vertices, triangles = _stud_field(plate_studs(plate))
        _add_mesh(spec, "plate studs", vertices, triangles)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH, meshname="plate studs", material=GROUND, group=LOOKS_GROUP,
            contype=0, conaffinity=0, mass=0.0,
        )  # fmt: skip

    def bind(self, engine: Engine) -> None:
        """Nothing moves here."""


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

    def set_initial(self, poses: dict[str, Pose]) -> None:
        """Poses of the free bricks after the next reset, ``world``."""
        self._initial = {item.id: poses[item.id] for item in self.free}

    def build(self, spec: mujoco.MjSpec) -> None:
        for item in self.baked:
            self._add_shape(spec, spec.worldbody, item, item.pose)
        for item in self.free:
            body = spec.worldbody.add_body(name=item.id)
            body.add_freejoint(name=item.id)
            _set_inertia(body, item.geometry, self._config)
            self._add_shape(spec, body, item, Pose())

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
        """Present pose of a brick's part frame, ``world``."""
        address = self._qpos.get(brick)
        if address is None:
            return self._fixed[brick]
        x, y, z, qw, qx, qy, qz = self._engine.data.qpos[address : address + 7]
        return Pose((x, y, z), (qx, qy, qz, qw))

    def move(self, brick: str, pose: Pose) -> None:
        """Put a free brick somewhere, at rest."""
        address, velocity = self._qpos[brick], self._qvel[brick]
        self._engine.data.qpos[address : address + 7] = (*pose.position, *to_mujoco(pose))
        self._engine.data.qvel[velocity : velocity + 6] = 0.0
        self._engine.moved()

    def _add_shape(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, item: BrickItem, pose: Pose) -> None:
        """Collision boxes and looks of a brick that stands at ``pose`` in the body's frame."""
        numbers = count()
        for box in item.geometry.boxes:
            if min(box.size_m) < _THINNEST_M:
                continue  # a sticker: nothing to bump into
            box = narrowed(box, self._config.side_gap_m)
            geom = add_box(body, Box(pose @ box.pose, box.size_m), self._config.contact)
            geom.name = f"{item.id} {next(numbers)}"
        for code in np.unique(item.geometry.low_poly.colours).tolist():
            name = f"part {item.geometry.part} {code}"
            if spec.mesh(name) is None:
                _add_mesh(spec, name, *_triangles_of(item.geometry.low_poly, code))
            colour = item.colour if code == _MAIN_COLOUR else code
            paint = f"colour {colour}"
            if spec.material(paint) is None:
                material(spec, paint, self._rgba(colour), shine=0.4)
            body.add_geom(
                name=f"{item.id} {next(numbers)}", type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=paint,
                pos=pose.position, quat=to_mujoco(pose), group=LOOKS_GROUP, contype=0, conaffinity=0, mass=0.0,
            )  # fmt: skip


def plate_studs(plate: PlateConfig) -> FloatArray:
    """(n, 3) feet of the plate's studs in frame ``plate``."""
    nx, ny = plate.studs
    x, y = np.meshgrid(
        (np.arange(nx) - (nx - 1) / 2) * STUD_PITCH_M,
        (np.arange(ny) - (ny - 1) / 2) * STUD_PITCH_M,
        indexing="ij",
    )
    return np.stack([x.ravel(), y.ravel(), np.zeros(nx * ny)], axis=1)


def narrowed(box: Box, gap_m: float) -> Box:
    """The box, smaller by ``gap_m`` on each side; top and bottom stay."""
    up = int(np.argmax(np.abs(box.pose.rotation[2])))
    x, y, z = (
        size if axis == up else max(size - 2 * gap_m, size / 2) for axis, size in enumerate(box.size_m)
    )
    return Box(box.pose, (x, y, z))


def to_mujoco(pose: Pose) -> tuple[float, float, float, float]:
    """The quaternion in MuJoCo's order w, x, y, z."""
    x, y, z, w = pose.quaternion.tolist()
    return (w, x, y, z)


def add_box(body: mujoco.MjsBody, box: Box, contact: ContactConfig, bits: int = THINGS) -> mujoco.MjsGeom:
    """Add a collision box to a body of the model."""
    return body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=box.pose.position,
        quat=to_mujoco(box.pose),
        size=[edge / 2 for edge in box.size_m],
        group=COLLISION_GROUP,
        mass=0.0,
        **surface(contact, bits),
    )


def surface(contact: ContactConfig, bits: int = THINGS) -> dict[str, object]:
    """A geom's contact attributes. The robot (ROBOT) meets things, but not itself."""
    return {
        "contype": bits,
        "conaffinity": THINGS | ROBOT if bits == THINGS else 0,
        "condim": contact.condim,
        "friction": [contact.friction, 0.005, 0.0001],
        "solref": list(contact.solref),
        "solimp": [*contact.solimp, 0.5, 2.0],
    }


def material(spec: mujoco.MjSpec, name: str, rgba: Rgba, *, shine: float) -> None:
    spec.add_material(name=name, rgba=rgba, specular=shine, shininess=0.5, emission=0.0, reflectance=0.0)


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


def _add_mesh(
    spec: mujoco.MjSpec, name: str, vertices: npt.NDArray[np.float32], triangles: npt.NDArray[np.int32]
) -> None:
    spec.add_mesh(
        name=name,
        uservert=vertices.astype(np.float64).ravel(),
        userface=triangles.ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # open surfaces have no volume
    )


def _stud_field(feet: FloatArray) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """One mesh of all studs of the plate: eight-sided prisms without a bottom."""
    angle = (np.arange(_STUD_SIDES) + 0.5) * 2 * np.pi / _STUD_SIDES
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * STUD_RADIUS_M
    bottom = np.column_stack([ring, np.zeros(_STUD_SIDES)])
    prism = np.concatenate([bottom, bottom + [0.0, 0.0, STUD_HEIGHT_M]])
    i = np.arange(_STUD_SIDES)
    j = (i + 1) % _STUD_SIDES
    sides = np.concatenate(
        [np.stack([i, j, j + _STUD_SIDES], 1), np.stack([i, j + _STUD_SIDES, i + _STUD_SIDES], 1)]
    )
    fan = np.arange(1, _STUD_SIDES - 1)
    top = np.stack([np.zeros_like(fan), fan, fan + 1], axis=1) + _STUD_SIDES
    faces = np.concatenate([sides, top])
    vertices = (feet[:, None, :] + prism[None]).reshape(-1, 3)
    triangles = (faces[None] + (np.arange(len(feet)) * len(prism))[:, None, None]).reshape(-1, 3)
    return vertices.astype(np.float32), triangles.astype(np.int32)


def _add_room(spec: mujoco.MjSpec, looks: LooksConfig) -> None:
    """Lights for all cameras; floor and sky that only pictures for people show."""
    world = spec.worldbody
    for direction, strength, shadow in ((_KEY_LIGHT, 0.50, True), (_FILL_LIGHT, 0.18, False)):
        world.add_light(
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
            pos=[0.4 - 2 * direction[0], -2 * direction[1], -2 * direction[2]],
            dir=list(direction),
            diffuse=[strength] * 3,
            specular=[strength / 3] * 3,
            ambient=[0.0, 0.0, 0.0],
            castshadow=shadow,
        )
    spec.visual.headlight.ambient = [0.34, 0.34, 0.36]
    spec.visual.headlight.diffuse = [0.10, 0.10, 0.10]
    spec.visual.headlight.specular = [0.0, 0.0, 0.0]
    spec.visual.map.znear = 0.01
    spec.visual.map.zfar = 10.0
    spec.visual.map.shadowclip = 1.2
    spec.stat.extent = 1.0
    spec.stat.center = [0.4, 0.0, 0.0]
    material(spec, "floor", (*looks.floor_rgb, 1.0), shine=0.0)
    world.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[8.0, 8.0, 0.1],
        pos=[0.4, 0.0, _FLOOR_Z_M],
        material="floor",
        group=SCENERY_GROUP,
        contype=0,
        conaffinity=0,
    )
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        width=64,
        height=384,
        rgb1=list(looks.sky_rgb),
        rgb2=list(looks.floor_rgb),
    )
