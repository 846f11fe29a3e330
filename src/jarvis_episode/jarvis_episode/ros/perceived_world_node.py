"""The evaluator's door to a cell without a simulator: the task's bricks as perception sees them.

It serves under /perceived what a simulator serves under /sim: load_world, get_scene, get_object_states and the topic
object_states. Nothing is simulated and nothing is moved: to load a world is to look whether a person laid it out.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import JarvisError, RefusedError
from jarvis_core.files import decode
from jarvis_core.objects import Scene
from jarvis_core.ros.conversions import scene_from_ros, scene_to_ros, state_to_ros, time_from_ros
from jarvis_core.ros.main import run_node
from jarvis_core.ros.waiting import call, in_thread
from jarvis_core.seen import SeenScene
from jarvis_perception.scene import PERCEIVED
from jarvis_tasks.store import load_task
from jarvis_tasks.targets import scene_objects, target_objects
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import LoadWorld
from std_msgs.msg import String

from jarvis_episode.config import EpisodeConfig
from jarvis_episode.perceived_states import PerceivedStates
from jarvis_episode.recording.bag import STATE_TOPICS
from jarvis_episode.ros.listener import DEEP
from jarvis_interfaces.msg import ObjectStates
from jarvis_interfaces.srv import GetObjectStates, GetScene

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
#: A look waits for a picture, and takes a while itself.
LOOK_TIMEOUT_S = 60.0
#: What a look saw comes on a topic of its own, after the answer or before.
SEEN_TIMEOUT_S = 10.0
_SAME_TIME_S = 1e-6
#: Of many cells that are not as they should be so many are named.
_MOST_CELLS = 5


class PerceivedWorldNode(Node):
    """States by the cell's clock (that of /joint_states), at the rate at which episodes are recorded.

    Between two looks of perception the last one counts; ``get_object_states`` asks for a new one.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__("perceived_world")
        self._executor_of_node = executor
        self._cell = load_default("cell", CellConfig)
        self._catalogue = PartCatalogue(LDrawLibrary.find(None))
        self._period_s = 1.0 / load_default("episode", EpisodeConfig).state_rate_hz
        self._world: PerceivedStates | None = None
        self._news = threading.Condition()
        self._seen: SeenScene | None = None
        self._now_s = 0.0
        self._published_s = float("-inf")
        self._sequence = 0
        self._states = self.create_publisher(ObjectStates, STATE_TOPICS["perceived"], DEEP)
        group = ReentrantCallbackGroup()
        self._look_again = self.create_client(GetScene, "/perception/get_scene", callback_group=group)
        self.create_subscription(String, "/perception/seen", self._on_seen, LATCHED)
        self.create_subscription(JointState, "/joint_states", self._on_joints, 10)
        self.create_service(LoadWorld, "/perceived/load_world", self._load, callback_group=group)
        self.create_service(GetScene, "/perceived/get_scene", self._scene, callback_group=group)
        self.create_service(
            GetObjectStates, "/perceived/get_object_states", self._object_states, callback_group=group
        )
        self.get_logger().info("states as perception sees them: load a task with /episode/load")

    # -- topics

    def _on_seen(self, message: String) -> None:
        seen = decode(message.data.encode(), SeenScene, where="/perception/seen")
        with self._news:
            self._seen = seen
            if self._world is not None:
                self._world.update(seen)
            self._news.notify_all()

    def _on_joints(self, message: JointState) -> None:
        with self._news:
            self._now_s = time_from_ros(message.header.stamp)
            if self._now_s < self._published_s:  # another clock, as after a simulator's reset
                self._published_s = float("-inf")
            if self._world is not None and self._now_s >= self._published_s + self._period_s - _SAME_TIME_S:
                self._published_s = self._now_s
                self._states.publish(state_to_ros(self._world.state(self._now_s), self._sequence))
                self._sequence += 1

    # -- services

    async def _load(self, request: Any, response: Any) -> Any:
        folder = request.uri.partition("?")[0]
        refusal = await self._attempt(lambda: self._begin(Path(folder)), "load")
        response.result = (
            Result(result=Result.RESULT_OPERATION_FAILED, error_message=refusal)
            if refusal
            else Result(result=Result.RESULT_OK)
        )
        response.world.name = response.world.world_resource.uri = request.uri
        return response

    async def _scene(self, request: Any, response: Any) -> Any:
        def scene() -> None:
            world = self._looked()
            response.scene = scene_to_ros(Scene(self._now_s, PERCEIVED, world.objects))

        response.message = await self._attempt(scene, "scene")
        response.success = not response.message
        return response

    async def _object_states(self, request: Any, response: Any) -> Any:
        def states() -> None:
            world = self._looked()
            response.states = state_to_ros(world.state(self._now_s), 0)

        response.message = await self._attempt(states, "states")
        response.success = not response.message
        return response

    async def _attempt(self, work: Callable[[], None], name: str) -> str:
        """Work in a thread that may block; returns why it failed."""

        def attempt() -> str:
            try:
                work()
            except (JarvisError, TimeoutError) as error:
                return error.line() if isinstance(error, JarvisError) else str(error)
            return ""

        return str(await in_thread(self._executor_of_node, attempt, name))

    # -- work, in threads that may block

    def _begin(self, folder: Path) -> None:
        task = load_task(folder)
        plate = self._cell.plate.pose
        structure = scene_objects(task, self._catalogue, plate)
        targets = target_objects(task, self._catalogue, plate)
        world = PerceivedStates(targets, structure, self._catalogue, self._cell)
        seen = self._look()
        world.begin(seen)
        if odd := world.odd_cells(seen.structure):
            cells = "; ".join(
                f"({i}, {j}): {want} plates, seen {have}" for i, j, want, have in odd[:_MOST_CELLS]
            )
            self.get_logger().warning(
                f"the structure on the plate is not as the task has it in {len(odd)} cells: {cells}"
            )
        with self._news:
            self._world = world

    def _looked(self) -> PerceivedStates:
        """The world after a new look."""
        if self._world is None:
            raise RefusedError("no task is loaded", where="/perceived", fix="call /episode/load first")
        self._look()
        return self._world

    def _look(self) -> SeenScene:
        """What is seen now; raises RefusedError with perception's words, or TimeoutError."""
        looked = scene_from_ros(call(self._look_again, GetScene.Request(), LOOK_TIMEOUT_S).scene)
        deadline = time.monotonic() + SEEN_TIMEOUT_S
        with self._news:
            while self._seen is None or self._seen.time_s < looked.time_s - _SAME_TIME_S:
                if not self._news.wait(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError(f"nothing on /perception/seen of {looked.time_s:.2f} s")
            return self._seen


def main() -> None:
    sys.exit(run_node(PerceivedWorldNode))
