"""The embedded simulator as a node: arm, gripper, cameras and simulator control behind standard interfaces."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.objects import WorldState
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import scene_to_ros, state_to_ros
from jarvis_core.ros.main import Stop, run_node
from jarvis_robot.model import RobotModel
from jarvis_tasks.store import load_task
from jarvis_tasks.task import TASK_SCHEMA, Task
from rclpy.executors import Executor
from rclpy.node import Node

from jarvis_interfaces.srv import GetObjectStates, GetScene
from jarvis_sim.config import SimConfig
from jarvis_sim.engine import WorldError
from jarvis_sim.robot import SimCamera, SimRobot, SimSceneSource
from jarvis_sim.ros.arm_servers import ArmServers
from jarvis_sim.ros.control_services import ControlServices
from jarvis_sim.ros.streams import (
    CAMERA_FRAME,
    GRIPPER_CAMERA_FRAME,
    CameraStream,
    MarkerStream,
    RobotStreams,
    TruthStreams,
)
from jarvis_sim.ros.world_loop import CHUNK_S, WorldLoop
from jarvis_sim.world import GRIPPER_CAMERA, OVERVIEW_CAMERA, TOP_CAMERA, SimWorld

#: Most time steps of one /sim/step_simulation call; they can't be interrupted by other requests.
MAX_STEPS = 500_000
EMPTY_TASK = Task(TASK_SCHEMA, "empty", "empty", "An empty cell", "", "", (0, 0), (), ())


def parse_uri(uri: str) -> tuple[Path | None, int]:
    """``TASK_FOLDER?seed=N`` as (folder, seed); an empty folder means an empty cell."""
    # From the right: a folder's name may hold a question mark itself.
    path, found, number = uri.removeprefix("file://").rpartition("?seed=")
    if not found:
        path, number = number, "0"
    try:
        seed = int(number)
    except ValueError as error:
        raise BadInputError(
            "the seed is no whole number", where=uri, fix="write TASK_FOLDER?seed=3"
        ) from error
    return (Path(path) if path else None), seed


class SimNode(Node):
    """The node. Its callbacks never touch the world: the loop's thread does.

    ROS parameters:
        task, seed: the world to start with; an empty task gives an empty cell.
        advance: ``continuous``, or ``on_demand``: time passes only while arm or gripper are commanded.
        real_time_factor: simulated per wall-clock second at most; 0: as fast as the machine can.
        camera_rate_hz, overview_rate_hz, gripper_camera_rate_hz: pictures per simulated second; 0 for none. The
            gripper's are taken only while anybody listens.

    Attributes:
        about: what /sim/get_simulator_features tells in words.
        spawns: whether its worlds let bricks appear and vanish.
    """

    about = "jarvis_sim, on MuJoCo; load_world takes TASK_FOLDER?seed=N, spawn_entity ldraw:PART?colour=CODE"
    spawns = True

    def __init__(self, executor: Executor) -> None:
        super().__init__("sim")
        advance = self.declare_parameter("advance", "continuous").value
        if advance not in ("continuous", "on_demand"):
            raise BadInputError(
                f"advance is {advance!r}", where="sim_node", fix="use continuous or on_demand"
            )
        self._cell = load_default("cell", CellConfig)
        self._config = load_default("sim", SimConfig)
        self._catalogue = PartCatalogue(LDrawLibrary.find(None))
        self._model = RobotModel.load(self._cell.robot)
        self._loop = WorldLoop(
            executor,
            step=self._advance,
            heartbeat=self._heartbeat,
            busy=lambda: self._servers.busy,
            on_demand=advance == "on_demand",
            real_time_factor=self.declare_parameter("real_time_factor", 0.0).value,
        )
        sent = self._config.rates
        self._robot_streams = RobotStreams(self, self._model, self._cell, sent)
        self._truth = TruthStreams(self, sent)
        self._markers = MarkerStream(self, sent)
        self._cameras = self._make_cameras()
        self._servers = ArmServers(self, executor, self._loop, lambda: self.robot)
        self._control = ControlServices(self, self._loop, self, self.about, spawns=self.spawns)
        self.create_service(GetScene, "/sim/get_scene", self._get_scene)
        self.create_service(GetObjectStates, "/sim/get_object_states", self._get_object_states)
        self._uri = (
            f"{self.declare_parameter('task', '').value}?seed={self.declare_parameter('seed', 0).value}"
        )
        self._world: SimWorld | None = None
        self._broken = ""

    def _make_cameras(self) -> list[CameraStream]:
        rates = [
            self.declare_parameter(f"{name}_rate_hz", rate).value
            for name, rate in (("camera", 1.0), ("overview", 0.0), ("gripper_camera", 1.0))
        ]

        def capture(name: str) -> Callable[[], CameraFrame]:
            return lambda: SimCamera(self.world, name).capture()

        return [
            CameraStream(
                self, "/camera", CAMERA_FRAME, capture(TOP_CAMERA), rates[0], depth=True, at_rest=True
            ),
            # A film: frames between its frames would only make it jerk.
            CameraStream(
                self, "/camera/overview", CAMERA_FRAME, self._overview, rates[1], depth=False, at_rest=False
            ),
            CameraStream(
                self, "/gripper_camera", GRIPPER_CAMERA_FRAME, capture(GRIPPER_CAMERA), rates[2],
                depth=True, at_rest=True, for_somebody=True,
            ),
        ]  # fmt: skip

    # -- in the world's thread

    @property
    def world(self) -> SimWorld:
        if self._world is None:
            raise RefusedError("no world is loaded", where="/sim", fix="call /sim/load_world")
        return self._world

    @property
    def robot(self) -> SimRobot:
        """The arm, to be commanded; raises RefusedError while the world is broken."""
        if self._broken:
            raise RefusedError(self._broken, where="/sim", fix="reset the simulation or load a world")
        return SimRobot(self.world)

    def run(self, stop: Stop) -> int:
        """Load the first world and serve until stopped (the main thread)."""
        self._stop = stop
        self.load(self._uri)
        self._loop.run(stop)
        return 0

    def load(self, uri: str) -> None:
        folder, seed = parse_uri(uri)
        task = load_task(folder) if folder is not None else EMPTY_TASK
        world = self.make_world(task, seed)
        self._servers.abandon("the world was replaced")
        if self._world is not None:
            self._world.close()
        self._world, self._seed, self._broken = world, seed, ""
        self._restarted()
        self.get_logger().info(f"world: task {task.id}, seed {seed}")

    def make_world(self, task: Task, seed: int) -> SimWorld:
        """The cell of a task; a node of another simulator makes its own."""
        return SimWorld(task, self._cell, self._config, self._catalogue, seed, robot=self._model)

    def reset(self) -> None:
        self._servers.abandon("the simulation was reset")
        self.world.reset(self._seed)
        self._broken = ""
        self._restarted()

    def steps(self, count: int) -> None:
        if count > MAX_STEPS:
            raise RefusedError(f"{count} steps in one call", where="/sim", fix=f"ask for at most {MAX_STEPS}")
        for _ in range(count):
            if self._stop.is_set():
                return
            self.world.step()

    def move(self, brick: str, pose: Pose) -> None:
        if any(thing.id == brick and thing.fixed for thing in self.world.objects()):
            raise RefusedError(f"{brick} is part of the fixed structure", where="/sim/set_entity_state")
        self.world.move(brick, pose)

    def spawn(self, name: str, uri: str, pose: Pose, *, rename: bool) -> str:
        names = {thing.id for thing in self.world.state().objects}
        if rename and (not name or name in names):
            stem = name or "brick"
            name = next(free for i in itertools.count(1) if (free := f"{stem}_{i}") not in names)
        self.world.spawn(name, uri, pose)
        return name

    def delete(self, brick: str) -> None:
        self.world.delete(brick)

    def state(self) -> WorldState | None:
        if self._world is None:
            return None
        present, state = {thing.id for thing in self._world.objects()}, self._world.state()
        return msgspec.structs.replace(state, objects=tuple(o for o in state.objects if o.id in present))

    def _restarted(self) -> None:
        """Everything is due at once: the new world may stand at the very time the old one stood at."""
        self._truth.reset()
        streams = (self._robot_streams, self._truth, self._markers, *self._cameras)
        for stream in streams:
            stream.pacer.reset()
        self._heartbeat(still=True)

    def _advance(self) -> None:
        if self._broken:
            return
        try:
            self.world.advance(CHUNK_S)
        except WorldError as error:
            # The episode is lost, the process lives: a reset or another world starts anew.
            self._broken = error.line()
            self.get_logger().error(self._broken)
            self._servers.abandon(self._broken)

    def _heartbeat(self, still: bool) -> None:
        """Answer ended goals and publish what is due."""
        world = self.world
        if self._robot_streams.pacer.due(world.time_s, still):
            robot, names = SimRobot(world), self._model.config.arm_joints
            state = robot.state()
            self._robot_streams.publish(world.time_s, names, state.joints_rad, state.gripper_width_m)
            self._robot_streams.publish_wrench(robot.wrench())
        if self._truth.pacer.due(world.time_s, still):
            self._truth.publish_state(world.state())
        self._truth.publish_events(world.events())
        if self._markers.due(world.time_s, still):
            self._markers.publish(world.time_s, world.objects())
        for camera in self._cameras:
            if camera.due(world.time_s, still):
                camera.publish()
        self._servers.poll()

    def _overview(self) -> CameraFrame:
        """Colours only: depth would cost as much again, and nobody needs it of a picture for people."""
        camera = self._cell.overview_camera
        rgb = self.world.cameras.picture(OVERVIEW_CAMERA)
        return CameraFrame(
            self.world.time_s, rgb, np.zeros((0, 0), np.float32), camera.intrinsics(), camera.pose()
        )

    # -- callbacks

    async def _get_scene(self, request: GetScene.Request, response: GetScene.Response) -> GetScene.Response:
        try:
            scene = await self._loop.submit(lambda: SimSceneSource(self.world).scene())
        except RefusedError as error:
            response.message = error.line()
            return response
        response.success, response.scene = True, scene_to_ros(scene)
        return response

    async def _get_object_states(
        self, request: GetObjectStates.Request, response: GetObjectStates.Response
    ) -> GetObjectStates.Response:
        try:
            state, events = await self._loop.submit(lambda: (self.world.state(), len(self.world.events())))
        except RefusedError as error:
            response.message = error.line()
            return response
        response.success, response.states, response.events = True, state_to_ros(state, 0), events
        return response

    def close(self) -> None:
        if self._world is not None:
            self._world.close()


def main() -> None:
    sys.exit(run_node(SimNode, lambda node, stop: node.run(stop)))
