"""The perception node: what the top camera shows, as a scene for skills, agents and people."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, JarvisError, PerceptionRefusedError
from jarvis_core.files import encode
from jarvis_core.manual import PartCount
from jarvis_core.observation import CameraFrame
from jarvis_core.ros.conversions import pose_to_ros, scene_to_ros
from jarvis_core.ros.main import Stop, run_node
from jarvis_core.ros.waiting import in_thread
from jarvis_core.seen import SeenScene
from jarvis_robot.model import RobotModel
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Image
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from jarvis_interfaces.msg import Scene as SceneMsg
from jarvis_interfaces.srv import GetScene, PlanGrasps
from jarvis_perception.config import PerceptionConfig
from jarvis_perception.perceiver import BrickPerception
from jarvis_perception.robot import ArmShape
from jarvis_perception.ros.camera_topics import CellTopics
from jarvis_perception.ros.drawing import markers, picture
from jarvis_perception.scene import to_scene

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
OPTICAL_FRAME = "camera_optical_frame"
#: Wall-clock time that a request waits for a picture.
PICTURE_TIMEOUT_S = 8.0
#: A request wants what is there now: a picture at most so old by the cell's clock, if one comes in time.
PREFERRED_AGE_S = 0.25


def parts_of(text: str) -> tuple[PartCount, ...]:
    """``3001:4,3020:14`` (part:colour) as a list of parts; empty: whatever the catalogue knows."""
    found = []
    for item in filter(None, (word.strip() for word in text.split(","))):
        part, colon, colour = item.partition(":")
        if not colon or not colour.isdigit():
            raise BadInputError(
                f"{item!r} is no part:colour", where="perception_node, parts", fix="write 3001:4,3020:14"
            )
        found.append(PartCount(part, "", int(colour), "", 1))
    return tuple(found)


class PerceptionNode(Node):
    """Serves /perception/get_scene and /perception/plan_grasps; publishes what it sees.

    Seeing takes a while, so it is done in worker threads, one at a time; no callback waits.

    ROS parameters:
        parts: what may lie there, ``part:colour`` separated by commas.
        rate_hz: scenes published per second of the wall clock at most; only for new pictures.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__("perception")
        self._executor_of_node = executor
        self._parts = parts_of(self.declare_parameter("parts", "").value)
        self._period_s = 1.0 / max(self.declare_parameter("rate_hz", 5.0).value, 0.1)
        self._cell = load_default("cell", CellConfig)
        self._config = load_default("perception", PerceptionConfig)
        catalogue = PartCatalogue(LDrawLibrary.find(None))
        model = RobotModel.load(self._cell.robot)
        self._colours = catalogue.colours
        self._eyes = BrickPerception(
            self._cell, self._config, catalogue, arm=ArmShape(model), fingers=model.config.gripper.clearance()
        )
        self._looking = threading.Lock()
        self._new = threading.Event()
        self._scene = self.create_publisher(SceneMsg, "/perception/scene", LATCHED)
        self._seen = self.create_publisher(String, "/perception/seen", LATCHED)
        self._markers = self.create_publisher(MarkerArray, "/perception/markers", LATCHED)
        self._picture = self.create_publisher(Image, "/perception/annotated/image_raw", 2)
        self._topics = CellTopics(self, self._cell.top_camera.pose(), model, self._new.set)
        group = ReentrantCallbackGroup()
        self.create_service(GetScene, "/perception/get_scene", self._get_scene, callback_group=group)
        self.create_service(PlanGrasps, "/perception/plan_grasps", self._plan_grasps, callback_group=group)
        known = f"{len(self._parts)} kinds of brick" if self._parts else "the whole catalogue"
        self.get_logger().info(f"perception: {known}; scene at /perception/get_scene")

    def publish_until(self, stop: Stop) -> None:
        """Look at every new picture, at most ``rate_hz`` times a second, as long as anybody listens."""
        refusal = ""
        while not stop.is_set():
            if not self._new.wait(0.2):
                continue
            self._new.clear()
            began = time.monotonic()
            if any(
                p.get_subscription_count() for p in (self._scene, self._seen, self._markers, self._picture)
            ):
                try:
                    self._publish(*self._look())
                    refusal = ""
                except JarvisError as error:
                    # Once for each reason: a lens cap stays on for a while.
                    if error.what != refusal:
                        self.get_logger().warning(error.line())
                    refusal = error.what
            stop.wait(max(0.0, began + self._period_s - time.monotonic()))

    def _look(self) -> tuple[CameraFrame, SeenScene]:
        """Raises PerceptionRefusedError."""
        frame = self._topics.frame(PICTURE_TIMEOUT_S, PREFERRED_AGE_S)
        with self._looking:
            seen = self._eyes.perceive(
                frame, parts=self._parts, robot=self._topics.robot(frame.time_s), now_s=self._topics.now_s
            )
        return frame, seen

    def _publish(self, frame: CameraFrame, seen: SeenScene) -> None:
        self._scene.publish(scene_to_ros(to_scene(seen, self._cell)))
        self._seen.publish(String(data=encode(seen).decode()))
        self._markers.publish(markers(seen, self._colours))
        if self._picture.get_subscription_count():
            self._picture.publish(picture(frame, seen, OPTICAL_FRAME))

    async def _get_scene(self, request: Any, response: Any) -> Any:
        try:
            frame, seen = await in_thread(self._executor_of_node, self._look, "look")
        except PerceptionRefusedError as error:
            response.success, response.message = False, error.line()
            return response
        response.success, response.message = True, "; ".join(seen.warnings)
        response.scene = scene_to_ros(to_scene(seen, self._cell))
        self._publish(frame, seen)
        return response

    async def _plan_grasps(self, request: Any, response: Any) -> Any:
        try:
            _, seen = await in_thread(self._executor_of_node, self._look, "look")
        except PerceptionRefusedError as error:
            response.success, response.message = False, error.line()
            return response
        with self._looking:
            grasps = self._eyes.plan_grasps(request.object_id)
        if grasps is None:
            known = ", ".join(brick.id for brick in seen.bricks if brick.visible) or "none"
            response.message = f"{request.object_id!r} is not seen now; bricks: {known}"
            return response
        response.tools = [pose_to_ros(grasp.tool) for grasp in grasps]
        response.widths_m = [grasp.width_m for grasp in grasps]
        response.scores = [grasp.score for grasp in grasps]
        response.reasons = [grasp.reason for grasp in grasps]
        response.success = bool(grasps) and not grasps[0].reason
        response.message = (
            "" if response.success else (grasps[0].reason if grasps else "no upright faces to grip")
        )
        return response


def main() -> None:
    sys.exit(run_node(PerceptionNode, lambda node, stop: node.publish_until(stop)))
