"""Decisions of the clutch in Isaac Sim, against a fake of its fixed joints; and the joints on a real stage."""

from __future__ import annotations

import math
from unittest.mock import create_autospec

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_sim.config import ClutchConfig, SimConfig
from jarvis_sim.connections import StudBody
from jarvis_sim.isaac.clutch import IsaacClutch
from jarvis_sim.isaac.ports import UNBREAKABLE, Fasteners, Touch
from jarvis_sim.loads import Load, opening_share
from jarvis_sim.tabletop import plate_studs

CELL = load_default("cell", CellConfig)
CONFIG = msgspec.structs.replace(load_default("sim", SimConfig).clutch, peel=True)
GEOMETRY = PartCatalogue().geometry("3001")
STUDS = 8
UP = np.array([0.0, 0.0, 1.0])


def brick(name: str) -> StudBody:
    return StudBody(name, GEOMETRY.studs.positions, GEOMETRY.antistuds.positions, None)


#: Where a 2x4 stands exactly on the plate, and one on top of it.
PLACE = CELL.plate.pose @ Pose((0.0, 0.0, 0.0096))
ABOVE = PLACE.translated((0.0, 0.0, 0.0096))


class Bench:
    """A clutch over two 2x4 bricks and the plate."""

    def __init__(self, config: ClutchConfig = CONFIG) -> None:
        self.joints = create_autospec(Fasteners, instance=True)
        self.joints.fasten.side_effect = (f"joint {i}" for i in range(100))
        self.held: set[str] = set()
        plate = StudBody(GROUND, plate_studs(CELL.plate), np.zeros((0, 3)), CELL.plate.pose)
        bodies = [plate, brick("a"), brick("b")]
        self.clutch = IsaacClutch(bodies, config, self.joints, lambda name: name in self.held)
        self.config = config
        self.time_s = 0.0
        self.poses = {"a": PLACE, "b": Pose((0.6, -0.3, 0.0096))}

    def sample(self, *touches: Touch, count: int = 1) -> None:
        for _ in range(count):
            self.time_s += self.config.sample_s
            self.clutch.sample(self.time_s, self.poses, touches)

    def engage(self, press: float = 2.0 * STUDS) -> None:
        self.sample(Touch("a", GROUND, press * UP), count=self.config.samples)

    def settle(self) -> None:
        """Let the drawing end, and a sample more."""
        self.sample(count=math.ceil(self.config.ramp_s / self.config.sample_s) + 2)


def test_pressing_for_some_samples_engages() -> None:
    bench = Bench()
    bench.sample(Touch("a", GROUND, 2.0 * STUDS * UP), count=CONFIG.samples - 1)
    assert bench.clutch.connections() == ()
    bench.sample(Touch("a", GROUND, 2.0 * STUDS * UP))
    assert bench.clutch.connections() == (("a", GROUND),)
    (event,) = bench.clutch.events()
    assert (event.kind, event.studs, event.force_n) == ("engaged", STUDS, pytest.approx(2.0 * STUDS))
    bench.joints.fasten.assert_called_once()
    bench.joints.strengthen.assert_called_once_with("joint 0", UNBREAKABLE, UNBREAKABLE)


def test_pressing_too_little_or_with_a_pause_does_not() -> None:
    bench = Bench()
    bench.sample(Touch("a", GROUND, 1.9 * STUDS * UP), count=20)
    for _ in range(5):
        bench.sample(Touch("a", GROUND, 2.0 * STUDS * UP), count=CONFIG.samples - 1)
        bench.sample()
    # Friction of the fingers and pressing from above are no pressing down on studs.
    bench.sample(Touch("a", "/World/robot/panda_leftfinger", 100.0 * UP), count=20)
    bench.sample(Touch("a", GROUND, -100.0 * UP), count=20)
    assert bench.clutch.events() == ()
    bench.joints.fasten.assert_not_called()


@given(st.floats(-0.004, 0.004), st.floats(-0.004, 0.004), st.floats(-0.003, 0.003), st.floats(-10.0, 10.0))
@settings(deadline=None, max_examples=60)
def test_nothing_snaps_from_outside_the_tolerance(x: float, y: float, z: float, yaw_deg: float) -> None:
    bench = Bench()
    turn = Pose.from_yaw((0.0, 0.0, 0.0), math.radians(yaw_deg))
    bench.poses["a"] = Pose(PLACE.position + [x, y, z], turn.quaternion)
    bench.engage(1000.0)
    off = math.hypot(x, y)
    # On the very edge rounding decides.
    edges = ((off, CONFIG.xy_m), (abs(z), CONFIG.z_m), (abs(yaw_deg), CONFIG.yaw_deg))
    assume(all(abs(value - limit) > 1e-9 for value, limit in edges))
    inside = off <= CONFIG.xy_m and abs(z) <= CONFIG.z_m and abs(yaw_deg) <= CONFIG.yaw_deg
    if bench.clutch.connections():
        (event,) = bench.clutch.events()
        assert inside
        assert event.error_xy_m == pytest.approx(off, abs=1e-9)
        assert event.error_z_m == pytest.approx(z, abs=1e-9)
        assert event.error_yaw_rad == pytest.approx(math.radians(yaw_deg), abs=1e-9)
    else:
        assert not inside


def test_a_brick_is_drawn_from_where_it_was_to_its_place() -> None:
    bench = Bench()
    off = Pose(PLACE.position + [0.001, 0.0, 0.0005], PLACE.quaternion)
    bench.poses["a"] = off
    bench.engage()
    bench.settle()
    poses = [CELL.plate.pose @ call.args[1] for call in bench.joints.move.call_args_list]
    assert poses[0].is_close(off, 1e-4)
    assert poses[-1].is_close(PLACE)
    xs = [pose.position[0] for pose in poses]
    assert xs == sorted(xs, reverse=True)
    moves = len(poses)
    bench.sample(count=5)
    assert bench.joints.move.call_count == moves


def test_it_can_break_only_once_the_gripper_has_let_go() -> None:
    bench = Bench()
    bench.held = {"a"}
    bench.engage()
    bench.settle()
    bench.joints.strengthen.assert_called_once()
    bench.held = set()
    bench.sample()
    force, torque = bench.joints.strengthen.call_args.args[1:]
    assert force == pytest.approx(CONFIG.pull_n_per_stud * STUDS)
    assert 0.0 < torque < UNBREAKABLE
    # Gripped again to be pulled off: it stays breakable.
    bench.held = {"a"}
    bench.sample()
    assert bench.joints.strengthen.call_count == 2


def test_pressing_on_it_is_no_pull() -> None:
    bench = Bench()
    bench.engage()
    bench.settle()
    bench.sample(Touch("a", "/World/robot/panda_hand", -40.0 * UP))
    assert bench.joints.strengthen.call_args.args == ("joint 0", UNBREAKABLE, UNBREAKABLE)
    bench.sample()
    assert bench.joints.strengthen.call_args.args[1] == pytest.approx(CONFIG.pull_n_per_stud * STUDS)


def test_pressing_on_what_stands_on_it_is_no_pull_either() -> None:
    bench = Bench()
    bench.engage()
    bench.settle()
    bench.poses["b"] = ABOVE
    bench.sample(Touch("b", "a", 2.0 * STUDS * UP), count=CONFIG.samples)
    bench.settle()
    assert bench.clutch.connections() == (("a", GROUND), ("b", "a"))
    bench.joints.strengthen.reset_mock()
    bench.sample(Touch("b", "/World/robot/panda_hand", -40.0 * UP))
    assert {call.args for call in bench.joints.strengthen.call_args_list} == {
        ("joint 0", UNBREAKABLE, UNBREAKABLE),
        ("joint 1", UNBREAKABLE, UNBREAKABLE),
    }


def test_a_broken_joint_is_seen_by_the_bricks_place() -> None:
    bench = Bench()
    bench.engage()
    bench.settle()
    bench.poses["a"] = PLACE.translated((0.0, 0.0, CONFIG.z_m * 0.9))
    bench.sample()
    assert bench.clutch.connections() == (("a", GROUND),)
    bench.poses["a"] = PLACE.translated((0.0, 0.0, CONFIG.z_m * 1.1))
    bench.sample()
    assert bench.clutch.connections() == ()
    bench.joints.loosen.assert_called_once_with("joint 0")
    released = bench.clutch.events()[-1]
    assert (released.kind, released.upper, released.lower, released.studs) == ("released", "a", GROUND, STUDS)


def test_a_reset_takes_all_joints_away() -> None:
    bench = Bench()
    bench.engage()
    bench.clutch.reset()
    bench.joints.loosen.assert_called_once_with("joint 0")
    assert bench.clutch.connections() == ()
    assert bench.clutch.events() == ()


@settings(deadline=None, max_examples=60)
@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=12))
def test_the_strength_is_that_of_the_embedded_clutch(grid: set[tuple[int, int]]) -> None:
    points = np.array([(0.008 * x, 0.008 * y, 0.0) for x, y in sorted(grid)])
    force, torque = Bench().clutch.strength(points)

    def share(load: Load) -> float:
        return opening_share(load, points, CONFIG.pull_n_per_stud, CONFIG.shear_n_per_stud, peel=True)

    still = np.zeros(3)
    assert share(Load(np.array([0.0, 0.0, force]), still)) == pytest.approx(1.0)
    shares = [share(Load(still, torque * axis)) for axis in (*np.eye(3)[:2], *-np.eye(3)[:2])]
    assert max(shares) == pytest.approx(1.0)


class TestJointsOnAStage:
    """What PhysX is told."""

    def test_frames_meet_at_the_anchor(self) -> None:
        pytest.importorskip("pxr", reason="no usd-core here")
        from jarvis_sim.isaac.joints import UsdFasteners
        from pxr import Usd, UsdPhysics

        stage = Usd.Stage.CreateInMemory()
        fasteners = UsdFasteners(
            stage, {"a": "/World/bricks/a", "b": "/World/bricks/b"}, {GROUND: CELL.plate.pose}
        )
        relative = Pose.from_yaw((0.008, 0.0, 0.0096), 0.5)
        anchor = np.array([0.004, 0.004, -0.0096])
        for lower, frame in ((GROUND, CELL.plate.pose), ("b", Pose())):
            path = fasteners.fasten("a", lower, relative, anchor)
            joint = UsdPhysics.FixedJoint(stage.GetPrimAtPath(path))
            assert joint
            assert joint.GetExcludeFromArticulationAttr().Get() is True
            assert joint.GetBreakForceAttr().Get() == UNBREAKABLE
            assert [str(t) for t in joint.GetBody1Rel().GetTargets()] == ["/World/bricks/a"]
            lowers = [str(t) for t in joint.GetBody0Rel().GetTargets()]
            assert lowers == ([] if lower == GROUND else ["/World/bricks/b"])
            # Both frames are one: the brick is held where it is.
            q = joint.GetLocalRot0Attr().Get()
            one = Pose(joint.GetLocalPos0Attr().Get(), (*q.GetImaginary(), q.GetReal()))
            two = Pose(joint.GetLocalPos1Attr().Get())
            assert (one @ two.inverse()).is_close(frame @ relative, 1e-6, 1e-6)
            np.testing.assert_allclose(one.position, frame @ relative @ anchor, atol=1e-7)
            fasteners.strengthen(path, 24.0, 0.3)
            assert joint.GetBreakForceAttr().Get() == 24.0
            fasteners.loosen(path)
            assert not stage.GetPrimAtPath(path)
