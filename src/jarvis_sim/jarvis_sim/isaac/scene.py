"""The cell as a USD stage: table, studded plate, structure, loose bricks, cameras, lights, a place for the robot.

::

    /prototypes/part_3001_4     looks and collision boxes of one part in one colour (a class: not drawn itself)
    /World/physics              gravity and time step
    /World/table, plate         static colliders; the plate's studs are one point instancer
    /World/structure/ID         instances, static
    /World/bricks/ID            instances, rigid bodies with the masses of the embedded simulator
    /World/robot                the robot's asset as a payload, where its address is given
    /World/robot/panda_hand/gripper_camera
    /World/cameras/top, overview
    /World/lights/...

Metres, z up, kilograms; frame ``world`` is the stage's. The same task and seed give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_PITCH_M, STUD_RADIUS_M
from jarvis_core.cell import CameraConfig, CellConfig
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_text
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_tasks.task import Task

from jarvis_sim.bricks import BrickItem
from jarvis_sim.config import BrickConfig, SimConfig
from jarvis_sim.isaac.config import IsaacConfig, LightConfig
from jarvis_sim.isaac.placement import Placement, place
from jarvis_sim.isaac.prototypes import Prototypes, add_collider, add_material, identifier, linear, set_pose
from jarvis_sim.tabletop import plate_studs

from pxr import Gf, Sdf, Usd, UsdGeom, UsdLux, UsdPhysics, UsdShade, Vt  # isort: skip - prototypes says if it is absent

WORLD = Sdf.Path("/World")
ROBOT = WORLD.AppendChild("robot")
BRICKS = WORLD.AppendChild("bricks")
STRUCTURE = WORLD.AppendChild("structure")
CAMERAS = WORLD.AppendChild("cameras")
PLATE = WORLD.AppendChild("plate")

_GRAVITY_M_S2 = 9.81
_TABLE_THICKNESS_M = 0.03
#: Optical frames have y down and look along +z, USD's cameras have y up and look along -z.
_FLIP = np.diag([1.0, -1.0, -1.0])
_PLASTIC = WORLD.AppendPath("looks/plastic")


def write_scene(
    out: Path,
    task: Task,
    cell: CellConfig,
    sim: SimConfig,
    isaac: IsaacConfig,
    catalogue: PartCatalogue,
    seed: int,
    *,
    robot_usd: str = "",
) -> Placement:
    """Write a task's cell as a ``.usda`` file, whole or not at all; gives where the bricks stand.

    Args:
        robot_usd: full address of the robot's asset; empty: the place of the robot stays empty.

    Raises:
        BadInputError: another suffix, an unknown part or colour.
        RefusedError: a part that can't be simulated loose, or no free table space.
    """
    if out.suffix != ".usda":
        raise BadInputError(
            "the scene is written as .usda", where=str(out), fix="name a file that ends in .usda"
        )
    placement = place(task, cell, sim.layout, catalogue, seed)
    stage = make_stage(placement, cell, sim, isaac, catalogue, robot_usd=robot_usd)
    stage.GetRootLayer().documentation = f"task {task.id}, seed {seed}"
    write_text(out, stage.GetRootLayer().ExportToString())
    return placement


def make_stage(
    placement: Placement,
    cell: CellConfig,
    sim: SimConfig,
    isaac: IsaacConfig,
    catalogue: PartCatalogue,
    *,
    robot_usd: str = "",
) -> Usd.Stage:
    """The stage, in memory."""
    # Payloads stay closed: the robot's asset may lie where only Isaac Sim can read.
    stage = Usd.Stage.CreateInMemory(load=Usd.Stage.LoadNone)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, WORLD).GetPrim())
    _add_physics(stage, sim, isaac)
    _add_tabletop(stage, cell, sim, isaac)
    _add_bricks(stage, placement, sim.bricks, isaac, catalogue)
    robot = UsdGeom.Xform.Define(stage, ROBOT).GetPrim()
    if robot_usd:
        robot.GetPayloads().AddPayload(robot_usd)
    UsdGeom.Scope.Define(stage, CAMERAS)
    for name, camera in (
        ("top", cell.top_camera), ("overview", cell.overview_camera), ("gripper", cell.gripper_camera),
    ):  # fmt: skip
        _add_camera(stage, camera_path(name, isaac), camera, isaac)
    _add_lights(stage, isaac.lights, isaac.dome_intensity)
    return stage


def camera_path(name: str, isaac: IsaacConfig) -> Sdf.Path:
    """Prim path of a camera; the gripper's hangs on the hand of the robot's asset and moves with it."""
    hand = ROBOT.AppendChild(isaac.robot_links.hand)
    return hand.AppendChild("gripper_camera") if name == "gripper" else CAMERAS.AppendChild(name)


def brick_paths(placement: Placement) -> dict[str, str]:
    """Prim path of every brick, by id.

    Raises:
        BadInputError: two ids that differ only in what USD does not allow in names.
    """
    paths: dict[str, str] = {}
    for folder, items in ((STRUCTURE, placement.fixed), (BRICKS, placement.loose)):
        for item in items:
            paths[item.id] = str(folder.AppendChild(identifier(item.id)))
    if len(set(paths.values())) < len(paths):
        raise BadInputError(
            "two bricks get the same prim name",
            where="Isaac Sim scene",
            fix="give bricks ids of letters, digits and _",
        )
    return paths


def _add_physics(stage: Usd.Stage, sim: SimConfig, isaac: IsaacConfig) -> None:
    scene = UsdPhysics.Scene.Define(stage, WORLD.AppendChild("physics"))
    scene.CreateGravityDirectionAttr(Gf.Vec3f(0.0, 0.0, -1.0))
    scene.CreateGravityMagnitudeAttr(_GRAVITY_M_S2)
    prim = scene.GetPrim()
    prim.AddAppliedSchema("PhysxSceneAPI")
    rate = prim.CreateAttribute("physxScene:timeStepsPerSecond", Sdf.ValueTypeNames.UInt, custom=False)
    rate.Set(round(1.0 / isaac.physics.timestep_s))
    UsdGeom.Scope.Define(stage, _PLASTIC.GetParentPath())
    plastic = UsdPhysics.MaterialAPI.Apply(UsdShade.Material.Define(stage, _PLASTIC).GetPrim())
    plastic.CreateStaticFrictionAttr(sim.bricks.contact.friction)
    plastic.CreateDynamicFrictionAttr(sim.bricks.contact.friction)
    plastic.CreateRestitutionAttr(isaac.physics.restitution)


def _add_tabletop(stage: Usd.Stage, cell: CellConfig, sim: SimConfig, isaac: IsaacConfig) -> None:
    x, y = cell.table.x, cell.table.y
    top = Box(
        Pose(((x[0] + x[1]) / 2, (y[0] + y[1]) / 2, -_TABLE_THICKNESS_M / 2)),
        (x[1] - x[0], y[1] - y[0], _TABLE_THICKNESS_M),
    )
    table = add_collider(stage, WORLD.AppendChild("table"), top, isaac.physics)
    plate = UsdGeom.Xform.Define(stage, PLATE)
    set_pose(plate, cell.plate.pose)
    nx, ny = cell.plate.studs
    thickness = cell.plate.thickness_m
    slab = Box(Pose((0.0, 0.0, -thickness / 2)), (nx * STUD_PITCH_M, ny * STUD_PITCH_M, thickness))
    add_collider(stage, PLATE.AppendChild("slab"), slab, isaac.physics)
    _add_studs(stage, PLATE.AppendChild("studs"), cell)
    for name, prim, rgb in (
        ("table", table.GetPrim(), sim.looks.table_rgb),
        ("plate", plate.GetPrim(), sim.looks.plate_rgb),
    ):
        red, green, blue = map(linear, rgb)
        path = _PLASTIC.GetParentPath().AppendChild(name)
        paint = add_material(stage, path, (red, green, blue, 1.0), isaac.surface)
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(paint)
        _bind_plastic(stage, prim)


def _add_studs(stage: Usd.Stage, path: Sdf.Path, cell: CellConfig) -> None:
    """The plate's studs, for the eye only: what they do is the stud clutch."""
    studs = UsdGeom.PointInstancer.Define(stage, path)
    stud = UsdGeom.Cylinder.Define(stage, path.AppendChild("stud"))
    stud.CreateAxisAttr(UsdGeom.Tokens.z)
    stud.CreateRadiusAttr(STUD_RADIUS_M)
    stud.CreateHeightAttr(STUD_HEIGHT_M)
    extent = Gf.Vec3f(STUD_RADIUS_M, STUD_RADIUS_M, STUD_HEIGHT_M / 2)
    stud.CreateExtentAttr(Vt.Vec3fArray([-extent, extent]))
    feet = plate_studs(cell.plate) + np.array([0.0, 0.0, STUD_HEIGHT_M / 2])
    studs.CreatePrototypesRel().AddTarget(stud.GetPath())
    studs.CreateProtoIndicesAttr(Vt.IntArray(len(feet), 0))
    studs.CreatePositionsAttr(Vt.Vec3fArray.FromNumpy(feet.astype(np.float32)))


def _add_bricks(
    stage: Usd.Stage, placement: Placement, config: BrickConfig, isaac: IsaacConfig, catalogue: PartCatalogue
) -> None:
    paths = brick_paths(placement)
    prototypes = Prototypes(stage, catalogue.colours, config.side_gap_m, isaac.physics, isaac.surface)
    for folder in (STRUCTURE, BRICKS):
        UsdGeom.Scope.Define(stage, folder)
    for item in placement.items:
        brick = UsdGeom.Xform.Define(stage, paths[item.id])
        prim = brick.GetPrim()
        prim.GetReferences().AddInternalReference(prototypes.of(item))
        prim.SetInstanceable(True)
        prim.SetCustomDataByKey("jarvis:id", item.id)
        set_pose(brick, item.pose)
        _bind_plastic(stage, prim)
    for item in placement.loose:
        _add_body(stage.GetPrimAtPath(paths[item.id]), item, config)


def _add_body(prim: Usd.Prim, item: BrickItem, config: BrickConfig) -> None:
    """Mass properties of a solid cuboid of the part's bounds and mass, with the embedded simulator's floors."""
    low, high = item.geometry.bounds
    mass = max(item.geometry.mass_kg, config.mass_floor_kg)
    x, y, z = (high - low) ** 2
    inertia = np.maximum(np.array([y + z, x + z, x + y]) * mass / 12, config.inertia_floor_kg_m2)
    UsdPhysics.RigidBodyAPI.Apply(prim)
    body = UsdPhysics.MassAPI.Apply(prim)
    body.CreateMassAttr(mass)
    body.CreateCenterOfMassAttr(Gf.Vec3f(*((low + high) / 2).tolist()))
    body.CreateDiagonalInertiaAttr(Gf.Vec3f(*inertia.tolist()))
    body.CreatePrincipalAxesAttr(Gf.Quatf(1.0))


def _bind_plastic(stage: Usd.Stage, prim: Usd.Prim) -> None:
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(
        UsdShade.Material.Get(stage, _PLASTIC), UsdShade.Tokens.weakerThanDescendants, "physics"
    )


def _add_camera(stage: Usd.Stage, path: Sdf.Path, config: CameraConfig, isaac: IsaacConfig) -> None:
    """A pinhole: focal length and aperture have one unit; square pixels; the axis through the picture's middle."""
    intrinsics, pose = config.intrinsics(), config.pose()
    camera = UsdGeom.Camera.Define(stage, path)
    aperture = isaac.camera.horizontal_aperture
    camera.CreateProjectionAttr(UsdGeom.Tokens.perspective)
    camera.CreateHorizontalApertureAttr(aperture)
    camera.CreateVerticalApertureAttr(aperture * config.height / config.width)
    camera.CreateFocalLengthAttr(intrinsics.fx * aperture / config.width)
    camera.CreateClippingRangeAttr(Gf.Vec2f(*isaac.camera.clipping_range_m))
    set_pose(camera, Pose.from_rotation(pose.position, pose.rotation @ _FLIP))
    camera.GetPrim().SetCustomDataByKey("jarvis:resolution", json.dumps([config.width, config.height]))


def _add_lights(stage: Usd.Stage, lights: Iterable[LightConfig], dome_intensity: float) -> None:
    folder = WORLD.AppendChild("lights")
    UsdGeom.Scope.Define(stage, folder)
    dome = UsdLux.DomeLight.Define(stage, folder.AppendChild("dome"))
    dome.CreateIntensityAttr(dome_intensity)
    for config in lights:
        light = UsdLux.DistantLight.Define(stage, folder.AppendChild(identifier(config.name)))
        light.CreateIntensityAttr(config.intensity)
        light.CreateAngleAttr(config.angle_deg)
        # Distant lights shine along -z of their own frame.
        turn = Gf.Rotation(Gf.Vec3d(0.0, 0.0, -1.0), Gf.Vec3d(*config.direction)).GetQuat()
        x, y, z = turn.GetImaginary()
        set_pose(light, Pose(quaternion=(x, y, z, turn.GetReal())))
