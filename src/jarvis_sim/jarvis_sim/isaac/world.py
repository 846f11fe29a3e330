"""The cell of one task in Isaac Sim, with the surface of the embedded ``SimWorld`` that the node works with."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CameraConfig, CellConfig
from jarvis_core.errors import RefusedError
from jarvis_core.objects import GROUND, ConnectionEvent, ObjectState, RigidObject, WorldState
from jarvis_core.observation import CameraFrame, RobotState
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.model import RobotModel
from jarvis_tasks.task import Task

from jarvis_sim.bricks import BrickItem
from jarvis_sim.config import SimConfig
from jarvis_sim.control import ArmController
from jarvis_sim.engine import WorldError
from jarvis_sim.gripper_control import GripperController
from jarvis_sim.isaac import scene
from jarvis_sim.isaac.clutch import IsaacClutch
from jarvis_sim.isaac.config import IsaacConfig
from jarvis_sim.isaac.placement import Placement, place
from jarvis_sim.isaac.ports import Handles, Simulator, Touch
from jarvis_sim.structure import scene_pairs
from jarvis_sim.world import GRIPPER_CAMERA, OVERVIEW_CAMERA, TOP_CAMERA

#: Time in which bricks come to rest before they are weighed.
_SETTLE_S = 0.2
#: A brick at rest weighs what it should, to this share.
_WEIGHT_TOLERANCE = 0.2
_GRAVITY_M_S2 = 9.81


class IsaacArm:
    """Arm and gripper: the embedded simulator's controllers, feeding the drives of Isaac Sim's joints."""

    def __init__(self, robot: RobotModel, sim: SimConfig, timestep_s: float, simulator: Simulator) -> None:
        gripper = robot.config.gripper
        self.robot = robot
        self.controller = ArmController(robot.config.arm_joints, robot.limits, sim.arm, timestep_s)
        self.gripper = GripperController(
            gripper.max_width_m, gripper.force_n, gripper.open_speed_m_s, sim.gripper, timestep_s
        )
        self._simulator = simulator
        self._positions = np.zeros(robot.n_joints + 2)
        self.time_s = 0.0

    def reset(self) -> None:
        """To the home position, open, at rest."""
        self.time_s = 0.0
        width = self.robot.config.gripper.max_width_m
        self._positions = np.array([*self.robot.config.home_rad, width / 2, width / 2])
        self._simulator.place_dofs(self._positions)
        self._simulator.limit_grip(self.robot.config.gripper.force_n)
        self.controller.hold(self.joints)
        self.gripper.hold(width)

    def before_step(self) -> None:
        """Read the joints, run the controllers, command the drives."""
        self._positions, speeds = self._simulator.dofs()
        n = self.robot.n_joints
        wanted = self.controller.update(self.joints, speeds[:n])
        width = self.gripper.update(self.width_m, float(speeds[n:].sum()))
        positions = np.array([*wanted.position, width / 2, width / 2])
        self._simulator.drive(positions, np.array([*wanted.velocity, 0.0, 0.0]))

    @property
    def joints(self) -> FloatArray:
        """(n,) measured joint positions, rad."""
        joints: FloatArray = self._positions[: self.robot.n_joints].copy()
        return joints

    @property
    def width_m(self) -> float:
        """Measured distance between the pads."""
        return float(self._positions[self.robot.n_joints :].sum())

    def state(self) -> RobotState:
        joints = self.joints
        return RobotState(self.time_s, tuple(joints.tolist()), self.width_m, self.robot.tool(joints))

    def wrench(self) -> None:
        """None: no external torques are read from Isaac Sim."""

    def hand(self) -> Pose:
        """Pose of the hand link in ``world``."""
        return self.robot.forward(self.joints)[self.robot.config.hand_link]


class IsaacCameras:
    """The cell's cameras, by name."""

    def __init__(self, configs: dict[str, CameraConfig], simulator: Simulator, arm: IsaacArm) -> None:
        self._configs = configs
        self._simulator = simulator
        self._arm = arm

    def capture(self, name: str) -> CameraFrame:
        """Take an RGB-D picture."""
        config = self._configs[name]
        rgb, depth = self._simulator.capture(name)
        pose = self._arm.hand() @ config.pose() if name == GRIPPER_CAMERA else config.pose()
        return CameraFrame(self._arm.time_s, rgb, depth, config.intrinsics(), pose)

    def picture(self, name: str) -> npt.NDArray[np.uint8]:
        """(height, width, 3) colours."""
        return self._simulator.capture(name)[0]


class IsaacWorld:
    """One task in Isaac Sim. Belongs to the thread that owns the simulator.

    Args: as ``SimWorld``, and the port to Isaac Sim.

    Raises:
        RefusedError: a part that can't be simulated loose, or no free table space.
        BadInputError: an unknown part or colour.
        WorldError: Isaac Sim's contacts don't carry the bricks' weight: they mean something else than assumed here.
    """

    def __init__(
        self,
        task: Task,
        cell: CellConfig,
        sim: SimConfig,
        isaac: IsaacConfig,
        catalogue: PartCatalogue,
        seed: int,
        simulator: Simulator,
        *,
        robot: RobotModel,
    ) -> None:
        self.task, self.cell = task, cell
        self._sim, self._isaac, self._catalogue, self._simulator = sim, isaac, catalogue, simulator
        self._dt = isaac.physics.timestep_s
        self._steps = 0
        self._every = max(1, round(sim.clutch.sample_s / self._dt))
        self._frame_every = max(1, round(isaac.render_every_s / self._dt))
        self._touches: list[Touch] = []
        self._folder = tempfile.TemporaryDirectory(prefix="jarvis-isaac-")
        self.arm = IsaacArm(robot, sim, self._dt, simulator)
        configs = {
            TOP_CAMERA: cell.top_camera,
            OVERVIEW_CAMERA: cell.overview_camera,
            GRIPPER_CAMERA: cell.gripper_camera,
        }
        self._resolutions = {name: (config.width, config.height) for name, config in configs.items()}
        self.cameras = IsaacCameras(configs, simulator, self.arm)
        self._placement = self._open(seed)
        bodies = self._placement.stud_bodies(cell)
        self._clutch = IsaacClutch(bodies, sim.clutch, simulator, self.is_held)
        self._fixed = [ObjectState(item.id, item.pose) for item in self._placement.fixed]
        self._stack = scene_pairs(task)
        self._start()
        self._weigh()
        self._start()

    @property
    def time_s(self) -> float:
        """Simulated seconds since the reset."""
        return round(self._steps * self._dt, 9)

    @property
    def timestep_s(self) -> float:
        return self._dt

    def step(self) -> None:
        """One step of ``timestep_s``."""
        self.arm.before_step()
        self._simulator.step()
        self._steps += 1
        self.arm.time_s = self.time_s
        if self._steps % self._every == 0:
            self._sample()
        if not self._isaac.headless and self._steps % self._frame_every == 0:
            self._simulator.render()

    def advance(self, seconds: float) -> None:
        """Let time pass; a motion that is under way goes on, else the robot holds still."""
        for _ in range(round(seconds / self._dt)):
            self.step()

    def reset(self, seed: int) -> None:
        """Back to the initial state that (task, seed) decides, at time 0."""
        self._placement = place(self.task, self.cell, self._sim.layout, self._catalogue, seed)
        self._start()

    def state(self) -> WorldState:
        """True poses, held flags and connections, those of the structure included."""
        poses = self._simulator.poses()
        loose = [
            ObjectState(item.id, poses[item.id], self.is_held(item.id)) for item in self._placement.loose
        ]
        return WorldState(self.time_s, (*self._fixed, *loose), self._stack + self._clutch.connections())

    def objects(self) -> tuple[RigidObject, ...]:
        """Every brick with its shape, at its present pose: those of the structure first."""
        states = self.state().objects
        return tuple(
            _rigid(item, state, fixed=number < len(self._fixed))
            for number, (item, state) in enumerate(zip(self._placement.items, states, strict=True))
        )

    def events(self) -> tuple[ConnectionEvent, ...]:
        """All connection events since the reset."""
        return self._clutch.events()

    def is_held(self, brick: str) -> bool:
        """Whether both fingers touch a brick."""
        links = self._isaac.robot_links
        touched = {touch.other.rpartition("/")[2] for touch in self._touches if touch.brick == brick}
        return {links.left_finger, links.right_finger} <= touched

    def move(self, brick: str, pose: Pose) -> None:
        """Put a loose brick somewhere at once, at rest; it must not be connected."""
        if any(brick in pair for pair in self._clutch.connections()):
            raise RefusedError(f"{brick} is connected", fix="release it first")
        self._simulator.place({brick: pose})

    def close(self) -> None:
        """Take the scene's file away; the simulator keeps what it has open."""
        self._folder.cleanup()

    def _open(self, seed: int) -> Placement:
        file = Path(self._folder.name) / "cell.usda"
        placement = scene.write_scene(
            file, self.task, self.cell, self._sim, self._isaac, self._catalogue, seed,
            robot_usd=self._simulator.robot_address(),
        )  # fmt: skip
        paths = scene.brick_paths(placement)
        config = self.arm.robot.config
        handles = Handles(
            dofs=(*config.arm_joints, *config.finger_joints),
            bricks={item.id: paths[item.id] for item in placement.loose},
            others={paths[item.id]: item.id for item in placement.fixed} | {str(scene.PLATE): GROUND},
            fixed={item.id: item.pose for item in placement.fixed} | {GROUND: self.cell.plate.pose},
            cameras=self._resolutions,
        )
        self._simulator.open(file, handles)
        return placement

    def _start(self) -> None:
        """Everything at its initial place."""
        self._clutch.reset()
        places = {item.id: item.pose for item in self._placement.loose}
        self.arm.reset()
        self._simulator.place(places)
        # What is drawn follows the physics with a step; the bricks then stand exactly where they should.
        self._simulator.step()
        self._simulator.place(places)
        self._steps, self._touches = 0, []
        self.arm.reset()

    def _sample(self) -> None:
        self._touches = list(self._simulator.touches())
        self._clutch.sample(self.time_s, self._simulator.poses(), self._touches)

    def _weigh(self) -> None:
        """Check, with every world, that contacts are forces in newton that point as assumed."""
        self.advance(_SETTLE_S)
        self._touches = list(self._simulator.touches())
        for item in self._placement.loose:
            mass = max(item.geometry.mass_kg, self._sim.bricks.mass_floor_kg)
            carried = sum(float(touch.force[2]) for touch in self._touches if touch.brick == item.id)
            if not math.isclose(carried, mass * _GRAVITY_M_S2, rel_tol=_WEIGHT_TOLERANCE):
                raise WorldError(
                    f"the contacts of {item.id} carry {carried:.3f} N, but it weighs {mass * _GRAVITY_M_S2:.3f} N",
                    where="Isaac Sim",
                    fix="compare jarvis_sim/isaac/views.py with the contact API of this version of Isaac Sim",
                )


def _rigid(item: BrickItem, state: ObjectState, *, fixed: bool) -> RigidObject:
    return RigidObject(
        id=item.id,
        kind=item.geometry.part,
        colour=item.colour,
        pose=state.pose,
        boxes=item.geometry.boxes,
        held=state.held,
        fixed=fixed,
    )
