"""The cell in Isaac Sim 6, as a standalone program for Isaac Sim's Python::

    ISAAC_SIM/python.sh -m jarvis_sim.isaac.run --ros-args -p task:=TASK_FOLDER -p seed:=0

``ros2 launch jarvis_bringup isaac.launch.py`` starts it with everything else.
"""

from __future__ import annotations

import sys

from jarvis_core.config import load_default
from jarvis_core.errors import JarvisError

from jarvis_sim.config import SimConfig
from jarvis_sim.isaac.config import IsaacConfig
from jarvis_sim.isaac.ports import App

#: The first brings rclpy along where no ROS 2 is sourced; the others are not part of every experience.
EXTENSIONS = ("isaacsim.ros2.bridge", "isaacsim.sensors.experimental.rtx", "isaacsim.sensors.physics.nodes")


def main() -> int:
    """Start Isaac Sim, serve the cell, end both."""
    try:
        from isaacsim import SimulationApp
    except ImportError:
        print(
            f"error: {sys.executable} is no Isaac Sim Python (there is no module isaacsim) - run this with Isaac Sim's "
            "python.sh, see docs/isaac-sim.md",
            file=sys.stderr,
        )
        return 2
    try:
        config, sim = load_default("isaac", IsaacConfig), load_default("sim", SimConfig)
    except JarvisError as error:
        print(f"error: {error.line()}", file=sys.stderr)
        return 2
    app = SimulationApp({"headless": config.headless})
    status = 1
    try:
        status = _serve(app, config, sim)
    finally:
        app.close(exit_code=status)
    return status


def _serve(app: App, config: IsaacConfig, sim: SimConfig) -> int:
    """Everything below can only be imported while the application runs."""
    import isaacsim.core.experimental.utils.app as app_utils

    absent = [name for name in EXTENSIONS if not app_utils.enable_extension(name)]
    if absent:
        print(
            f"error: this Isaac Sim has no extension {', '.join(absent)} - use Isaac Sim 6", file=sys.stderr
        )
        return 2
    try:
        from jarvis_sim.isaac.api import IsaacSimulator
        from jarvis_sim.isaac.ros.node import serve
    except JarvisError as error:
        print(f"error: {error.line()}", file=sys.stderr)
        return 2
    status: int = serve(IsaacSimulator(app, config, sim.gripper))
    return status


if __name__ == "__main__":
    sys.exit(main())
