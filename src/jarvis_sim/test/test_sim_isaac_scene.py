"""The USD scene against the embedded world of the same task and seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.objects import GROUND
from jarvis_core.pose import FloatArray, Pose
from jarvis_sim.config import SimConfig
from jarvis_sim.isaac.config import IsaacConfig
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task

pytest.importorskip("pxr", reason="no usd-core here")

from jarvis_sim.isaac import scene
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdShade

SEED = 5


@dataclass(frozen=True)
class Made:
    world: SimWorld
    stage: Usd.Stage
    paths: dict[str, str]
    file: Path


@pytest.fixture(scope="module")
def isaac() -> IsaacConfig:
    return load_default("isaac", IsaacConfig)


@pytest.fixture(scope="module")
def task(place: Callable[..., PlacedBrick]) -> Task:
    scene_bricks = (place("s1", "3001", 0.0, 0.0), place("s2", "3003", 4.0, 1.0, yaw=np.pi / 2))
    targets = tuple(
        place(name, part, 2.0 * i, 6.0)
        for i, (name, part) in enumerate((("b1", "3001"), ("b2", "3023"), ("b3", "3005"), ("b4", "3001")))
    )
    return Task(TASK_SCHEMA, "toy", "toy", "", "", "", (1, 1), scene_bricks, targets)


@pytest.fixture(scope="module")
def made(
    task: Task, cell: CellConfig, sim: SimConfig, isaac: IsaacConfig, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    """The same task and seed in both simulators; the stage is read back from its file."""
    catalogue = PartCatalogue()
    file = tmp_path_factory.mktemp("isaac") / "scene.usda"
    placement = scene.write_scene(file, task, cell, sim, isaac, catalogue, SEED)
    world = SimWorld(task, cell, sim, catalogue, SEED)
    return Made(world, Usd.Stage.Open(str(file)), scene.brick_paths(placement), file)


def matrix(prim: Usd.Prim) -> FloatArray:
    """(4, 4) pose in the stage, columns as in Pose.matrix."""
    return np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default())).T


def test_metres_kilograms_and_z_up(made: Made) -> None:
    assert UsdGeom.GetStageUpAxis(made.stage) == UsdGeom.Tokens.z
    assert UsdGeom.GetStageMetersPerUnit(made.stage) == 1.0
    assert UsdPhysics.GetStageKilogramsPerUnit(made.stage) == 1.0
    assert made.stage.GetDefaultPrim().GetPath() == scene.WORLD


def test_every_brick_stands_where_it_stands_in_the_embedded_world(made: Made) -> None:
    objects = made.world.state().objects
    assert {o.id for o in objects} == set(made.paths)
    for thing in objects:
        np.testing.assert_allclose(
            matrix(made.stage.GetPrimAtPath(made.paths[thing.id])), thing.pose.matrix, atol=1e-6
        )


def test_looks_fill_the_same_space(made: Made) -> None:
    model, data = made.world.engine.model, made.world.engine.data
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), [UsdGeom.Tokens.default_])
    for brick, path in made.paths.items():
        corners = []
        for geom in range(model.ngeom):
            if (
                model.geom(geom).name.rpartition(" ")[0] != brick
                or model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_MESH
            ):
                continue
            mesh = model.geom_dataid[geom]
            first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            vertices = model.mesh_vert[first : first + count]
            corners.append(vertices @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
        points = np.concatenate(corners)
        prim = made.stage.GetPrimAtPath(path)
        drawn = [
            np.array(UsdGeom.Mesh(p).GetPointsAttr().Get()) @ matrix(p)[:3, :3].T + matrix(p)[:3, 3]
            for p in Usd.PrimRange(prim, Usd.TraverseInstanceProxies())
            if p.IsA(UsdGeom.Mesh)
        ]
        drawn_points = np.concatenate(drawn)
        np.testing.assert_allclose(drawn_points.min(axis=0), points.min(axis=0), atol=1e-6)
        np.testing.assert_allclose(drawn_points.max(axis=0), points.max(axis=0), atol=1e-6)
        # Extents as authored agree with the points: viewers cull by them.
        box = cache.ComputeWorldBound(prim).ComputeAlignedRange()
        assert (np.array(box.GetMin()) <= drawn_points.min(axis=0) + 1e-6).all()
        assert (np.array(box.GetMax()) >= drawn_points.max(axis=0) - 1e-6).all()


def test_loose_bricks_are_bodies_of_the_same_mass(made: Made) -> None:
    model = made.world.engine.model
    for brick in made.world.task.targets:
        prim = made.stage.GetPrimAtPath(made.paths[brick.id])
        assert prim.HasAPI(UsdPhysics.RigidBodyAPI)
        body, mass = model.body(brick.id), UsdPhysics.MassAPI(prim)
        assert mass.GetMassAttr().Get() == pytest.approx(float(body.mass[0]), rel=1e-6)
        np.testing.assert_allclose(np.array(mass.GetCenterOfMassAttr().Get()), body.ipos, atol=1e-8)
        np.testing.assert_allclose(np.array(mass.GetDiagonalInertiaAttr().Get()), body.inertia, rtol=1e-6)


def test_the_structure_stands_for_ever(made: Made) -> None:
    for brick in made.world.task.scene:
        assert not made.stage.GetPrimAtPath(made.paths[brick.id]).HasAPI(UsdPhysics.RigidBodyAPI)


def boxes(prim: Usd.Prim) -> list[tuple[FloatArray, FloatArray]]:
    """Centre and sorted edge lengths of every collider below a prim."""
    found = []
    for child in Usd.PrimRange(prim, Usd.TraverseInstanceProxies()):
        if child.HasAPI(UsdPhysics.CollisionAPI):
            pose = matrix(child)
            assert UsdGeom.Cube(child).GetSizeAttr().Get() == 1.0
            found.append((pose[:3, 3], np.linalg.norm(pose[:3, :3], axis=0)))
    return found


def test_everything_collides_with_the_embedded_worlds_boxes(made: Made) -> None:
    model, data = made.world.engine.model, made.world.engine.data
    for brick, path in made.paths.items():
        geoms = [
            g
            for g in range(model.ngeom)
            if model.geom(g).name.rpartition(" ")[0] == brick
            and model.geom_type[g] == mujoco.mjtGeom.mjGEOM_BOX
        ]
        authored = boxes(made.stage.GetPrimAtPath(path))
        assert len(authored) == len(geoms) > 0
        for (centre, size), geom in zip(authored, geoms, strict=True):
            np.testing.assert_allclose(centre, data.geom_xpos[geom], atol=1e-6)
            np.testing.assert_allclose(size, 2 * model.geom_size[geom], atol=1e-6)
    (plate,) = boxes(made.stage.GetPrimAtPath(scene.PLATE))
    geom = int(model.body(GROUND).geomadr[0])
    np.testing.assert_allclose(plate[0], data.geom_xpos[geom], atol=1e-6)
    np.testing.assert_allclose(plate[1], 2 * model.geom_size[geom], atol=1e-6)


def test_friction_is_bound_for_physics(made: Made, sim: SimConfig) -> None:
    collider = next(
        p
        for p in Usd.PrimRange(made.stage.GetPrimAtPath(made.paths["b1"]), Usd.TraverseInstanceProxies())
        if p.HasAPI(UsdPhysics.CollisionAPI)
    )
    plastic, _ = UsdShade.MaterialBindingAPI(collider).ComputeBoundMaterial("physics")
    friction = UsdPhysics.MaterialAPI(plastic.GetPrim()).GetDynamicFrictionAttr().Get()
    assert friction == pytest.approx(sim.bricks.contact.friction)


def test_bricks_of_one_kind_share_a_prototype(made: Made) -> None:
    by_id = {b: made.stage.GetPrimAtPath(path).GetPrototype() for b, path in made.paths.items()}
    assert all(prototype.IsValid() for prototype in by_id.values())
    assert by_id["b1"] == by_id["b4"] == by_id["s1"]
    assert by_id["b1"] != by_id["b2"]
    parts = {b.part for b in (*made.world.task.scene, *made.world.task.targets)}
    assert len(made.stage.GetPrototypes()) == len(parts)


def test_the_plate_has_all_its_studs(made: Made, cell: CellConfig) -> None:
    studs = UsdGeom.PointInstancer(made.stage.GetPrimAtPath(scene.PLATE.AppendChild("studs")))
    feet = np.array(studs.GetPositionsAttr().Get())
    assert len(feet) == cell.plate.studs[0] * cell.plate.studs[1]
    assert len(np.unique(feet.round(6), axis=0)) == len(feet)


@pytest.mark.parametrize("name", ["top", "overview", "gripper"])
def test_a_camera_sees_what_its_camera_info_says(
    made: Made, cell: CellConfig, isaac: IsaacConfig, name: str
) -> None:
    config = {"top": cell.top_camera, "overview": cell.overview_camera, "gripper": cell.gripper_camera}[name]
    camera = UsdGeom.Camera(made.stage.GetPrimAtPath(scene.camera_path(name, isaac)))
    k = config.intrinsics()
    fx = k.width * camera.GetFocalLengthAttr().Get() / camera.GetHorizontalApertureAttr().Get()
    fy = k.height * camera.GetFocalLengthAttr().Get() / camera.GetVerticalApertureAttr().Get()
    np.testing.assert_allclose([fx, fy], [k.fx, k.fy], rtol=1e-6)
    # Points of the table land on the same pixels through USD's own projection.
    frustum = camera.GetCamera(Usd.TimeCode.Default()).frustum
    to_clip = np.array(frustum.ComputeViewMatrix() * frustum.ComputeProjectionMatrix())
    points = np.random.default_rng(0).uniform([0.3, -0.3, 0.0], [0.7, 0.3, 0.1], (50, 3))
    if name == "gripper":  # the hand stands at the origin while no asset is there; points between its fingers
        points = np.random.default_rng(0).uniform([-0.03, -0.03, 0.09], [0.03, 0.03, 0.14], (50, 3))
    clip = np.column_stack([points, np.ones(50)]) @ to_clip
    x, y = (clip[:, :2] / clip[:, 3:]).T
    # Pixel centres at whole numbers: the picture reaches from -0.5 to width - 0.5.
    seen = np.column_stack([(x + 1) / 2 * k.width - 0.5, (1 - y) / 2 * k.height - 0.5])
    local = config.pose().inverse() @ points
    expected = local @ k.matrix().T
    np.testing.assert_allclose(seen, expected[:, :2] / expected[:, 2:], atol=1e-3)


def test_lights_shine_where_the_configuration_says(made: Made, isaac: IsaacConfig) -> None:
    for light in isaac.lights:
        prim = made.stage.GetPrimAtPath(f"/World/lights/{light.name}")
        shines = -matrix(prim)[:3, 2]
        np.testing.assert_allclose(
            shines, np.array(light.direction) / np.linalg.norm(light.direction), atol=1e-6
        )


def test_the_same_task_and_seed_give_the_same_bytes(
    made: Made, task: Task, cell: CellConfig, sim: SimConfig, isaac: IsaacConfig, tmp_path: Path
) -> None:
    again, other = tmp_path / "again.usda", tmp_path / "other.usda"
    scene.write_scene(again, task, cell, sim, isaac, PartCatalogue(), SEED)
    scene.write_scene(other, task, cell, sim, isaac, PartCatalogue(), SEED + 1)
    assert again.read_bytes() == made.file.read_bytes() != other.read_bytes()


def test_the_robot_is_referenced_where_its_address_is_given(
    made: Made, cell: CellConfig, sim: SimConfig, isaac: IsaacConfig, task: Task, tmp_path: Path
) -> None:
    assert not made.stage.GetPrimAtPath(scene.ROBOT).HasAuthoredPayloads()
    robot = tmp_path / "franka.usda"
    asset = Usd.Stage.CreateNew(str(robot))
    asset.SetDefaultPrim(UsdGeom.Xform.Define(asset, "/panda").GetPrim())
    UsdGeom.Xform.Define(asset, "/panda/panda_link0")
    asset.Save()
    file = tmp_path / "scene.usda"
    scene.write_scene(file, task, cell, sim, isaac, PartCatalogue(), SEED, robot_usd=str(robot))
    stage = Usd.Stage.Open(str(file))
    base = stage.GetPrimAtPath(scene.ROBOT.AppendChild("panda_link0"))
    assert base.IsValid()
    np.testing.assert_array_equal(matrix(base), np.eye(4))


def test_another_kind_of_file_is_refused(
    task: Task, cell: CellConfig, sim: SimConfig, isaac: IsaacConfig, tmp_path: Path
) -> None:
    with pytest.raises(BadInputError, match="usda"):
        scene.write_scene(tmp_path / "scene.obj", task, cell, sim, isaac, PartCatalogue(), 0)
    assert not list(tmp_path.iterdir())


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
)
def test_poses_survive_the_stage(position: list[float], quaternion: list[float]) -> None:
    pose = Pose(position, np.array(quaternion) / np.linalg.norm(quaternion))
    stage = Usd.Stage.CreateInMemory()
    prim = UsdGeom.Xform.Define(stage, "/a")
    scene.set_pose(prim, pose)
    np.testing.assert_allclose(matrix(prim.GetPrim()), pose.matrix, atol=1e-9)


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=8))
def test_any_name_becomes_a_prim_name(name: str) -> None:
    assert Sdf.Path.IsValidIdentifier(scene.identifier(name))
