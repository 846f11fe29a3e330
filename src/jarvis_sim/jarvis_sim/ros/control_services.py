"""Simulator control by the standard simulation_interfaces, so that clients of other simulators can drive this one."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable
from typing import Any, Protocol

from geometry_msgs.msg import PoseStamped
from jarvis_core.errors import BadInputError, JarvisError, RefusedError
from jarvis_core.objects import ObjectState, WorldState
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import WORLD_FRAME, header, pose_from_ros, pose_to_ros
from rclpy.node import Node
from simulation_interfaces.msg import EntityState, Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntitiesStates,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    LoadWorld,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    SpawnEntity,
    StepSimulation,
)

from jarvis_sim.ros.world_loop import WorldLoop
from jarvis_sim.spawning import SCHEME, NameTakenError

#: Nothing is put farther away than this along any axis.
MAX_REACH_M = 3.0

logger = logging.getLogger(__name__)

FEATURES = (
    SimulatorFeatures.ENTITY_STATE_GETTING,
    SimulatorFeatures.ENTITY_STATE_SETTING,
    SimulatorFeatures.SIMULATION_RESET,
    SimulatorFeatures.SIMULATION_RESET_TIME,
    SimulatorFeatures.SIMULATION_RESET_STATE,
    SimulatorFeatures.SIMULATION_STATE_GETTING,
    SimulatorFeatures.SIMULATION_STATE_SETTING,
    SimulatorFeatures.SIMULATION_STATE_PAUSE,
    SimulatorFeatures.STEP_SIMULATION_SINGLE,
    SimulatorFeatures.STEP_SIMULATION_MULTIPLE,
    SimulatorFeatures.WORLD_LOADING,
)
#: Of a simulator whose worlds let bricks appear and vanish.
SPAWNING = (
    SimulatorFeatures.SPAWNING,
    SimulatorFeatures.DELETING,
    SimulatorFeatures.SIMULATION_RESET_SPAWNED,
)


class Simulation(Protocol):
    """What the services act on; every method belongs to the world's thread."""

    def load(self, uri: str) -> None:
        """Replace the world; raises JarvisError."""

    def reset(self) -> None:
        """Back to the initial state."""

    def steps(self, count: int) -> None:
        """Let so many time steps pass."""

    def move(self, brick: str, pose: Pose) -> None:
        """Put a loose object somewhere, at rest; raises RefusedError when it is fixed or connected."""

    def spawn(self, name: str, uri: str, pose: Pose, *, rename: bool) -> str:
        """Let an object appear; gives its name, a free one if it may be renamed. Raises JarvisError."""

    def delete(self, brick: str) -> None:
        """Take an object out of the world; raises RefusedError."""

    def state(self) -> WorldState | None:
        """True state of what is in the world; None without one."""


class ControlServices:
    """The services below /sim/.

    Args:
        about: what the features tell in words.
        spawns: whether objects can appear and vanish.
    """

    def __init__(
        self, node: Node, loop: WorldLoop, simulation: Simulation, about: str, *, spawns: bool
    ) -> None:
        self._about = about
        self._available = (*FEATURES, *SPAWNING) if spawns else FEATURES
        self._loop = loop
        self._simulation = simulation
        for kind, name, serve in (
            (LoadWorld, "load_world", self._load_world),
            (ResetSimulation, "reset_simulation", self._reset),
            (StepSimulation, "step_simulation", self._step),
            (SetSimulationState, "set_simulation_state", self._set_state),
            (GetSimulationState, "get_simulation_state", self._get_state),
            (GetSimulatorFeatures, "get_simulator_features", self._features),
            (GetEntities, "get_entities", self._entities),
            (GetEntityState, "get_entity_state", self._entity_state),
            (GetEntitiesStates, "get_entities_states", self._entities_states),
            (SetEntityState, "set_entity_state", self._set_entity_state),
        ):
            node.create_service(kind, f"/sim/{name}", serve)
        if spawns:
            node.create_service(SpawnEntity, "/sim/spawn_entity", self._spawn)
            node.create_service(DeleteEntity, "/sim/delete_entity", self._delete)

    async def _do(self, action: Callable[[], Any]) -> Result:
        """Run in the world's thread; the outcome as a standard result."""
        try:
            await self._loop.submit(action)
        except JarvisError as error:
            return Result(result=Result.RESULT_OPERATION_FAILED, error_message=error.line())
        except Exception as error:
            # A world that can't be made must not take the simulator along: the client is told, the log has it all.
            logger.exception("simulator control failed")
            message = f"{type(error).__name__}: {error}"
            return Result(result=Result.RESULT_OPERATION_FAILED, error_message=message)
        return Result(result=Result.RESULT_OK)

    async def _load_world(
        self, request: LoadWorld.Request, response: LoadWorld.Response
    ) -> LoadWorld.Response:
        if not request.uri:
            message = "give uri: TASK_FOLDER?seed=N; a world as a string is not supported"
            response.result = Result(result=LoadWorld.Response.NO_RESOURCE, error_message=message)
            return response
        response.result = await self._do(lambda: self._simulation.load(request.uri))
        response.world.name = request.uri
        response.world.world_resource.uri = request.uri
        return response

    async def _reset(
        self, request: ResetSimulation.Request, response: ResetSimulation.Response
    ) -> ResetSimulation.Response:
        response.result = await self._do(self._simulation.reset)
        return response

    async def _step(
        self, request: StepSimulation.Request, response: StepSimulation.Response
    ) -> StepSimulation.Response:
        if not self._loop.paused:
            message = "the simulation is not paused: pause it with set_simulation_state"
            response.result = Result(result=Result.RESULT_OPERATION_FAILED, error_message=message)
            return response
        response.result = await self._do(lambda: self._simulation.steps(request.steps))
        return response

    async def _set_state(
        self, request: SetSimulationState.Request, response: SetSimulationState.Response
    ) -> SetSimulationState.Response:
        wanted = request.state.state
        if wanted not in (SimulationState.STATE_PLAYING, SimulationState.STATE_PAUSED):
            message = "only STATE_PLAYING and STATE_PAUSED can be set"
            response.result = Result(result=Result.RESULT_FEATURE_UNSUPPORTED, error_message=message)
            return response
        paused = wanted == SimulationState.STATE_PAUSED
        if paused == self._loop.paused:
            response.result = Result(result=SetSimulationState.Response.ALREADY_IN_TARGET_STATE)
            return response
        response.result = await self._do(lambda: setattr(self._loop, "paused", paused))
        return response

    async def _get_state(
        self, request: GetSimulationState.Request, response: GetSimulationState.Response
    ) -> GetSimulationState.Response:
        state = await self._loop.submit(self._simulation.state)
        playing = SimulationState.STATE_PAUSED if self._loop.paused else SimulationState.STATE_PLAYING
        response.state.state = SimulationState.STATE_NO_WORLD if state is None else playing
        response.result.result = Result.RESULT_OK
        return response

    def _features(
        self, request: GetSimulatorFeatures.Request, response: GetSimulatorFeatures.Response
    ) -> GetSimulatorFeatures.Response:
        response.features.features = list(self._available)
        response.features.custom_info = self._about
        return response

    async def _entities(
        self, request: GetEntities.Request, response: GetEntities.Response
    ) -> GetEntities.Response:
        found, response.result, _ = await self._matching(request.filters.filter)
        response.entities = [o.id for o in found]
        return response

    async def _entity_state(
        self, request: GetEntityState.Request, response: GetEntityState.Response
    ) -> GetEntityState.Response:
        found, response.result, time_s = await self._matching(f"^{re.escape(request.entity)}$")
        if found:
            response.state = entity_state(found[0], time_s)
        elif response.result.result == Result.RESULT_OK:
            response.result = nobody(request.entity)
        return response

    async def _set_entity_state(
        self, request: SetEntityState.Request, response: SetEntityState.Response
    ) -> SetEntityState.Response:
        state = request.state
        pose = free_pose(state)
        if isinstance(pose, str):
            response.result = Result(result=SetEntityState.Response.INVALID_POSE, error_message=pose)
            return response
        if any((*vector(state.twist.linear), *vector(state.twist.angular))):
            message = "objects are put down at rest: a twist is not supported"
            response.result = Result(result=Result.RESULT_OPERATION_FAILED, error_message=message)
            return response
        found, response.result, _ = await self._matching(f"^{re.escape(request.entity)}$")
        if found:
            response.result = await self._do(lambda: self._simulation.move(request.entity, pose))
        elif response.result.result == Result.RESULT_OK:
            response.result = nobody(request.entity)
        return response

    async def _spawn(
        self, request: SpawnEntity.Request, response: SpawnEntity.Response
    ) -> SpawnEntity.Response:
        codes, problem = SpawnEntity.Response, self._unspawnable(request)
        pose = free_pose(request.initial_pose)
        if problem is None and isinstance(pose, str):
            problem = Result(result=codes.INVALID_POSE, error_message=pose)
        if problem is not None:
            response.result = problem
            return response
        spawn = functools.partial(self._simulation.spawn, request.name, request.uri, pose)
        try:
            response.entity_name = await self._loop.submit(lambda: spawn(rename=request.allow_renaming))
            response.result.result = Result.RESULT_OK
        except BadInputError as error:
            response.result = Result(result=codes.RESOURCE_PARSE_ERROR, error_message=error.line())
        except NameTakenError as error:
            response.result = Result(result=codes.NAME_NOT_UNIQUE, error_message=error.line())
        except RefusedError as error:
            response.result = Result(result=Result.RESULT_OPERATION_FAILED, error_message=error.line())
        return response

    def _unspawnable(self, request: SpawnEntity.Request) -> Result | None:
        """What is wrong with a request before anything is tried."""
        codes = SpawnEntity.Response
        if not request.uri:
            return Result(result=codes.NO_RESOURCE, error_message="give uri, for example ldraw:3001?colour=4")
        if not request.uri.startswith(f"{SCHEME}:"):
            message = f"{request.uri!r}: only parts can be spawned, for example ldraw:3001?colour=4"
            return Result(result=codes.UNSUPPORTED_FORMAT, error_message=message)
        if request.entity_namespace:
            message = "bricks have no interfaces: leave entity_namespace empty"
            return Result(result=codes.NAMESPACE_INVALID, error_message=message)
        if not request.name and not request.allow_renaming:
            return Result(result=codes.NAME_INVALID, error_message="give a name, or allow renaming")
        return None

    async def _delete(
        self, request: DeleteEntity.Request, response: DeleteEntity.Response
    ) -> DeleteEntity.Response:
        found, response.result, _ = await self._matching(f"^{re.escape(request.entity)}$")
        if found:
            response.result = await self._do(lambda: self._simulation.delete(request.entity))
        elif response.result.result == Result.RESULT_OK:
            response.result = nobody(request.entity)
        return response

    async def _entities_states(
        self, request: GetEntitiesStates.Request, response: GetEntitiesStates.Response
    ) -> GetEntitiesStates.Response:
        found, response.result, time_s = await self._matching(request.filters.filter)
        response.entities = [o.id for o in found]
        response.states = [entity_state(o, time_s) for o in found]
        return response

    async def _matching(self, pattern: str) -> tuple[list[ObjectState], Result, float]:
        """Objects whose name matches a regular expression."""
        state: WorldState | None = await self._loop.submit(self._simulation.state)
        if state is None:
            result = Result(result=Result.RESULT_INCORRECT_STATE, error_message="no world is loaded")
            return [], result, 0.0
        try:
            expression = re.compile(pattern)
        except re.error as error:
            message = f"{pattern!r} is no regular expression: {error}"
            return [], Result(result=Result.RESULT_OPERATION_FAILED, error_message=message), 0.0
        found = [o for o in state.objects if expression.search(o.id)]
        return found, Result(result=Result.RESULT_OK), state.time_s


def nobody(name: str) -> Result:
    return Result(result=Result.RESULT_NOT_FOUND, error_message=f"no entity named {name!r}")


def vector(message: Any) -> tuple[float, float, float]:
    return (message.x, message.y, message.z)


def free_pose(state: EntityState | PoseStamped) -> Pose | str:
    """The pose asked for, in ``world``, or what is wrong with it."""
    if state.header.frame_id not in ("", WORLD_FRAME):
        return f"pose in frame {state.header.frame_id!r}: give it in {WORLD_FRAME!r}"
    try:
        pose = pose_from_ros(state.pose)
    except ValueError as error:
        return str(error)
    reach = float(abs(pose.position).max())
    return (
        pose if reach <= MAX_REACH_M else f"{reach:g} m away from the robot's base, at most {MAX_REACH_M:g} m"
    )


def entity_state(thing: ObjectState, time_s: float) -> EntityState:
    """Pose only: twist and acceleration are not tracked."""
    return EntityState(header=header(time_s), pose=pose_to_ros(thing.pose))
