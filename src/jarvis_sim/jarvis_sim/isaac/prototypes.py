"""One USD prototype for every part in one colour: looks and collision shape, shared by all bricks of that kind."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from jarvis_bricks.colours import ColourTable
from jarvis_bricks.geometry import Mesh
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.objects import Box
from jarvis_core.pose import Pose

from jarvis_sim.bricks import BrickItem
from jarvis_sim.isaac.config import PhysicsConfig, SurfaceConfig
from jarvis_sim.shapes import narrowed

try:
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, Vt
except ModuleNotFoundError as missing:
    raise MissingCapabilityError(
        "Universal Scene Description (pxr) is not installed",
        where="Isaac Sim scene",
        fix="pip install usd-core, or use Isaac Sim's own python.sh",
    ) from missing

#: A class prim: what lies below it is referenced, not drawn.
ROOT = "/prototypes"
#: Thinner boxes don't collide (a sticker).
_THINNEST_M = 2e-4
#: LDraw's code for "the brick's own colour".
_MAIN_COLOUR = 16


class Prototypes:
    """Makes prototypes on a stage, each once.

    Args:
        side_gap_m: collision boxes are narrower by this much on each side.
    """

    def __init__(
        self,
        stage: Usd.Stage,
        colours: ColourTable,
        side_gap_m: float,
        physics: PhysicsConfig,
        surface: SurfaceConfig,
    ) -> None:
        self._stage = stage
        self._colours = colours
        self._gap = side_gap_m
        self._physics = physics
        self._surface = surface
        stage.CreateClassPrim(ROOT)

    def of(self, item: BrickItem) -> Sdf.Path:
        """Path of the prototype of a brick's part and colour."""
        path = Sdf.Path(ROOT).AppendChild(identifier(f"part_{item.geometry.part}_{item.colour}"))
        if not self._stage.GetPrimAtPath(path):
            UsdGeom.Xform.Define(self._stage, path)
            self._add_looks(path, item)
            self._add_collision(path, item)
        return path

    def _add_looks(self, path: Sdf.Path, item: BrickItem) -> None:
        mesh = item.geometry.low_poly
        for code in np.unique(mesh.colours).tolist():
            colour = item.colour if code == _MAIN_COLOUR else code
            paint = self._material(path.AppendChild(f"colour_{colour}"), colour)
            shape = add_mesh(self._stage, path.AppendChild(f"mesh_{code}"), *_triangles_of(mesh, code))
            red, green, blue, _ = self.rgba(colour)
            shape.CreateDisplayColorAttr(Vt.Vec3fArray([Gf.Vec3f(red, green, blue)]))
            UsdShade.MaterialBindingAPI.Apply(shape.GetPrim()).Bind(paint)

    def _add_collision(self, path: Sdf.Path, item: BrickItem) -> None:
        for number, box in enumerate(b for b in item.geometry.boxes if min(b.size_m) >= _THINNEST_M):
            add_collider(
                self._stage,
                path.AppendChild(f"collision_{number}"),
                narrowed(box, self._gap),
                self._physics,
                purpose=UsdGeom.Tokens.guide,
            )

    def rgba(self, code: int) -> tuple[float, float, float, float]:
        """Linear red, green, blue and opacity of an LDraw colour.

        Raises:
            BadInputError: no such colour.
        """
        colour = self._colours.get(code)
        red, green, blue = (linear(value / 255) for value in colour.rgb)
        return (red, green, blue, colour.alpha / 255)

    def _material(self, path: Sdf.Path, code: int) -> UsdShade.Material:
        existing = UsdShade.Material.Get(self._stage, path)
        return existing or add_material(self._stage, path, self.rgba(code), self._surface)


def identifier(name: str) -> str:
    """A name USD accepts for a prim."""
    words = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
    return words if words and not words[0].isdigit() else f"_{words}"


def linear(value: float) -> float:
    """An sRGB channel in [0, 1] as USD's materials want it (IEC 61966-2-1)."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def set_pose(prim: UsdGeom.Xformable, pose: Pose) -> None:
    """Translation and orientation of a prim in its parent's frame, in double precision."""
    x, y, z, w = pose.quaternion.tolist()
    prim.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*pose.position.tolist()))
    prim.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(w, x, y, z))


def add_mesh(
    stage: Usd.Stage, path: Sdf.Path, vertices: npt.NDArray[np.float32], triangles: npt.NDArray[np.int32]
) -> UsdGeom.Mesh:
    """A triangle mesh: (n, 3) vertices in metres, (m, 3) indices, counter-clockwise seen from outside."""
    mesh = UsdGeom.Mesh.Define(stage, path)
    points = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(vertices))
    mesh.CreatePointsAttr(points)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(triangles), 3))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(triangles).ravel()))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateDoubleSidedAttr(True)  # parts are open below
    mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(points))
    return mesh


def add_collider(
    stage: Usd.Stage,
    path: Sdf.Path,
    box: Box,
    physics: PhysicsConfig,
    *,
    purpose: str = UsdGeom.Tokens.default_,
) -> UsdGeom.Cube:
    """A box that others collide with; with purpose ``guide`` it isn't drawn."""
    cube = UsdGeom.Cube.Define(stage, path)
    cube.CreateSizeAttr(1.0)
    cube.CreateExtentAttr(Vt.Vec3fArray([Gf.Vec3f(-0.5), Gf.Vec3f(0.5)]))
    set_pose(cube, box.pose)
    cube.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*box.size_m))
    cube.CreatePurposeAttr(purpose)
    prim = cube.GetPrim()
    UsdPhysics.CollisionAPI.Apply(prim)
    # PhysX's own schemas are not part of usd-core, so that they are written by name.
    prim.AddAppliedSchema("PhysxCollisionAPI")
    for name, value in (("contactOffset", physics.contact_offset_m), ("restOffset", physics.rest_offset_m)):
        prim.CreateAttribute(f"physxCollision:{name}", Sdf.ValueTypeNames.Float, custom=False).Set(value)
    return cube


def add_material(
    stage: Usd.Stage, path: Sdf.Path, rgba: tuple[float, float, float, float], surface: SurfaceConfig
) -> UsdShade.Material:
    """A plain coloured surface."""
    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, path.AppendChild("shader"))
    shader.CreateIdAttr("UsdPreviewSurface")
    inputs = (
        ("diffuseColor", Sdf.ValueTypeNames.Color3f, Gf.Vec3f(*rgba[:3])),
        ("opacity", Sdf.ValueTypeNames.Float, rgba[3]),
        ("roughness", Sdf.ValueTypeNames.Float, surface.roughness),
        ("metallic", Sdf.ValueTypeNames.Float, surface.metallic),
    )
    for name, kind, value in inputs:
        shader.CreateInput(name, kind).Set(value)
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


def _triangles_of(mesh: Mesh, code: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Vertices and triangles of one colour."""
    used, index = np.unique(mesh.triangles[mesh.colours == code], return_inverse=True)
    return mesh.vertices[used], index.reshape(-1, 3).astype(np.int32)
