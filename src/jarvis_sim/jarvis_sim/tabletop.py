"""Table, studded plate and the room around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import mujoco
import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_PITCH_M, STUD_RADIUS_M
from jarvis_core.cell import CellConfig, PlateConfig
from jarvis_core.objects import GROUND, Box
from jarvis_core.pose import FloatArray, Pose
from scipy.spatial.transform import Rotation

from jarvis_sim import textures
from jarvis_sim.config import ContactConfig, LooksConfig
from jarvis_sim.covering import covered
from jarvis_sim.engine import Engine, PassiveComponent
from jarvis_sim.shapes import (
    LOOKS_GROUP,
    SCENERY_GROUP,
    add_box,
    add_mesh,
    add_texture,
    material,
    to_mujoco,
)
from jarvis_sim.textures import Texture

_TABLE_THICKNESS_M = 0.03
_FLOOR_Z_M, _FLOOR_M = -0.75, 20.0
#: Table, plate and floor reach this far down where things touch them: what falls fast is deep in them within a step,
#: and is pushed out of the nearest face.
_SOLID_M = 0.4
#: Where light comes from: over the viewer's left shoulder, and weaker from the other side.
_KEY_LIGHT, _FILL_LIGHT = (-0.35, 0.45, -1.0), (0.5, -0.2, -0.8)
_STUD_SIDES = 8


class Tabletop(PassiveComponent):
    """Table, plate and the room around them. The plate is the body named GROUND; its frame is frame ``plate``.

    Args:
        covers: what hides studs of the plate for good, ``world``.
        variation: gives the generator that decides, at each reset, what ``looks.vary`` leaves to the seed.
    """

    name = "tabletop"

    def __init__(
        self,
        cell: CellConfig,
        contact: ContactConfig,
        looks: LooksConfig,
        covers: Sequence[Box],
        variation: Callable[[], np.random.Generator],
    ) -> None:
        self._covers = covers
        self._variation = variation
        self._cell = cell
        self._contact = contact
        self._looks = looks
        self._texture: Texture | None = None

    def build(self, spec: mujoco.MjSpec) -> None:
        _add_room(spec, self._looks)
        floor = Box(Pose((0.0, 0.0, _FLOOR_Z_M)), (_FLOOR_M, _FLOOR_M, 0.0))
        add_box(spec.worldbody.add_body(name="floor"), _deepened(floor), self._contact)
        x, y = self._cell.table.x, self._cell.table.y
        table = spec.worldbody.add_body(name="table")
        paint = material(spec, "table", (*self._looks.table_rgb, 1.0), shine=0.15)
        if self._looks.vary.texture > 0.0:
            add_texture(spec, paint, "table", textures.SIZE, max(x[1] - x[0], y[1] - y[0]))
        top = Box(
            Pose(((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, -_TABLE_THICKNESS_M / 2)),
            (x[1] - x[0], y[1] - y[0], _TABLE_THICKNESS_M),
        )
        self._add_slab(table, top, "table")
        plate = self._cell.plate
        body = spec.worldbody.add_body(name=GROUND, pos=plate.pose.position, quat=to_mujoco(plate.pose))
        size = (plate.studs[0] * STUD_PITCH_M, plate.studs[1] * STUD_PITCH_M, plate.thickness_m)
        material(spec, GROUND, (*self._looks.plate_rgb, 1.0), shine=0.3)
        self._add_slab(body, Box(Pose((0.0, 0.0, -plate.thickness_m / 2)), size), GROUND)
        studs = plate_studs(plate)
        axes = np.repeat(plate.pose.rotation[:, 2][None], len(studs), axis=0)
        studs = studs[~covered(plate.pose @ studs, axes, self._covers)]
        if len(studs):
            add_mesh(spec, "plate studs", *_stud_field(studs))
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH, meshname="plate studs", material=GROUND, group=LOOKS_GROUP,
                contype=0, conaffinity=0, mass=0.0,
            )  # fmt: skip

    def _add_slab(self, body: mujoco.MjsBody, slab: Box, paint: str) -> None:
        """A horizontal slab as it looks, and as things touch it."""
        look = add_box(body, slab, self._contact)
        look.group, look.material, look.contype, look.conaffinity = LOOKS_GROUP, paint, 0, 0
        add_box(body, _deepened(slab), self._contact)

    def bind(self, engine: Engine) -> None:
        self._engine = engine

    def reset(self) -> None:
        """Change lights and colours as far as the seed may; the engine put back the configured ones."""
        vary, model, rng = self._looks.vary, self._engine.model, self._variation()
        tilt = np.radians(vary.light_deg)
        for light in range(model.nlight):
            turn = Rotation.from_euler("xy", rng.uniform(-tilt, tilt, 2))
            model.light_dir[light] = turn.apply(model.light_dir[light])
            model.light_diffuse[light] *= 1.0 + rng.uniform(-vary.light_share, vary.light_share)
        for name in ("table", GROUND, "floor"):
            rgba = model.mat_rgba[model.material(name).id]
            rgba[:3] = np.clip(rgba[:3] + rng.uniform(-vary.colour, vary.colour, 3), 0.0, 1.0)
        if vary.texture > 0.0:
            self._paint(textures.choose(rng, vary.texture))

    def save(self) -> Any:
        return None if self._texture is None else msgspec.to_builtins(self._texture)

    def load(self, state: Any) -> None:
        if state is not None:
            self._paint(msgspec.convert(state, Texture))

    def _paint(self, texture: Texture) -> None:
        if texture != self._texture:
            self._texture = texture
            self._engine.paint("table", textures.pixels(texture))


def _deepened(slab: Box) -> Box:
    """The box under a slab's upper face."""
    x, y, z = slab.size_m
    return Box(slab.pose.translated((0.0, 0.0, (z - _SOLID_M) / 2)), (x, y, _SOLID_M))


def plate_studs(plate: PlateConfig) -> FloatArray:
    """(n, 3) feet of the plate's studs in frame ``plate``."""
    nx, ny = plate.studs
    x, y = np.meshgrid(
        (np.arange(nx) - (nx - 1) / 2) * STUD_PITCH_M,
        (np.arange(ny) - (ny - 1) / 2) * STUD_PITCH_M,
        indexing="ij",
    )
    return np.stack([x.ravel(), y.ravel(), np.zeros(nx * ny)], axis=1)


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
