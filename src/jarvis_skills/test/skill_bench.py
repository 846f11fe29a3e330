"""One real cell for all tests of skills: simulated Panda, roboplan, a few bricks; every test starts from its snapshot.

Seen from above, x up, y to the left (positions in metres on the table, in studs on the plate)::

      plate:  wall (2x4 along x, fixed)         table:  a (2x4)     b (2x2)
              at stud (0, 0)                            flat (2x4 plate)
                                                        slope (2x2)   dot (1x1)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.motion import Cancellation
from jarvis_core.objects import RigidObject
from jarvis_core.pose import Pose
from jarvis_core.skills import PickGoal, SkillGoal, SkillResult
from jarvis_core.status import Status
from jarvis_motion.backend import MotionBackend
from jarvis_motion.config import MotionConfig
from jarvis_motion.factory import make_backend
from jarvis_robot.config import load_robot_config
from jarvis_robot.model import RobotModel
from jarvis_sim.config import SimConfig
from jarvis_sim.robot import SimRobot, SimSceneSource
from jarvis_sim.world import SimWorld
from jarvis_skills.cell_context import Held, SkillContext
from jarvis_skills.config import SkillsConfig
from jarvis_skills.executor import SkillExecutor
from jarvis_skills.grasp import bottom_z, boxes_at
from jarvis_skills.holding import measure_in_hand
from jarvis_skills.registry import skill_of
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task

#: Part and place on the table (x, y, yaw) of every loose brick.
LOOSE = {
    "a": ("3001", 0.42, -0.12, 0.3),
    "b": ("3003", 0.54, -0.12, -0.4),
    "flat": ("3020", 0.42, -0.24, 1.2),
    "slope": ("3039", 0.54, -0.24, 0.7),
    "dot": ("3005", 0.48, -0.30, 0.1),
}


def brick(name: str, part: str, x: float, y: float, z: float) -> PlacedBrick:
    """In frame ``plate``: x, y in studs, z of the part frame in metres."""
    return PlacedBrick(name, part, 4, Pose((0.008 * x, 0.008 * y, z)), 0, "plate", ("plate",))


#: Of a brick whose long side lies on the table.
ON_ITS_SIDE = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
UPSIDE_DOWN = (1.0, 0.0, 0.0, 0.0)


@dataclass
class Bench:
    """The cell, and what tests ask of it."""

    world: SimWorld
    robot: SimRobot
    scenes: SimSceneSource
    backend: MotionBackend
    skills: SkillExecutor
    initial: bytes = b""
    phases: list[str] = field(default_factory=list)
    picked: dict[str, tuple[bytes, Held]] = field(default_factory=dict)

    @property
    def ctx(self) -> SkillContext:
        return self.skills.context

    def reset(self) -> None:
        self.world.restore(self.initial)
        self.ctx.held = None
        self.backend.detach()
        self.backend.set_gripper_width(self.world.arm.width_m)

    def hold(self, name: str) -> None:
        """From the start to where a pick of that brick ends; it is run once, and gone back to after that."""
        if name not in self.picked:
            assert self.run(PickGoal(name)).ok
            assert self.ctx.held is not None
            self.picked[name] = (self.world.snapshot(), self.ctx.held)
            return
        snapshot, self.ctx.held = self.picked[name]
        self.world.restore(snapshot)
        self.backend.set_gripper_width(self.world.arm.width_m)
        measure_in_hand(self.ctx)

    def run(self, goal: SkillGoal, cancel: Cancellation | None = None) -> SkillResult:
        """Run a goal and check what holds for every result."""
        self.phases = []
        before_s = self.world.time_s
        result = self.skills.run(goal, self.phases.append, cancel)
        self.check(goal, result, self.world.time_s - before_s)
        return result

    def check(self, goal: SkillGoal, result: SkillResult, took_s: float) -> None:
        skill = skill_of(goal)
        assert result.status in skill.exits
        assert result.message
        assert result.facts["duration_s"] == pytest.approx(took_s)
        assert result.facts["held"] == (self.ctx.held is not None)
        if result.ok:
            assert set(skill.facts) <= set(result.facts)
        held = [o.id for o in self.world.objects() if o.held]
        believed = [self.ctx.held.object.id] if self.ctx.held is not None else []
        # Pads that were stopped in mid-closing may touch a brick without gripping it.
        assert held == believed or (result.status is Status.CANCELED and not believed), result
        self.assert_still()

    def assert_still(self) -> None:
        saved, joints = self.world.snapshot(), self.world.arm.joints
        self.world.advance(0.2)
        assert np.abs(self.world.arm.joints - joints).max() < 3e-3
        self.world.restore(saved)

    def find(self, name: str) -> RigidObject:
        return next(o for o in self.world.objects() if o.id == name)

    def pose(self, name: str) -> Pose:
        return self.find(name).pose

    def on_plate(self, x: float, y: float, z: float = 0.0096, yaw: float = 0.0) -> Pose:
        """World pose of a part whose origin lies at studs x, y and z metres above the plate."""
        pose: Pose = self.world.cell.plate.pose @ Pose.from_yaw((0.008 * x, 0.008 * y, z), yaw)
        return pose

    def refuse(self, goal: SkillGoal, status: Status, *words: str) -> SkillResult:
        """Run a goal that must be refused before anything moves, with a message that has these words in it."""
        before = self.world.snapshot()
        result = self.run(goal)
        assert result.status is status, result
        for word in words:
            assert word in result.message
        assert self.world.snapshot() == before
        return result


def lay(bench: Bench, name: str, lying: Pose, at: tuple[float, float] = (0.42, -0.12)) -> None:
    """Lay a brick on the table, turned as ``lying`` is, and let it come to rest."""
    bottom = bottom_z(boxes_at(bench.find(name), Pose((0.0, 0.0, 0.0), lying.quaternion)))
    bench.world.move(name, Pose((*at, 1e-4 - bottom), lying.quaternion))
    bench.world.advance(0.2)


def make_bench() -> Bench:
    """Build the cell; its owner closes backend and world."""
    cell = load_default("cell", CellConfig)
    config = load_robot_config(cell.robot)
    model = RobotModel.load(config)
    heights = {"3001": 0.0096, "3003": 0.0096, "3020": 0.0032, "3039": 0.0096, "3005": 0.0096}
    # Where they should end matters to nobody here.
    targets = [brick(name, part, 0, 12, heights[part]) for name, (part, *_) in LOOSE.items()]
    task = Task(
        TASK_SCHEMA, "toy", "toy", "", "", "", (1, 1), (brick("wall", "3001", 0, 0, 0.0096),), tuple(targets)
    )
    world = SimWorld(task, cell, load_default("sim", SimConfig), PartCatalogue(), 0, robot=model)
    robot, scenes = SimRobot(world), SimSceneSource(world)
    backend = make_backend(model, load_default("motion", MotionConfig))
    ctx = SkillContext(robot, backend, scenes, cell, config, load_default("skills", SkillsConfig))
    bench = Bench(world, robot, scenes, backend, SkillExecutor(ctx))
    for name, (part, x, y, yaw) in LOOSE.items():
        height = -PartCatalogue().geometry(part).bounds[0, 2]
        world.move(name, Pose.from_yaw((x, y, float(height)), yaw))
    world.advance(0.1)
    bench.initial = world.snapshot()
    return bench
