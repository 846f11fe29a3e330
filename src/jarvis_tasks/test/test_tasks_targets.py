import numpy as np
import pytest
from jarvis_bricks.parametric import PARTS
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.segment import make_task
from jarvis_tasks.targets import scene_objects, target_objects
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

PLATE = Pose.from_yaw((0.5, 0.1, 0.003), 0.3)


def test_targets_and_scene_are_in_the_world(tower, catalogue):
    task = make_task(place_on_plate(tower, catalogue, (32, 32)), 2, 3)
    scene, targets = scene_objects(task, catalogue, PLATE), target_objects(task, catalogue, PLATE)
    assert [o.id for o in scene] == ["b001", "b002"]
    assert [(t.object.id, t.support, t.step) for t in targets] == [("b003", "b001", 1), ("b004", "b003", 2)]
    for brick, thing in zip(task.scene, scene, strict=True):
        assert (PLATE.inverse() @ thing.pose).is_close(brick.pose, 1e-12, 1e-7)
        assert not thing.fixed
        # An ordinary brick's lower face lies on the plate.
        low = min(float(box.pose.position[2] - box.size_m[2] / 2) for box in thing.world_boxes())
        assert low == pytest.approx(0.003)
    assert task.scene[0].support == GROUND


@pytest.mark.parametrize("part", sorted(PARTS))
def test_symmetries_about_their_centre_map_the_shape_onto_itself(part, build, catalogue):
    task = make_task(place_on_plate(build([(part, 0, 0, 1)]), catalogue, (32, 32)), 1, 1)
    (target,) = target_objects(task, catalogue, PLATE)
    centre = np.array(target.symmetry_centre)
    openings = catalogue.geometry(part).antistuds.positions
    corners = catalogue.geometry(part).mesh.vertices
    assert target.symmetries[0] == (0.0, 0.0, 0.0, 1.0)
    for quaternion in target.symmetries:
        turned = Rotation.from_quat(quaternion)
        for cloud in (openings, corners):
            moved = turned.apply(cloud - centre) + centre
            gaps, _ = cKDTree(cloud).query(moved)
            assert gaps.max(initial=0.0) < 1e-4
