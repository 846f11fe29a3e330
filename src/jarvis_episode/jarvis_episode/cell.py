"""The embedded cell in this process: world, robot, cameras, planner and skills of one task."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.observation import Observation
from jarvis_motion.factory import make_backend
from jarvis_robot.model import RobotModel
from jarvis_sim.robot import SimCamera, SimRobot, SimSceneSource
from jarvis_sim.world import SimWorld
from jarvis_skills.cell_context import SkillContext
from jarvis_skills.executor import SkillExecutor
from jarvis_tasks.task import Task

from jarvis_episode.settings import Settings


@dataclass(frozen=True, slots=True)
class EmbeddedCell:
    """Everything that answers an agent's calls. One thread uses it."""

    world: SimWorld
    robot: SimRobot
    camera: SimCamera
    scenes: SimSceneSource
    skills: SkillExecutor

    @classmethod
    def build(cls, task: Task, settings: Settings, catalogue: PartCatalogue, seed: int) -> EmbeddedCell:
        """The cell at the initial state that (task, seed) decides.

        Raises:
            RefusedError: no free table space, or a part that can't be simulated.
        """
        model = RobotModel.load(settings.robot)
        world = SimWorld(task, settings.cell, settings.sim, catalogue, seed, robot=model)
        robot, scenes = SimRobot(world), SimSceneSource(world)
        backend = make_backend(model, settings.motion)
        context = SkillContext(robot, backend, scenes, settings.cell, settings.robot, settings.skills)
        return cls(world, robot, SimCamera(world), scenes, SkillExecutor(context))

    def observe(self) -> Observation:
        return Observation(self.camera.capture(), self.robot.state())

    def close(self) -> None:
        self.skills.context.backend.close()
        self.world.close()
