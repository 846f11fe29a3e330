"""Simulator control by the standard simulation_interfaces, so that clients of other simulators can drive this one."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any, Protocol

from jarvis_core.errors import JarvisError
from jarvis_core.objects import ObjectState, WorldState
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import WORLD_FRAME, header, pose_from_ros, pose_to_ros
from rclpy.node import Node
from simulation_interfaces.msg import EntityState, Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    GetEntities,
    GetEntitiesStates,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    LoadWorld,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    StepSimulation,
)

from jarvis_sim.ros.world_loop import WorldLoop

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

    def state(self) -> WorldState | None:
        """True state; None without a world."""


class ControlServices:
    """The services below /sim/. Spawning and deleting are not offered: get_simulator_features says so."""

    def __init__(self, node: Node, loop: WorldLoop, simulation: Simulation, about: str) -> None:
        self._about = about
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
        response.features.features = list(FEATURES)
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


def free_pose(state: EntityState) -> Pose | str:
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
