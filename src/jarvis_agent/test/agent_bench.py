"""What tests of agents share: limits that end soon, and a cage around a handful of calls."""

from __future__ import annotations

from typing import Any
from unittest.mock import create_autospec

import cv2
import msgspec
import numpy as np
import pytest
from jarvis_agent.cage.cage import BadCall, Cage, ProgramEnd, Serve
from jarvis_agent.cage.isolation import Isolation, find_isolation, why_not
from jarvis_agent.config import AgentConfig, ProgramLimits
from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.manual import Manual, ManualPage, PartCount, TaskBrief
from jarvis_core.objects import Box, RigidObject, Scene
from jarvis_core.observation import CameraFrame, CameraIntrinsics, Observation, RobotState
from jarvis_core.planning import GraspPlan, PlannedGrasp, ReachAnswer
from jarvis_core.ports import Tools
from jarvis_core.pose import Pose
from jarvis_core.skills import SkillResult
from jarvis_core.status import Status

#: A picture of two by two pixels.
PNG = cv2.imencode(".png", np.zeros((2, 2, 3), np.uint8))[1].tobytes()
#: Quick episodes whose manual can be looked at.
PAGES = Manual(
    (ManualPage(0, PNG), ManualPage(1, PNG)),
    (PartCount("3001", "Brick 2 x 4", 4, "Red", 1),),
    "x to the right",
)
#: The plate's pose of config/cell.yaml: middle of its top.
PLATE = Pose((0.496, 0.144, 0.0032))
DOWN = (1.0, 0.0, 0.0, 0.0)
#: One call that answers with what it was told.
ECHO = {"name": "echo", "doc": "", "parameters": [{"name": "value", "required": False, "default": None}]}


def config() -> AgentConfig:
    return load_default("agent", AgentConfig)


def limits(**changed: Any) -> ProgramLimits:
    """The configured ones, with changes."""
    return msgspec.structs.replace(config().program, **changed)


def best_isolation() -> Isolation:
    """Skips where this machine has none: the doctor says so, too."""
    try:
        return find_isolation()
    except MissingCapabilityError as error:
        pytest.skip(error.line())


def require(isolation: Isolation) -> None:
    reason = why_not(isolation)
    if reason:
        pytest.skip(f"{isolation}: {reason}")


class Echo:
    """Serves ``echo`` and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    def __call__(self, name: str, arguments: dict[str, Any]) -> Any:
        self.asked.append((name, arguments))
        if name != "echo":
            raise BadCall(f"there is no call {name!r}")
        return {"ok": True, "value": arguments.get("value")}


def run_caged(
    program: str, isolation: Isolation | None = None, serve: Serve | None = None, **changed: Any
) -> ProgramEnd:
    """Run a program with ``echo``, under changed limits."""
    kind = best_isolation() if isolation is None else isolation
    return Cage(kind, limits(**changed), [ECHO], serve or Echo()).run(program)


def brick(
    name: str, part: str, colour: int, size: tuple[float, float, float], pose: Pose, **more: Any
) -> RigidObject:
    """A brick of one box below its frame."""
    return RigidObject(name, part, colour, pose, (Box(Pose((0.0, 0.0, -size[2] / 2)), size),), **more)


#: A red 2x4 and a blue 1x2 on the table, a red 2x2 on the plate, one stud off its middle along x and y.
LOOSE = brick("red", "3001", 4, (0.032, 0.016, 0.0096), Pose.from_yaw((0.4, -0.2, 0.0096), 0.5))
SMALL = brick("blue", "3004", 1, (0.016, 0.008, 0.0096), Pose((0.5, -0.2, 0.0096)))
BUILT = brick("base", "3003", 4, (0.016, 0.016, 0.0096), PLATE @ Pose((0.008, 0.008, 0.0096)))


def fake_tools(*things: RigidObject) -> Any:
    """Tools whose actions succeed for the bricks there are, and fail for others; spec'd, so no name can be wrong."""
    scene = Scene(0.0, "perceived", things or (LOOSE, SMALL, BUILT))
    tools = create_autospec(Tools, instance=True)
    tools.brief.return_value = TaskBrief("fake", PAGES, 1, 100.0)
    tools.time_s.return_value = 1.0
    tools.scene.return_value = scene
    depth = np.full((4, 6), 1.0, np.float32)
    depth[0, 0] = 0.0
    frame = CameraFrame(
        1.0,
        np.zeros((4, 6, 3), np.uint8),
        depth,
        CameraIntrinsics(6, 4, 10.0, 10.0, 2.5, 1.5),
        Pose((0.5, 0.0, 1.0), DOWN),
    )
    state = RobotState(1.0, (0.0,) * 7, 0.08, Pose((0.3, 0.0, 0.5), DOWN))
    tools.observe.return_value = Observation(frame, state)

    def act(held: bool) -> Any:
        def answer(name: str, *_: Any, **__: Any) -> SkillResult:
            if scene.find(name) is None:
                return SkillResult(
                    Status.PRECONDITION_FAILED, f"there is no object {name!r}", {"held": False}
                )
            return SkillResult(Status.SUCCEEDED, "done", {"held": held})

        return answer

    done = SkillResult(Status.SUCCEEDED, "done", {"held": False})
    tools.remove.side_effect, tools.press.side_effect = act(True), act(False)
    tools.pick.side_effect, tools.pick_and_place.side_effect = act(True), act(False)
    for action in (tools.place, tools.home, tools.move_to, tools.grip):
        action.return_value = done
    tools.plan_grasp.return_value = GraspPlan(Status.SUCCEEDED, "1 grasp", (PlannedGrasp(Pose(), 0.016),))
    tools.reach.return_value = ReachAnswer(Status.SUCCEEDED, "reached", (0.1,) * 7)
    return tools
