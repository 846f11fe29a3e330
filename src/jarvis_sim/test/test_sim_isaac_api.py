"""The port to Isaac Sim on modules that hold the listed names and nothing else: a name not listed is an error here.

``test_sim_isaac_names.py`` looks the same list up in a real Isaac Sim's files. What Isaac Sim does is not imitated.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, create_autospec

import msgspec
import numpy as np
import pytest
from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_sim.config import SimConfig
from jarvis_sim.isaac.config import IsaacConfig
from jarvis_sim.isaac.ports import App, Handles
from jarvis_sim.isaac.views import ArticulationLike, CameraSensorLike, RigidPrimLike
from test_sim_isaac_names import NAMES, PRIMS, UTILS
from test_sim_isaac_world import warp

pytest.importorskip("pxr", reason="no usd-core here")

from pxr import Usd, UsdGeom

ISAAC, SIM = load_default("isaac", IsaacConfig), load_default("sim", SimConfig)
DOFS = (*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1", "panda_finger_joint2")
HANDLES = Handles(
    dofs=DOFS,
    bricks={"a": "/World/bricks/a"},
    others={"/World/plate": GROUND},
    fixed={GROUND: Pose()},
    cameras={"top": (4, 3)},
)


class Isaac:
    """The listed names; ``calls`` says who was called with what."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.answers: dict[str, Any] = {}
        self.prim = create_autospec(RigidPrimLike, instance=True)
        self.robot = create_autospec(ArticulationLike, instance=True)
        self.robot.get_dof_indices.return_value = warp(range(9))
        self.camera = create_autospec(CameraSensorLike, instance=True)
        self.graph = MagicMock()
        self.prim.set_enabled_contact_tracking = self._listed("RigidPrim.set_enabled_contact_tracking")
        self.robot.set_link_enabled_gravities = self._listed("Articulation.set_link_enabled_gravities")

    def _listed(self, name: str, answer: Any = None) -> Callable[..., Any]:
        (known,) = (n for n in NAMES if n.name == name)

        def called(*arguments: Any, **keywords: Any) -> Any:
            assert set(keywords) <= set(known.arguments), (name, keywords)
            self.calls.append((name, arguments, keywords))
            return self.answers.get(name, answer)

        return called

    def _holder(self, kind: str) -> SimpleNamespace:
        """A class of which only the listed methods are there."""
        methods = [n.name for n in NAMES if n.name.startswith(f"{kind}.")]
        return SimpleNamespace(**{name.partition(".")[2]: self._listed(name) for name in methods})

    def modules(self) -> dict[str, dict[str, Any]]:
        def functions(file: str) -> dict[str, Any]:
            return {n.name: self._listed(n.name) for n in NAMES if (n.extension, n.file) == (UTILS, file)}

        return {
            f"{UTILS}.app": functions("impl/app.py"),
            f"{UTILS}.stage": functions("impl/stage.py"),
            PRIMS: {
                "RigidPrim": self._listed("RigidPrim.__init__", self.prim),
                "Articulation": self._listed("Articulation.__init__", self.robot),
            },
            "isaacsim.core.rendering_manager": {"RenderingManager": self._holder("RenderingManager")},
            "isaacsim.core.simulation_manager": {"SimulationManager": self._holder("SimulationManager")},
            "isaacsim.sensors.experimental.rtx": {
                "CameraSensor": self._listed("CameraSensor.__init__", self.camera)
            },
            "isaacsim.storage.native": {"get_assets_root_path": self._listed("get_assets_root_path")},
            "omni.graph.core": {"Controller": self.graph},
            "usdrt": {"Sdf": SimpleNamespace(Path=str)},
        }

    def of(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(arguments, keywords) for called, arguments, keywords in self.calls if called == name]


@pytest.fixture
def isaac(monkeypatch: pytest.MonkeyPatch) -> Iterator[Isaac]:
    made = Isaac()
    for name, members in made.modules().items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            whole = ".".join(parts[:end])
            module = sys.modules.get(whole)
            if module is None:
                module = ModuleType(whole)
                monkeypatch.setitem(sys.modules, whole, module)
                if end > 1:
                    setattr(sys.modules[".".join(parts[: end - 1])], parts[end - 1], module)
        vars(sys.modules[name]).update(members)
    monkeypatch.delitem(sys.modules, "jarvis_sim.isaac.api", raising=False)
    yield made
    sys.modules.pop("jarvis_sim.isaac.api", None)


@pytest.fixture
def opened(isaac: Isaac, tmp_path: Path) -> Callable[[IsaacConfig], Any]:
    """The simulator with a scene open."""
    file = tmp_path / "cell.usda"
    stage = Usd.Stage.CreateNew(str(file))
    UsdGeom.Xform.Define(stage, "/World")
    isaac.answers |= {"open_stage": (True, stage), "is_stage_loading": False, "get_assets_root_path": "root"}

    def open_it(config: IsaacConfig = ISAAC) -> Any:
        api = importlib.import_module("jarvis_sim.isaac.api")
        simulator = api.IsaacSimulator(create_autospec(App, instance=True), config, SIM.gripper)
        simulator.open(file, HANDLES)
        return simulator

    return open_it


def test_a_scene_is_opened_and_its_robot_made_ready(isaac: Isaac, opened: Callable[..., Any]) -> None:
    simulator = opened()
    assert isaac.of("SimulationManager.setup_simulation")[0][1]["dt"] == ISAAC.physics.timestep_s
    assert isaac.of("RigidPrim.__init__")[0][0] == (["/World/bricks/a"],)
    assert isaac.of("Articulation.__init__")[0][0] == ("/World/robot",)
    assert isaac.of("CameraSensor.__init__")[0][1]["resolution"] == (3, 4)
    names = [name for name, _, _ in isaac.calls]
    assert names.index("stop") < names.index("open_stage") < names.index("play")
    stiffness, damping = isaac.robot.set_dof_gains.call_args.args
    np.testing.assert_allclose(stiffness[0, :7], ISAAC.drive.stiffness)
    np.testing.assert_allclose(stiffness[0, 7:], 2 * SIM.gripper.kp)
    np.testing.assert_allclose(damping[0, 7:], 2 * SIM.gripper.kv)
    assert simulator.robot_address() == f"root{ISAAC.robot_usd}"


def test_steps_draw_nothing_and_pictures_take_no_time(isaac: Isaac, opened: Callable[..., Any]) -> None:
    simulator = opened()
    simulator.step()
    assert len(isaac.of("SimulationManager.step")) == 1
    assert not isaac.of("RenderingManager.render")
    pictures = [(None, {})] * 2 + [(warp(np.ones((3, 4, 4), np.uint8)), {}), (warp(np.ones((3, 4, 1))), {})]
    isaac.camera.get_data.side_effect = pictures
    rgb, depth = simulator.capture("top")
    assert (rgb.shape, depth.shape) == ((3, 4, 3), (3, 4))
    assert len(isaac.of("RenderingManager.render")) == ISAAC.camera.frames_per_picture + 1
    assert len(isaac.of("SimulationManager.step")) == 1


def test_joints_are_made_on_the_open_stage(isaac: Isaac, opened: Callable[..., Any]) -> None:
    simulator = opened()
    stage = isaac.answers["open_stage"][1]
    joint = simulator.fasten("a", GROUND, Pose(), np.zeros(3))
    simulator.move(joint, Pose((0.0, 0.0, 0.1)), np.zeros(3))
    simulator.strengthen(joint, 24.0, 0.1)
    assert stage.GetPrimAtPath(joint).GetTypeName() == "PhysicsFixedJoint"
    simulator.loosen(joint)
    assert not stage.GetPrimAtPath(joint)


def test_the_bridge_is_made_where_it_is_asked_for(isaac: Isaac, opened: Callable[..., Any]) -> None:
    opened()
    isaac.graph.edit.assert_not_called()
    bridge = msgspec.structs.replace(ISAAC.bridge, enabled=True)
    opened(msgspec.structs.replace(ISAAC, bridge=bridge))
    (where, what) = isaac.graph.edit.call_args.args
    assert where["graph_path"].startswith("/World/")
    assert ("clock", "isaacsim.ros2.bridge.ROS2PublishClock") in what[isaac.graph.Keys.CREATE_NODES]


def test_without_isaac_sim_the_port_says_so() -> None:
    sys.modules.pop("jarvis_sim.isaac.api", None)
    with pytest.raises(MissingCapabilityError, match="not running in this process"):
        importlib.import_module("jarvis_sim.isaac.api")
