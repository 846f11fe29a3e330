"""Large plates need more force than a grip on their sides may press with: closed fingers press from above."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.pose import Pose
from jarvis_core.skills import PickAndPlaceGoal
from jarvis_core.status import Status
from jarvis_motion.config import MotionConfig
from jarvis_motion.factory import make_backend
from jarvis_robot.config import load_robot_config
from jarvis_robot.model import RobotModel
from jarvis_sim.config import SimConfig
from jarvis_sim.robot import SimRobot, SimSceneSource
from jarvis_sim.world import SimWorld
from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.config import SkillsConfig
from jarvis_skills.executor import SkillExecutor
from jarvis_skills.press_down import above_top
from jarvis_skills.pressing import Pressed
from jarvis_tasks.task import TASK_SCHEMA, Task
from skill_bench import Bench, brick

from jarvis_skills import place

#: Plates of 4x8 and 6x12 studs, and where they lie on the table (x, y).
PLATES = {"small": ("3035", 0.40, -0.12), "large": ("3028", 0.52, -0.14)}
THICK_M = 0.0032


@pytest.fixture(scope="module")
def plates_at_start() -> Iterator[Bench]:
    cell = load_default("cell", CellConfig)
    config = load_robot_config(cell.robot)
    model = RobotModel.load(config)
    wall = (brick("wall", "3001", 0, 8, 0.0096), brick("far", "3001", 0, 5, 0.0096))
    # Where they should end matters to nobody here.
    targets = tuple(brick(name, part, 0, -12, THICK_M) for name, (part, *_) in PLATES.items())
    task = Task(TASK_SCHEMA, "toy", "toy", "", "", "", (1, 1), wall, targets)
    world = SimWorld(task, cell, load_default("sim", SimConfig), PartCatalogue(), 0, robot=model)
    robot, scenes = SimRobot(world), SimSceneSource(world)
    backend = make_backend(model, load_default("motion", MotionConfig))
    ctx = SkillContext(robot, backend, scenes, cell, config, load_default("skills", SkillsConfig))
    for name, (_, x, y) in PLATES.items():
        world.move(name, Pose.from_yaw((x, y, THICK_M), 1.5708))
    world.advance(0.1)
    yield Bench(world, robot, scenes, backend, SkillExecutor(ctx), initial=world.snapshot())
    backend.close()
    world.close()


@pytest.fixture
def plates(plates_at_start: Bench) -> Bench:
    plates_at_start.reset()
    return plates_at_start


def test_72_studs_are_pressed_on_from_above(plates: Bench) -> None:
    """At once, as the clutch asks: with 144 N, where the grip's friction holds for 55 N."""
    pressed: list[float] = []
    handle = plates.world.add_observer(0.01, lambda: pressed.append(plates.world.arm.wrench().force_n[2]))
    result = plates.run(PickAndPlaceGoal("large", plates.on_plate(0, 0, THICK_M)))
    plates.world.remove_observer(handle)
    assert result.ok, result
    assert plates.phases[-8:] == [
        "press", "release", "retreat", "close", "approach", "press", "retreat", "verify",
    ]  # fmt: skip
    assert result.facts["pressed_from_above"] is True
    assert ("large", "plate") in plates.world.state().connections
    (event,) = plates.world.events()
    assert event.studs == 72
    assert 144.0 <= event.force_n <= plates.ctx.config.top_press_limit_n + 3.0
    assert float(result.facts["error_m"]) < 1e-4  # type: ignore[arg-type]


def test_more_than_the_arm_may_press_with_is_refused(plates: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    weaker = msgspec.structs.replace(plates.ctx.config, top_press_limit_n=100.0)
    monkeypatch.setattr(plates.ctx, "config", weaker)
    goal = PickAndPlaceGoal("large", plates.on_plate(0, 0, THICK_M))
    words = "its 72 studs need 144 N", "may press with 100 N", "at most 50 studs"
    plates.refuse(goal, Status.PRECONDITION_FAILED, *words)


def test_a_press_that_is_not_felt_is_told(plates: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = plates.ctx.look()
    large = plates.ctx.find(scene, "large")
    placed = msgspec.structs.replace(large, pose=plates.on_plate(0, 0, THICK_M))
    enough = Pressed(True, 55.0, reached=True)
    monkeypatch.setattr(place, "press_from_above", lambda *_: Pressed(True, 90.0, from_above=True))
    with pytest.raises(
        StepFailed, match="large lies at its place, not pressed on: it needs 144 N, 90 N were felt"
    ):
        place.press_again(plates.ctx, scene, placed, enough)

    def blocked(*_: object) -> Pressed:
        raise StepFailed(Status.PLANNING_FAILED, "no way")

    monkeypatch.setattr(place, "press_from_above", blocked)
    with pytest.raises(StepFailed, match=r"not pressed on \(it needs 144 N\): no way"):
        place.press_again(plates.ctx, scene, placed, enough)


def test_an_overhanging_plate_is_pressed_over_what_carries_it(plates: Bench) -> None:
    """In its middle it would tip: only four rows of its twelve lie on the wall."""
    placed = msgspec.structs.replace(
        plates.ctx.find(plates.ctx.look(), "small"), pose=plates.on_plate(3, 8, 0.0128)
    )
    tip = above_top(plates.ctx, placed, plates.ctx.obstacles(plates.ctx.look(), ("small",)))
    carried = plates.on_plate(0.5, 8).position
    assert tip.position[:2] == pytest.approx(carried[:2], abs=1e-6)
