"""The port to Isaac Sim on its real API, and the only module that imports it. Import it after SimulationApp is made.

Not run in Isaac Sim on this project's machines: every name was looked up in its packages, 6.0.1 and 6.2.0
(docs/isaac-sim.md has the list), and what can be separated from it (views.py, joints.py, bridge.py) is tested.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.config import GripperDriveConfig
from jarvis_sim.engine import WorldError
from jarvis_sim.isaac import scene
from jarvis_sim.isaac.bridge import GRAPH_PATH, bridge_graph
from jarvis_sim.isaac.config import IsaacConfig
from jarvis_sim.isaac.joints import UsdFasteners
from jarvis_sim.isaac.ports import App, Handles, Touch
from jarvis_sim.isaac.views import BrickView, CameraSensorLike, RobotView, picture
from jarvis_sim.world import TOP_CAMERA

try:
    import isaacsim.core.experimental.utils.app as app_utils
    import isaacsim.core.experimental.utils.stage as stage_utils
    import omni.graph.core as og
    import usdrt
    from isaacsim.core.experimental.prims import Articulation, RigidPrim
    from isaacsim.core.rendering_manager import RenderingManager
    from isaacsim.core.simulation_manager import SimulationManager
    from isaacsim.sensors.experimental.rtx import CameraSensor
    from isaacsim.storage.native import get_assets_root_path
except ImportError as missing:
    raise MissingCapabilityError(
        f"Isaac Sim 6 is not running in this process ({missing})",
        where="Isaac Sim",
        fix="start the cell by `ros2 launch jarvis_bringup isaac.launch.py` (docs/isaac-sim.md)",
    ) from missing


class IsaacSimulator:
    """``jarvis_sim.isaac.ports.Simulator``.

    Args:
        grip: gains of the gripper's opening; a finger's are twice as large, since it moves half as far.
    """

    def __init__(self, app: App, config: IsaacConfig, grip: GripperDriveConfig) -> None:
        self._app = app
        self._config = config
        self._grip = grip

    def robot_address(self) -> str:
        try:
            root = get_assets_root_path()
        except RuntimeError as error:
            raise MissingCapabilityError(
                f"Isaac Sim's assets are not reachable ({error})",
                where="config/isaac.yaml robot_usd",
                fix="see Isaac Sim's documentation on local assets",
            ) from error
        return f"{root}{self._config.robot_usd}"

    def open(self, scene_file: Path, handles: Handles) -> None:
        app_utils.stop()
        self._app.update()
        opened, stage = stage_utils.open_stage(str(scene_file))
        if not opened or stage is None:
            raise WorldError("Isaac Sim can't open the scene", where=str(scene_file))
        while stage_utils.is_stage_loading():
            self._app.update()
        physics = self._config.physics
        SimulationManager.setup_simulation(dt=physics.timestep_s, device=physics.device)
        SimulationManager.enable_fabric(True)
        RenderingManager.set_dt(self._config.render_every_s)
        self._views(handles)
        self._fasteners = UsdFasteners(stage, handles.bricks, handles.fixed)
        if self._config.bridge.enabled:
            self._add_bridge(handles)
        app_utils.play()
        self._app.update()
        self._commands(handles)

    def _views(self, handles: Handles) -> None:
        """What has to be there before the simulation plays."""
        self._prims = self._bricks = None
        if handles.bricks:
            self._prims = RigidPrim(
                list(handles.bricks.values()), max_contact_count=self._config.physics.max_contacts
            )
            self._prims.set_enabled_contact_tracking([True])
            self._bricks = BrickView(
                self._prims, handles.bricks, handles.others, self._config.physics.timestep_s
            )
        self._articulation = Articulation(str(scene.ROBOT))
        names = self._config.camera.annotators
        self._cameras: dict[str, CameraSensorLike] = {
            name: CameraSensor(
                str(scene.camera_path(name, self._config)),
                resolution=(height, width),
                annotators=[names.rgb, names.depth],
            )
            for name, (width, height) in handles.cameras.items()
        }

    def _commands(self, handles: Handles) -> None:
        """What needs the simulation to play."""
        self._robot = RobotView(self._articulation, handles.dofs)
        self._articulation.set_link_enabled_gravities(
            [False]
        )  # a Panda's controller compensates its own weight
        drive = self._config.drive
        self._robot.set_gains(
            [*drive.stiffness, 2 * self._grip.kp, 2 * self._grip.kp],
            [*drive.damping, 2 * self._grip.kv, 2 * self._grip.kv],
        )

    def _add_bridge(self, handles: Handles) -> None:
        graph = bridge_graph(
            str(scene.ROBOT),
            str(scene.camera_path(TOP_CAMERA, self._config)),
            handles.cameras[TOP_CAMERA],
            self._config.bridge.namespace,
        )
        keys = og.Controller.Keys
        og.Controller.edit(
            {"graph_path": GRAPH_PATH, "evaluator_name": "execution"},
            {
                keys.CREATE_NODES: list(graph.nodes.items()),
                keys.CONNECT: graph.links,
                keys.SET_VALUES: [(name, _targets(value)) for name, value in graph.values.items()],
            },
        )

    def step(self) -> None:
        SimulationManager.step(steps=1, update_fabric=True)

    def render(self) -> None:
        RenderingManager.render()

    def dofs(self) -> tuple[FloatArray, FloatArray]:
        return self._robot.measure()

    def drive(self, positions: FloatArray, velocities: FloatArray) -> None:
        self._robot.drive(positions, velocities)

    def limit_grip(self, force_n: float) -> None:
        self._robot.limit_grip(force_n)

    def place_dofs(self, positions: FloatArray) -> None:
        self._robot.place(positions)

    def poses(self) -> dict[str, Pose]:
        return self._bricks.poses() if self._bricks is not None else {}

    def place(self, poses: dict[str, Pose]) -> None:
        if self._bricks is not None:
            self._bricks.place(poses)

    def touches(self) -> list[Touch]:
        return self._bricks.touches() if self._bricks is not None else []

    def capture(self, camera: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
        config, sensor = self._config.camera, self._cameras[camera]
        for _ in range(config.frames_per_picture):
            RenderingManager.render()
        for _ in range(config.warm_up_frames):
            taken = picture(sensor, config.annotators.rgb, config.annotators.depth)
            if taken is not None:
                return taken
            RenderingManager.render()
        raise WorldError(
            f"camera {camera} has no picture after {config.warm_up_frames} frames",
            where="Isaac Sim",
            fix="look for errors of the renderer above, or raise camera.warm_up_frames in config/isaac.yaml",
        )

    def is_running(self) -> bool:
        return self._app.is_running()

    def fasten(self, upper: str, lower: str, relative: Pose, anchor: FloatArray) -> str:
        return self._fasteners.fasten(upper, lower, relative, anchor)

    def move(self, joint: str, relative: Pose, anchor: FloatArray) -> None:
        self._fasteners.move(joint, relative, anchor)

    def strengthen(self, joint: str, force_n: float, torque_nm: float) -> None:
        self._fasteners.strengthen(joint, force_n, torque_nm)

    def loosen(self, joint: str) -> None:
        self._fasteners.loosen(joint)


def _targets(value: Any) -> Any:
    """Lists of prim paths as OmniGraph takes them."""
    return [usdrt.Sdf.Path(path) for path in value] if isinstance(value, list) else value
