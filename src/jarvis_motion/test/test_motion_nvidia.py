"""cuMotion and RMPflow where NVIDIA's libraries are absent: what they are given, what becomes of their answers.

Where they are there, ``test_motion_backends.py`` runs on them, and the names used are compared with theirs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_motion.backend import Obstacle
from jarvis_motion.config import MotionConfig
from jarvis_motion.factory import BACKENDS, make_plain
from jarvis_motion.ompl_backend import OmplBackend
from jarvis_motion.prebundled import import_prebundled
from jarvis_motion.spheres import box_spheres
from jarvis_robot.model import RobotModel
from nvidia_fakes import CUMOTION, LULA, fake_cumotion, fake_lula

PANDA = RobotModel.load("panda")
CONFIG = load_default("motion", MotionConfig)
READY = np.array(PANDA.config.ready_rad)
TABLE = Obstacle("table", Box(Pose((0.35, 0.0, -0.05)), (1.3, 1.2, 0.1)))
WALL = Obstacle("wall", Box(Pose((0.5, 0.0, 0.2)), (0.3, 0.02, 0.4)))
MODULES = ("jarvis_motion.cumotion_backend", "jarvis_motion.rmpflow_backend")


@pytest.fixture
def without_modules() -> Iterator[None]:
    """Backend modules that hold a stand-in are loaded anew, before and after."""
    kept = {name: sys.modules.pop(name) for name in MODULES if name in sys.modules}
    yield
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.modules.update(kept)


def put(monkeypatch: pytest.MonkeyPatch, name: str, module: Any) -> None:
    """A module in the place of NVIDIA's."""
    module.__spec__ = object()  # importlib asks for it
    monkeypatch.setitem(sys.modules, name, module)


def down(y: float) -> Pose:
    return Pose((0.5, y, 0.1), (1.0, 0.0, 0.0, 0.0))


def test_cumotion_finds_a_way(monkeypatch: pytest.MonkeyPatch, without_modules: None) -> None:
    robots: list[dict[str, Any]] = []
    few = msgspec.structs.replace(CONFIG.rrt, max_nodes=300)
    planner = OmplBackend(PANDA, msgspec.structs.replace(CONFIG, padding_m=0.0, rrt=few))
    put(monkeypatch, "cumotion", fake_cumotion(planner, robots))
    backend = make_plain(PANDA, msgspec.structs.replace(CONFIG, backend="cumotion"))
    start, goal = (backend.inverse(down(y), READY) for y in (-0.2, 0.2))
    assert start is not None
    assert goal is not None
    backend.set_obstacles([TABLE, WALL])
    for one in (backend, planner):  # the stand-in can't read spheres
        one.attach("plate", [Box(Pose((0.0, 0.0, 0.02)), (0.1, 0.06, 0.02))])
    plan = backend.plan_to_joints(start, goal)
    assert plan.trajectory is not None, plan.message
    xrdf = robots[0]
    assert (xrdf["format"], xrdf["format_version"]) == ("xrdf", 2.0)
    assert xrdf["cspace"]["joint_names"] == list(PANDA.config.arm_joints)
    # The second finger mimics the first: the library refuses a position for it.
    assert xrdf["default_joint_positions"]["panda_finger_joint1"] == 0.04
    assert "panda_finger_joint2" not in xrdf["default_joint_positions"]
    spheres = xrdf["geometry"]["spheres"]["spheres"]
    assert {"panda_link1", "panda_leftfinger", "panda_hand_tcp"} <= set(spheres)
    assert "panda_link0" not in spheres


def test_cumotion_without_cuda_is_missed_in_one_line(
    monkeypatch: pytest.MonkeyPatch, without_modules: None
) -> None:
    library = fake_cumotion(OmplBackend(PANDA, CONFIG), [])

    def refuse(self: Any) -> None:
        raise RuntimeError("\x1b[31mCUDA error: no device\x1b[0m\nat line 1")

    monkeypatch.setattr(library.World, "add_world_view", refuse)
    put(monkeypatch, "cumotion", library)
    with pytest.raises(MissingCapabilityError) as caught:
        make_plain(PANDA, msgspec.structs.replace(CONFIG, backend="cumotion"))
    assert caught.value.line() == (
        "CUDA error: no device: motion backend cumotion has no CUDA - an NVIDIA GPU with a current driver"
    )


def test_rmpflow_is_rolled_out_over_the_wall(monkeypatch: pytest.MonkeyPatch, without_modules: None) -> None:
    """The stand-in sees no obstacle: only the attempt that passes high above gets through."""
    robots: list[dict[str, Any]] = []
    settings: list[dict[str, Any]] = []
    put(monkeypatch, "lula", fake_lula(robots, settings))
    backend = make_plain(PANDA, msgspec.structs.replace(CONFIG, backend="rmpflow"))
    start, goal = (backend.inverse(down(y), READY) for y in (-0.2, 0.2))
    assert start is not None
    assert goal is not None
    backend.set_obstacles([TABLE, WALL])
    plan = backend.plan_to_joints(start, goal)
    assert plan.trajectory is not None, plan.message
    assert backend.validate(plan.trajectory) == ()
    assert PANDA.tool_matrices(plan.trajectory.positions)[:, 2, 3].max() > 0.3
    assert robots[0]["cspace"] == list(PANDA.config.arm_joints)
    assert robots[0]["root_link"] == "panda_link0"
    assert settings[0]["boxes"] == 2
    assert settings[0]["joint_limit_buffers"] == [settings[0]["joint_limit_buffers"][0]] * 7


@pytest.mark.parametrize(("library", "names"), [("lula", LULA), ("cumotion", CUMOTION)])
def test_the_names_used_are_the_library_s(library: str, names: dict[str, tuple[str, ...]]) -> None:
    try:
        module = import_prebundled(library)
    except ImportError:
        pytest.skip(f"{library} is not installed (see ./jarvis doctor)")
    missing = [name for name in names if not hasattr(module, name)]
    missing += [
        f"{name}.{member}"
        for name, members in names.items()
        for member in members
        if not hasattr(getattr(module, name), member)
    ]
    assert not missing


@pytest.mark.parametrize("name", sorted(BACKENDS))
def test_a_backend_whose_library_is_absent_says_what_to_install(name: str) -> None:
    if BACKENDS[name].installed:
        return  # conformance tests run on it
    with pytest.raises(MissingCapabilityError) as caught:
        make_plain(PANDA, msgspec.structs.replace(CONFIG, backend=name))
    assert caught.value.fix == BACKENDS[name].fix


def test_spheres_fill_a_box_and_stay_within() -> None:
    box = Box(Pose.from_yaw((0.1, 0.2, 0.3), 0.4), (0.1, 0.03, 0.02))
    spheres = box_spheres([box])
    into = box.pose.inverse()
    for centre, radius in spheres:
        assert (np.abs(into @ centre) + radius <= np.array(box.size_m) / 2 + 1e-12).all()
    # A point on the surface is at most the bare corners' share away from a sphere.
    half = np.array(box.size_m) / 2
    for corner in np.array(np.meshgrid(*([-h, h] for h in half))).T.reshape(-1, 3):
        gap = min(np.linalg.norm(box.pose @ corner - centre) - radius for centre, radius in spheres)
        assert gap <= (np.sqrt(3) - 1) / 2 * 0.02 + 1e-9
