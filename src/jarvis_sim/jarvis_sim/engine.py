"""A world of rigid bodies: an engine that owns the physics, and components that put things into it.

The engine knows bodies, contacts and time. What the bodies are is known by its components alone: each adds its
part to the model before it is compiled, finds it again in the compiled model, and acts before and after every
step. Not thread-safe: the thread that built an engine is the only one to use it.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
import mujoco
import numpy as np
import numpy.typing as npt
from jarvis_core.errors import BadInputError, JarvisError
from jarvis_core.pose import Pose

from jarvis_sim.config import EngineConfig
from jarvis_sim.contacts import Contacts, Touching, deepest, read_contacts, read_touching
from jarvis_sim.sleep import Sleep

_log = logging.getLogger(__name__)

#: Everything that decides how the simulation goes on, but for the parts of the model that change as it runs.
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
#: Arrays of the model that components may change while it runs: ends and frames of equality constraints, weight,
#: lights and colours.
_RUNTIME_MODEL = (
    "eq_obj1id", "eq_obj2id", "eq_data", "body_gravcomp", "light_dir", "light_diffuse", "mat_rgba",
)  # fmt: skip
_SNAPSHOT_VERSION = 2


class WorldError(JarvisError):
    """The simulation can't be built or go on: numbers that are not finite, or something of it ran out."""


class Component(Protocol):
    """A part of a world."""

    @property
    def name(self) -> str:
        """Unique in its engine."""

    def build(self, spec: mujoco.MjSpec) -> None:
        """Add bodies, actuators, … to the model that will be compiled."""

    def bind(self, engine: Engine) -> None:
        """Look up indices in the compiled model."""

    def reset(self) -> None:
        """Forget the past and write the initial state into the engine's data (which is at its defaults)."""

    def before_step(self) -> None:
        """Write controls and forces."""

    def before_solve(self) -> None:
        """Correct the step's constraints: they are made, but not solved yet."""

    def after_step(self) -> None:
        """Look at what the step did."""

    def save(self) -> Any:
        """Own state, as values msgspec can encode."""

    def load(self, state: Any) -> None:
        """Take back what ``save`` gave."""


class PassiveComponent:
    """A component that only stands there: nothing to do per step, nothing to remember.

    A method it leaves as it is here costs no time in a step.
    """

    def before_solve(self) -> None:
        """Nothing to correct."""

    def reset(self) -> None:
        """Nothing to forget."""

    def before_step(self) -> None:
        """Nothing to command."""

    def after_step(self) -> None:
        """Nothing to watch."""

    def save(self) -> Any:
        return None

    def load(self, state: Any) -> None:
        """Nothing to take back."""


class _Snapshot(msgspec.Struct, frozen=True):
    version: int
    model: str
    steps: int
    state: bytes
    asleep: dict[str, bytes]
    runtime: dict[str, bytes]
    components: dict[str, Any]


@dataclass(slots=True)
class _Observer:
    every: int
    call: Callable[[], None]


class Engine:
    """Bodies in time.

    Attributes:
        model, data: MuJoCo's; components read and write them.
        sleep: who of the bodies sleeps.
        owners: (ngeom,) what each geom belongs to: the index of its body, or a number from ``model.nbody`` on
            that a component chose for a part of a larger body when it was bound.
        steps: number of steps since the reset.
        painted: number of times that a texture changed; who draws looks whether it grew.
    """

    def __init__(self, components: Sequence[Component], config: EngineConfig) -> None:
        names = [component.name for component in components]
        if len(set(names)) != len(names):
            raise ValueError(f"components need different names, got {names}")
        # Else MuJoCo writes its warnings to a file in whatever folder the program runs in.
        mujoco.set_mju_user_warning(_log.warning)
        self._components = tuple(components)
        self.config = config
        self.model = self._compile()
        self.data = mujoco.MjData(self.model)
        self.sleep = Sleep(self.model, self.data)
        self.owners = self.model.geom_bodyid.astype(np.int32)
        self._qpos, self._qvel = self.data.qpos, self.data.qvel
        self._before_step = self._hooks("before_step")
        self._before_solve = self._hooks("before_solve")
        self._after_step = self._hooks("after_step")
        self.steps = self.painted = 0
        self._observers: dict[int, _Observer] = {}
        self._next_handle = 0
        self._contacts: Contacts | None = None
        self._touching: Touching | None = None
        self._stale = True
        self._runtime_defaults = {name: getattr(self.model, name).copy() for name in _RUNTIME_MODEL}
        self._model_hash = self._hash_model()
        for component in self._components:
            component.bind(self)
        self.reset()

    @property
    def timestep_s(self) -> float:
        return self.config.timestep_s

    @property
    def time_s(self) -> float:
        """Simulated seconds since the reset."""
        return round(self.steps * self.config.timestep_s, 9)

    def steps_in(self, seconds: float) -> int:
        """Number of steps that make up a time, at least one."""
        return max(1, round(seconds / self.config.timestep_s))

    def reset(self) -> None:
        """Back to the initial state, at time 0."""
        for name, values in self._runtime_defaults.items():
            getattr(self.model, name)[:] = values
        mujoco.mj_resetData(self.model, self.data)
        self.steps = 0
        for component in self._components:
            component.reset()
        self._forward()

    def step(self) -> None:
        """One step of time.

        Raises:
            WorldError: a number is no longer finite.
        """
        for hook in self._before_step:
            hook()
        mujoco.mj_step1(self.model, self.data)
        for hook in self._before_solve:
            hook()
        mujoco.mj_step2(self.model, self.data)
        self.steps += 1
        self._contacts = self._touching = None
        self._stale = True
        if not math.isfinite(self._qvel.dot(self._qvel) + self._qpos.dot(self._qpos)):
            self._raise_unstable()
        for hook in self._after_step:
            hook()
        if self._observers:
            for observer in tuple(self._observers.values()):
                if self.steps % observer.every == 0:
                    observer.call()

    def advance(self, seconds: float) -> None:
        """So many seconds of steps (rounded; none for 0)."""
        for _ in range(round(seconds / self.config.timestep_s)):
            self.step()

    def observe(self, period_s: float, call: Callable[[], None]) -> int:
        """Have ``call`` called whenever ``period_s`` of simulated time has passed; gives a handle to end it."""
        self._next_handle += 1
        self._observers[self._next_handle] = _Observer(self.steps_in(period_s), call)
        return self._next_handle

    def unobserve(self, handle: int) -> None:
        self._observers.pop(handle, None)

    def body(self, name: str) -> int:
        """Index of a body."""
        return int(self.model.body(name).id)

    def has_body(self, name: str) -> bool:
        """Whether a body has this name."""
        return bool(mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name) >= 0)

    def moved(self) -> None:
        """To be called after writing positions into the data other than by a step."""
        self._stale = True

    def paint(self, texture: str, pixels: npt.NDArray[np.uint8]) -> None:
        """Change a texture of the model: (height, width, channels). No part of a snapshot: its component's state."""
        address = int(self.model.texture(texture).adr[0])
        self.model.tex_data[address : address + pixels.size] = pixels.ravel()
        self.painted += 1

    def sync(self) -> None:
        """Bring positions derived from the joints (bodies, geoms, cameras) up to the present state."""
        if self._stale:
            mujoco.mj_kinematics(self.model, self.data)
            mujoco.mj_comPos(self.model, self.data)
            mujoco.mj_camlight(self.model, self.data)
            self._stale = False

    def pose(self, body: int) -> Pose:
        """Pose of a body in ``world``."""
        self.sync()
        w, x, y, z = self.data.xquat[body]
        return Pose(self.data.xpos[body], (x, y, z, w))

    def contacts(self) -> Contacts:
        """Contacts of the last step."""
        if self._contacts is None:
            self._contacts = read_contacts(self.data, self.owners)
        return self._contacts

    def touching(self) -> Touching:
        """Who touched whom in the last step; much cheaper than ``contacts``."""
        if self._touching is None:
            self._touching = read_touching(self.data, self.owners)
        return self._touching

    def deepest_contact_m(self, body: int) -> float:
        """How deep a body is in others, at the positions as they are now; 0 if it touches nothing."""
        mujoco.mj_fwdPosition(self.model, self.data)
        self._stale = False
        return deepest(self.data, self.model.geom_bodyid, body)

    def adopt(self, other: Engine) -> None:
        """Go on from the state of an engine with another model: time, observers, joints and controls by name."""
        for i in range(other.model.njnt):
            name = other.model.joint(i).name
            if mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name) >= 0:
                self.data.joint(name).qpos[:] = other.data.joint(name).qpos
                self.data.joint(name).qvel[:] = other.data.joint(name).qvel
        for i in range(other.model.nu):
            self.data.actuator(other.model.actuator(i).name).ctrl[:] = other.data.ctrl[i]
        self.data.time, self.steps = other.data.time, other.steps
        self._observers, self._next_handle = other._observers, other._next_handle
        self._forward()

    def save(self) -> bytes:
        """The whole state. Loading it gives the same bytes back, and goes on identically."""
        state = np.empty(mujoco.mj_stateSize(self.model, _STATE))
        mujoco.mj_getState(self.model, self.data, state, _STATE)
        snapshot = _Snapshot(
            version=_SNAPSHOT_VERSION,
            model=self._model_hash,
            steps=self.steps,
            state=state.tobytes(),
            asleep=self.sleep.save(),
            runtime={name: getattr(self.model, name).tobytes() for name in _RUNTIME_MODEL},
            components={component.name: component.save() for component in self._components},
        )
        return msgspec.msgpack.encode(snapshot)

    def load(self, data: bytes) -> None:
        """Go back to a saved state.

        Raises:
            BadInputError: the bytes are no snapshot, or one of another model.
        """
        try:
            snapshot = msgspec.msgpack.decode(data, type=_Snapshot)
        except msgspec.DecodeError as error:
            raise BadInputError(f"not a snapshot ({error})") from error
        if snapshot.version != _SNAPSHOT_VERSION or snapshot.model != self._model_hash:
            raise BadInputError(
                "the snapshot is of another world",
                fix="restore it into a world of the same task and configuration",
            )
        for name, raw in snapshot.runtime.items():
            array = getattr(self.model, name)
            array[:] = np.frombuffer(raw, dtype=array.dtype).reshape(array.shape)
        state = np.frombuffer(snapshot.state)
        # Awake first: what sleeps keeps the place it has. The forward passes move the solver's warm start.
        self.sleep.wake_all()
        mujoco.mj_setState(self.model, self.data, state, _STATE)
        mujoco.mj_fwdKinematics(self.model, self.data)
        self.sleep.load(snapshot.asleep)
        self._forward()
        mujoco.mj_setState(self.model, self.data, state, _STATE)
        self.sleep.load(snapshot.asleep)
        self.steps = snapshot.steps
        for component in self._components:
            component.load(snapshot.components[component.name])

    def _compile(self) -> mujoco.MjModel:
        spec = mujoco.MjSpec()
        spec.compiler.degree = False
        spec.compiler.balanceinertia = False
        option = spec.option
        option.timestep = self.config.timestep_s
        # Semi-implicit: the accelerations made are those that the contact solver reckons with. An implicit one changes
        # them afterwards for the sake of stiff drives, which no component may have.
        option.integrator = mujoco.mjtIntegrator.mjINT_EULER
        option.solver = mujoco.mjtSolver.mjSOL_NEWTON
        option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        option.impratio = self.config.impratio
        option.iterations = self.config.iterations
        option.tolerance = self.config.tolerance
        # An unstable state must be seen and told, not silently replaced by the initial one.
        option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        if self.config.sleep_tolerance > 0.0:
            option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
            option.sleep_tolerance = self.config.sleep_tolerance
        for component in self._components:
            component.build(spec)
        try:
            return spec.compile()
        except ValueError as error:
            raise WorldError(f"the physics engine refuses the world ({error})") from error

    def _hooks(self, name: str) -> tuple[Callable[[], None], ...]:
        """That method of all components which have one of their own, in their order."""
        passive = getattr(PassiveComponent, name)
        return tuple(getattr(c, name) for c in self._components if getattr(type(c), name) is not passive)

    def _hash_model(self) -> str:
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        return hashlib.sha256(buffer.tobytes()).hexdigest()

    def _forward(self) -> None:
        mujoco.mj_forward(self.model, self.data)
        self._contacts = self._touching = None
        self._stale = False

    def _raise_unstable(self) -> None:
        bad = np.flatnonzero(~np.isfinite(self.data.qvel))
        body = self.model.dof_bodyid[bad[0]] if len(bad) else 0
        raise WorldError(
            f"the simulation became unstable at {self.time_s:.3f} s: {self.model.body(body).name!r} "
            "has no finite velocity any more",
            fix="restore a snapshot or reset the world; a shorter engine.timestep_s may help",
        )
