"""The scene behind a service: perception's, or a simulator's true one (declared privileged)."""

from __future__ import annotations

from jarvis_core.errors import PerceptionRefusedError
from jarvis_core.objects import Scene
from jarvis_core.ros.conversions import scene_from_ros
from jarvis_core.ros.waiting import require_server, wait_for
from rclpy.node import Node

from jarvis_interfaces.srv import GetScene

ANSWER_TIMEOUT_S = 10.0


class RosSceneSource:
    """Implements jarvis_core.ports.SceneSource by calling a GetScene service. Blocks: never use it in a callback."""

    def __init__(self, node: Node, service: str) -> None:
        self._service = service
        self._client = node.create_client(GetScene, service)

    def connect(self) -> None:
        """Wait for the service; raises MissingCapabilityError."""
        require_server(self._client, self._service)

    def scene(self) -> Scene:
        """What lies where now; raises PerceptionRefusedError where nothing can be told from the picture."""
        answer = wait_for(self._client.call_async(GetScene.Request()), ANSWER_TIMEOUT_S, self._service)
        if not answer.success:
            raise PerceptionRefusedError(answer.message, where=self._service)
        return scene_from_ros(answer.scene)
