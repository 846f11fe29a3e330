"""Shapes, surfaces and materials, as the engine's model wants them."""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt
from jarvis_core.objects import Box
from jarvis_core.pose import Pose

from jarvis_sim.config import ContactConfig

#: Collision bits: things on the table meet each other and the robot; the robot doesn't meet itself.
THINGS, ROBOT = 1, 2
#: Geom groups: collision shapes are hidden, looks are drawn everywhere, scenery only in pictures for people; the
#: robot's looks are left out where none of it is in view.
COLLISION_GROUP, LOOKS_GROUP, SCENERY_GROUP, ROBOT_LOOKS_GROUP = 3, 2, 1, 4

Rgba = tuple[float, float, float, float]


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


def material(spec: mujoco.MjSpec, name: str, rgba: Rgba, *, shine: float) -> mujoco.MjsMaterial:
    return spec.add_material(
        name=name, rgba=rgba, specular=shine, shininess=0.5, emission=0.0, reflectance=0.0
    )


def add_texture(
    spec: mujoco.MjSpec, paint: mujoco.MjsMaterial, name: str, pixels: int, size_m: float
) -> None:
    """Cover a material with a square texture, white until ``Engine.paint`` changes it; it repeats every ``size_m``."""
    spec.add_texture(
        name=name,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        width=pixels,
        height=pixels,
        nchannel=3,
        rgb1=[1.0] * 3,
    )
    paint.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    paint.texuniform, paint.texrepeat = True, [1.0 / size_m] * 2


def add_mesh(
    spec: mujoco.MjSpec, name: str, vertices: npt.NDArray[np.float32], triangles: npt.NDArray[np.int32]
) -> None:
    spec.add_mesh(
        name=name,
        uservert=vertices.astype(np.float64).ravel(),
        userface=triangles.ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # open surfaces have no volume
    )
