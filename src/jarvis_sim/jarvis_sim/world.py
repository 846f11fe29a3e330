"""The simulated cell of one task."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.objects import GROUND, ConnectionEvent, ObjectState, RigidObject, WorldState
from jarvis_core.pose import Pose
from jarvis_core.seeds import generator
from jarvis_robot.model import RobotModel
from jarvis_tasks.task import Task

from jarvis_sim.arm import Arm
from jarvis_sim.bricks import BrickItem, Bricks
from jarvis_sim.camera import CameraItem, Cameras, Segmentation
from jarvis_sim.clutch import Clutch
from jarvis_sim.config import SimConfig
from jarvis_sim.connections import StudBody
from jarvis_sim.engine import Component, Engine
from jarvis_sim.inventory import Inventory
from jarvis_sim.layout import LooseItem, lay_out
from jarvis_sim.perturb import Perturbations
from jarvis_sim.spawning import NameTakenError, check_name, parse_part, spawned
from jarvis_sim.structure import scene_pairs, stud_body, supported, with_all_above
from jarvis_sim.tabletop import Tabletop, plate_studs

TOP_CAMERA, OVERVIEW_CAMERA, GRIPPER_CAMERA = "top", "overview", "gripper"


#: A brick appears at most this deep in something else.
_TOUCHING_M = 0.0005


class _Spawned(msgspec.Struct, frozen=True):
    id: str
    part: str
    colour: int


class _Snapshot(msgspec.Struct, frozen=True):
    """Which bricks of the structure were free bodies, which were spawned, and the engine's own snapshot."""

    free: list[str]
    spawned: list[_Spawned]
    engine: bytes


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
        cameras: ``top``, ``overview`` and ``gripper``.
        perturb: what may go wrong, on demand.
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
        self._liberal = sim.bricks.baked == "auto"
        self._gripped: frozenset[int]
        self.engine: Engine
        robot = robot or RobotModel.load(cell.robot)
        self._pairs = scene_pairs(task)
        self._scene_ids = frozenset(brick.id for brick in task.scene)
        self.arm = Arm(robot, sim.arm, sim.gripper, sim.bricks.contact, sim.looks.robot_detail)
        self.cameras = Cameras(
            {
                TOP_CAMERA: CameraItem(cell.top_camera, sim.looks.top_camera),
                OVERVIEW_CAMERA: CameraItem(cell.overview_camera, sim.looks.overview_camera),
                GRIPPER_CAMERA: CameraItem(
                    cell.gripper_camera, sim.looks.gripper_camera, robot.config.hand_link
                ),
            },
            lambda camera: self._stream("depth", camera, str(self.engine.steps)),
        )
        self.perturb = Perturbations(self)
        self._stock = Inventory(task, cell.plate.pose, catalogue, sim.layout.distractors)
        self._places = self._layout(seed)
        self._assemble(self._free_at_start())

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
        if self._liberal and self.arm.held != self._gripped:
            self._gripped = self.arm.held
            self._loosen_gripped()

    def advance(self, seconds: float) -> None:
        """Let time pass; a motion that is under way goes on, else the robot holds still."""
        for _ in range(round(seconds / self.timestep_s)):
            self.step()

    def reset(self, seed: int) -> None:
        """Back to the initial state that (task, seed) decides, at time 0."""
        self._places = self._layout(seed)
        free = self._free_at_start()
        if free != self._free or self._stock.spawned:
            self._rebuild(free, {})
        self._bricks.set_initial(self._places | self._standing(free))
        self.engine.reset()

    def snapshot(self) -> bytes:
        """The whole state, robot's motion included."""
        snapshot = _Snapshot(sorted(self._free), self._spawned(), self.engine.save())
        return msgspec.msgpack.encode(snapshot)

    def restore(self, data: bytes) -> None:
        """Back to a snapshot of this world, or of an equal one; raises BadInputError for any other bytes."""
        try:
            snapshot = msgspec.msgpack.decode(data, type=_Snapshot)
        except msgspec.DecodeError as error:
            raise BadInputError(f"not a snapshot ({error})") from error
        free = frozenset(snapshot.free)
        if not free <= self._scene_ids:
            raise BadInputError(
                "the snapshot is of another world",
                fix="restore it into a world of the same task and configuration",
            )
        if free != self._free or snapshot.spawned != self._spawned():
            origin, known = Pose(), self._catalogue
            items = {s.id: spawned(s.id, s.part, s.colour, origin, known) for s in snapshot.spawned}
            self._rebuild(free, items)
        self.engine.load(snapshot.engine)

    def state(self) -> WorldState:
        """True poses, held flags and connections, those of the baked structure included."""
        held, bodies, pose = self.arm.held, self._bricks.bodies, self._bricks.pose
        objects = tuple(
            ObjectState(item.id, pose(item.id), bodies[item.id] in held) for item in self._stock.items()
        )
        return WorldState(self.time_s, objects, self._baked_pairs + self._clutch.connections())

    def objects(self) -> tuple[RigidObject, ...]:
        """Every brick with its shape, at its present pose: those of the structure first; not those taken away."""
        return tuple(
            RigidObject(
                id=item.id,
                kind=item.geometry.part,
                colour=item.colour,
                pose=self._bricks.pose(item.id),
                boxes=item.geometry.boxes,
                held=self.is_held(item.id),
                fixed=item.id in self._stock.scene and item.id not in self._free,
            )
            for item in self._stock.items()
            if not self._bricks.is_away(item.id)
        )

    def segmentation(self, camera: str) -> Segmentation:
        """Which brick each pixel shows: ground truth, for evaluators only.

        Raises:
            MissingCapabilityError: there is no OpenGL on this machine.
        """
        numbers = {number: brick for brick, number in self._bricks.bodies.items()}
        return self.cameras.segmentation(camera, numbers)

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
        """Put a loose brick somewhere at once, at rest; it must not be engaged (else see ``perturb``)."""
        if any(brick in pair for pair in self._clutch.connections()):
            raise RefusedError(f"{brick} is connected", fix="release it first")
        self._bricks.move(brick, pose)

    def spawn(self, name: str, uri: str, pose: Pose) -> None:
        """Let a further brick appear at rest, until the next reset.

        Args:
            uri: as ``spawning.parse_part`` takes it.
            pose: of the part frame in ``world``.

        Raises:
            BadInputError: an address, part, colour or name that can't be.
            NameTakenError: as it says.
            RefusedError: the part can't be simulated, or the brick would stand in something.
        """
        check_name(name)
        if self.engine.has_body(name) or name in self._stock.scene:
            raise NameTakenError(
                f"the name {name!r} is taken", where="spawned brick", fix="choose another one"
            )
        before = dict(self._stock.spawned)
        item = spawned(name, *parse_part(uri), pose, self._catalogue)
        self._rebuild(self._free, {**before, name: item})
        depth = self.deepest_contact_m(name)
        if depth > _TOUCHING_M:
            self._rebuild(self._free, before)
            raise RefusedError(
                f"{name} would stand {depth * 1000:.1f} mm deep in something", where="spawned brick",
                fix="choose another pose: that of the part's frame, which for a brick is the middle of its top",
            )  # fmt: skip

    def delete(self, brick: str) -> None:
        """Take a brick out of the cell. A spawned one is forgotten; of the task's own the state goes on to be told."""
        if brick in self._stock.spawned:
            self._clutch.cut(brick)
            self._rebuild(self._free, {k: v for k, v in self._stock.spawned.items() if k != brick})
        else:
            self.perturb.remove(brick)

    def loosen(self, brick: str) -> None:
        """Break all connections of a brick, at once and without force. A baked one becomes a free body first, and
        so does everything that rests on it, still connected among itself."""
        self._stock.known(brick)
        if brick in self._stock.scene and brick not in self._free:
            self._unbake([brick])
        self._clutch.cut(brick)

    def pose(self, brick: str) -> Pose:
        """Present pose of a brick's part frame, ``world``; raises RefusedError for one that is not there."""
        self._stock.known(brick)
        return self._bricks.pose(brick)

    def bottom_m(self, brick: str) -> float:
        """Height of the lowest point of a brick's body, ``world``."""
        item = self._stock.known(brick)
        corners = np.array(np.meshgrid(*item.geometry.bounds.T)).reshape(3, -1).T
        return float((self.pose(brick) @ corners)[:, 2].min())

    def put(self, brick: str, pose: Pose) -> None:
        """As ``move``, for a brick that was loosened."""
        self._bricks.move(brick, pose)

    def throw(self, brick: str, velocity_m_s: tuple[float, float, float]) -> None:
        """Give a free brick a velocity, ``world``."""
        self._bricks.throw(brick, velocity_m_s)

    def set_away(self, brick: str) -> int:
        """Let a free brick be weightless and unseen; gives the number of those that already were."""
        return self._bricks.set_away(brick)

    def deepest_contact_m(self, brick: str) -> float:
        """How deep a brick stands in something, now that it was put somewhere; 0 if it touches nothing."""
        return self.engine.deepest_contact_m(self._bricks.bodies[brick])

    def add_observer(self, period_s: float, call: Callable[[], None]) -> int:
        """Have ``call`` called every ``period_s`` of simulated time, as it passes; gives a handle."""
        return self.engine.observe(period_s, call)

    def remove_observer(self, handle: int) -> None:
        self.engine.unobserve(handle)

    def close(self) -> None:
        """Give the GL context back."""
        self.cameras.close()

    def _spawned(self) -> list[_Spawned]:
        return [_Spawned(i.id, i.geometry.part, i.colour) for i in self._stock.spawned.values()]

    def _free_at_start(self) -> frozenset[str]:
        """Bricks of the structure that are free bodies from the start."""
        return supported(self._stock.scene, self._pairs) if self._sim.bricks.baked == "never" else frozenset()

    def _standing(self, free: frozenset[str]) -> dict[str, Pose]:
        return {brick: self._stock.scene[brick].pose for brick in free}

    def _assemble(self, free: frozenset[str]) -> None:
        """Build engine and components; ``free`` bricks of the structure are bodies that the clutch holds."""
        self._free = free
        self._baked_pairs = tuple(pair for pair in self._pairs if pair[0] not in free)
        self._gripped = frozenset()
        self._bricks = Bricks(
            [item for item in self._stock.scene.values() if item.id not in free],
            [item for item in self._stock.items() if item.id in free or item.id not in self._stock.scene],
            self._sim.bricks,
            self._stock.rgba,
        )
        appear = {item.id: item.pose for item in self._stock.spawned.values()}
        self._bricks.set_initial(self._places | self._standing(free) | appear)
        joined = [pair for pair in self._pairs if pair[0] in free]
        self._clutch = Clutch(
            self._stud_bodies(), self._sim.clutch, self._bricks.bodies, self.is_held, joined
        )
        components: list[Component] = [
            Tabletop(
                self.cell,
                self._sim.bricks.contact,
                self._sim.looks,
                self._bricks.covers(),
                lambda: self._stream("looks"),
            ),
            self._bricks,
            self.arm,
            self._clutch,
            self.cameras,
        ]
        self.engine = Engine(components, self._sim.engine)

    def _rebuild(self, free: frozenset[str], spawned: dict[str, BrickItem]) -> None:
        """Another set of free bodies; everything else goes on as it is."""
        engine, arm, clutch, were_free = self.engine, self.arm.save(), self._clutch.save(), self._free
        bricks = self._bricks
        held = [name for name, number in bricks.bodies.items() if number in self.arm.held]
        away = [name for name in bricks.bodies if bricks.is_away(name)]
        self.cameras.close()
        self._stock.spawned = spawned
        self._assemble(free)
        self.engine.adopt(engine)
        bodies = self._bricks.bodies
        for item in self._bricks.free:
            if item.id in away:
                self._bricks.set_away(item.id)
        self.arm.load(arm | {"held": sorted(bodies[name] for name in held if name in bodies)})
        self._clutch.rejoin(clutch, were_free)

    def _unbake(self, bricks: Sequence[str]) -> None:
        free = supported(with_all_above(bricks, self._pairs), self._pairs)
        stuck = sorted(set(bricks) - free)
        if stuck:
            raise RefusedError(
                f"{stuck[0]} can't come off: no studs below hold it", where=f"task {self.task.id}"
            )
        if self._sim.bricks.baked == "always":
            raise RefusedError(
                f"{bricks[0]} is baked into the world", where="bricks.baked: always",
                fix="set bricks.baked to auto or never in config/sim.yaml",
            )  # fmt: skip
        self._rebuild(self._free | free, self._stock.spawned)

    def _loosen_gripped(self) -> None:
        """A brick of the structure that the gripper took hold of must be able to come off."""
        gripped = [
            brick for brick in supported(self._stock.scene, self._pairs)
            if brick not in self._free and self.is_held(brick)
        ]  # fmt: skip
        if gripped:
            self._unbake(gripped)

    def _stud_bodies(self) -> list[StudBody]:
        plate = StudBody(GROUND, plate_studs(self.cell.plate), np.zeros((0, 3)), self.cell.plate.pose)
        baked = [stud_body(item, item.pose) for item in self._bricks.baked]
        return [plate, *baked, *(stud_body(item, None) for item in self._bricks.free)]

    def _layout(self, seed: int) -> dict[str, Pose]:
        items = [LooseItem(i.id, i.geometry.bounds, colour=i.colour) for i in self._stock.loose.values()]
        targets = np.array(
            [self._stock.loose[brick.id].pose.position[:2] for brick in self.task.targets]
        ).reshape(-1, 2)
        self._seed = seed
        return lay_out(items, targets, self.cell.supply, self._sim.layout, self._stream("layout"))

    def _stream(self, *names: str) -> np.random.Generator:
        """Random numbers of one kind, decided by the task and the seed of the last reset."""
        return generator(self._seed, self.task.id, *names)
