"""The simulated cell of one task."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import Connectors
from jarvis_core.cell import CellConfig
from jarvis_core.errors import RefusedError
from jarvis_core.objects import GROUND, ConnectionEvent, ObjectState, RigidObject, WorldState
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seeds import generator
from jarvis_robot.model import RobotModel
from jarvis_tasks.task import PlacedBrick, Task

from jarvis_sim.arm import Arm
from jarvis_sim.bricks import BrickItem, Bricks, Rgba, Tabletop, plate_studs
from jarvis_sim.camera import Cameras
from jarvis_sim.clutch import Clutch
from jarvis_sim.config import SimConfig
from jarvis_sim.connections import StudBody
from jarvis_sim.engine import Component, Engine
from jarvis_sim.layout import LooseItem, lay_out

TOP_CAMERA, OVERVIEW_CAMERA = "top", "overview"

_UP = 0.999


class SimWorld:
    """Table, plate, initial structure, loose bricks, robot and cameras of one task: a ``jarvis_core.ports.World``.

    One thread owns a world; nothing here is locked. The loose bricks carry the ids of the targets they are meant
    for.

    Args:
        task: whose scene is built and whose targets lie in the supply area.
        catalogue: knows the task's parts and colours.
        seed: decides, with the task's id, where loose bricks lie.
        robot: None: the one that ``cell.robot`` names.

    Raises:
        RefusedError: a part that can't be simulated loose, or no free table space.
        BadInputError: an unknown part or colour.

    Attributes:
        engine: the physics.
        arm: the robot in it.
        cameras: ``top`` and ``overview``.
    """

    def __init__(
        self,
        task: Task,
        cell: CellConfig,
        sim: SimConfig,
        catalogue: PartCatalogue,
        seed: int,
        *,
        robot: RobotModel | None = None,
    ) -> None:
        self.task = task
        self.cell = cell
        self._sim = sim
        self._catalogue = catalogue
        robot = robot or RobotModel.load(cell.robot)
        self._bricks = Bricks(
            [self._item(brick) for brick in task.scene],
            [self._loose_item(brick) for brick in task.targets],
            sim.bricks,
            self._rgba,
        )
        self.arm = Arm(
            robot, sim.arm, sim.gripper, sim.bricks.contact, sim.engine.timestep_s, sim.looks.robot_detail
        )
        self.cameras = Cameras(
            {
                TOP_CAMERA: (cell.top_camera, sim.looks.top_camera),
                OVERVIEW_CAMERA: (cell.overview_camera, sim.looks.overview_camera),
            }
        )
        self._clutch = Clutch(self._stud_bodies(), sim.clutch, self._bricks.bodies, self.is_held)
        self._baked_connections = _baked_connections(task)
        self._bricks.set_initial(self._layout(seed))
        components: list[Component] = [
            Tabletop(cell, sim.bricks.contact, sim.looks),
            self._bricks,
            self.arm,
            self._clutch,
            self.cameras,
        ]
        self.engine = Engine(components, sim.engine)

    @property
    def time_s(self) -> float:
        """Simulated seconds since the reset."""
        return self.engine.time_s

    @property
    def timestep_s(self) -> float:
        return self.engine.timestep_s

    def step(self) -> None:
        """One step of ``timestep_s``; raises WorldError when the simulation became unstable."""
        self.engine.step()

    def advance(self, seconds: float) -> None:
        """Let time pass; a motion that is under way goes on, else the robot holds still."""
        self.engine.advance(seconds)

    def reset(self, seed: int) -> None:
        """Back to the initial state that (task, seed) decides, at time 0."""
        self._bricks.set_initial(self._layout(seed))
        self.engine.reset()

    def snapshot(self) -> bytes:
        """The whole state, robot's motion included."""
        return self.engine.save()

    def restore(self, data: bytes) -> None:
        """Back to a snapshot of this world, or of an equal one; raises BadInputError for any other bytes."""
        self.engine.load(data)

    def state(self) -> WorldState:
        """True poses, held flags and connections, those of the baked structure included."""
        objects = tuple(
            ObjectState(item.id, self._bricks.pose(item.id), self.is_held(item.id))
            for item in (*self._bricks.baked, *self._bricks.free)
        )
        return WorldState(self.time_s, objects, self._baked_connections + self._clutch.connections())

    def objects(self) -> tuple[RigidObject, ...]:
        """Every brick with its shape, at its present pose: those of the structure first."""
        baked = [self._object(item, fixed=True) for item in self._bricks.baked]
        return (*baked, *(self._object(item, fixed=False) for item in self._bricks.free))

    def events(self) -> tuple[ConnectionEvent, ...]:
        """All connection events since the reset."""
        return self._clutch.events()

    def is_held(self, brick: str) -> bool:
        """Whether both finger pads touch a brick."""
        return self.arm.holds(self._bricks.bodies[brick])

    def pull_n(self, brick: str) -> float:
        """Net pull on an engaged brick along its studs, newton; 0 for one that is not engaged."""
        return self._clutch.pull_n(brick)

    def move(self, brick: str, pose: Pose) -> None:
        """Put a loose brick somewhere at once, at rest (perturbations and tests); it must not be engaged."""
        if any(brick in pair for pair in self._clutch.connections()):
            raise RefusedError(f"{brick} is connected", fix="release it first")
        self._bricks.move(brick, pose)

    def add_observer(self, period_s: float, call: Callable[[], None]) -> int:
        """Have ``call`` called every ``period_s`` of simulated time, as it passes; gives a handle."""
        return self.engine.observe(period_s, call)

    def remove_observer(self, handle: int) -> None:
        self.engine.unobserve(handle)

    def close(self) -> None:
        """Give the GL context back."""
        self.cameras.close()

    def _item(self, brick: PlacedBrick) -> BrickItem:
        pose = self.cell.plate.pose @ brick.pose
        return BrickItem(brick.id, self._catalogue.geometry(brick.part), brick.colour, pose)

    def _loose_item(self, brick: PlacedBrick) -> BrickItem:
        item = self._item(brick)
        if not item.geometry.physical:
            raise RefusedError(
                f"part {brick.part} can't be simulated loose: {item.geometry.not_physical_reason}",
                where=f"task {self.task.id}, brick {brick.id}",
                fix="choose a task without it",
            )
        return item

    def _object(self, item: BrickItem, *, fixed: bool) -> RigidObject:
        return RigidObject(
            id=item.id,
            kind=item.geometry.part,
            colour=item.colour,
            pose=self._bricks.pose(item.id),
            boxes=item.geometry.boxes,
            held=self.is_held(item.id),
            fixed=fixed,
        )

    def _rgba(self, code: int) -> Rgba:
        colour = self._catalogue.colours.get(code)
        red, green, blue = (value / 255 for value in colour.rgb)
        return (red, green, blue, colour.alpha / 255)

    def _stud_bodies(self) -> list[StudBody]:
        plate = StudBody(GROUND, plate_studs(self.cell.plate), np.zeros((0, 3)), self.cell.plate.pose)
        baked = [_stud_body(item, item.pose) for item in self._bricks.baked]
        return [plate, *baked, *(_stud_body(item, None) for item in self._bricks.free)]

    def _layout(self, seed: int) -> dict[str, Pose]:
        items = [LooseItem(item.id, item.geometry.bounds) for item in self._bricks.free]
        targets = np.array([item.pose.position[:2] for item in self._bricks.free]).reshape(-1, 2)
        rng = generator(seed, self.task.id, "layout")
        return lay_out(items, targets, self.cell.supply, self._sim.layout, rng)


def _stud_body(item: BrickItem, fixed: Pose | None) -> StudBody:
    geometry = item.geometry
    return StudBody(item.id, _upright(geometry.studs), _upright(geometry.antistuds), fixed)


def _upright(connectors: Connectors) -> FloatArray:
    """(n, 3) positions of those connectors whose axis is +z."""
    positions: FloatArray = connectors.positions[connectors.axes[:, 2] > _UP]
    return positions


def _baked_connections(task: Task) -> tuple[tuple[str, str], ...]:
    """Pairs (upper, lower) within the initial structure; which of two is the upper one, their height tells."""
    height = {brick.id: float(brick.pose.position[2]) for brick in task.scene}
    height[GROUND] = -np.inf
    pairs = {
        (brick.id, other)
        for brick in task.scene
        for other in brick.connections
        if other in height and height[other] < height[brick.id]
    }
    return tuple(sorted(pairs))
