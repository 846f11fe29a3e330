"""The cell in Isaac Sim as a node: the embedded simulator's node with another world."""

from __future__ import annotations

from jarvis_core.config import load_default
from jarvis_core.ros.main import run_node
from jarvis_tasks.task import Task
from rclpy.executors import Executor

from jarvis_sim.engine import WorldError
from jarvis_sim.isaac.config import IsaacConfig
from jarvis_sim.isaac.ports import Simulator
from jarvis_sim.isaac.world import IsaacWorld
from jarvis_sim.ros.sim_node import SimNode


class IsaacNode(SimNode):
    """Parameters, actions, topics and services as ``SimNode``.

    Args:
        simulator: belongs to the thread that calls ``run``.
    """

    about = "jarvis_sim, on Isaac Sim; load_world takes TASK_FOLDER?seed=N"
    spawns = False

    def __init__(self, executor: Executor, simulator: Simulator) -> None:
        super().__init__(executor)
        self._simulator = simulator
        self._isaac = load_default("isaac", IsaacConfig)

    def make_world(self, task: Task, seed: int) -> IsaacWorld:
        return IsaacWorld(
            task,
            self._cell,
            self._config,
            self._isaac,
            self._catalogue,
            seed,
            self._simulator,
            robot=self._model,
        )

    def load(self, uri: str) -> None:
        try:
            super().load(uri)
        except WorldError as error:
            # Isaac Sim has one scene at a time: the old world is gone, too.
            self._broken = error.line()
            raise

    def _heartbeat(self, still: bool) -> None:
        super()._heartbeat(still)
        if not self._simulator.is_running():
            self._stop.set()
        elif still and not self._isaac.headless:
            self._simulator.render()  # else the window does not answer


def serve(simulator: Simulator) -> int:
    """Serve the cell in this thread until stopped; gives the exit status."""
    return run_node(lambda executor: IsaacNode(executor, simulator), lambda node, stop: node.run(stop))
