"""The stud clutch: what holds pressed bricks together.

Declared physics, since interference fits of plastic can't be simulated at this scale: a loose brick whose
anti-studs lie within the configured tolerance over studs of the plate or of another brick, and that is pressed
down hard enough for long enough, is drawn to the exact grid position and held there by a weld to each body below
it. It comes off when the net pull along the studs (what the welds hold, less what the contact pushes) exceeds the
clutch force of all its engaged studs for long enough. This is armed only when the gripper has let go once, since
opening fingers pull a little. Every engagement and release is an event.

Only downward connections are made: a brick slid under others engages nothing above it, and a brick that is already
held by what is below it engages nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import mujoco
import numpy as np
from jarvis_core.files import decode_hook, encode_hook
from jarvis_core.objects import ConnectionEvent
from jarvis_core.pose import FloatArray, Pose
from scipy.spatial.transform import Rotation, Slerp

from jarvis_sim.config import ClutchConfig
from jarvis_sim.engine import Engine, PassiveComponent
from jarvis_sim.fit import COINCIDENT_M, Fit, find_fit
from jarvis_sim.welds import WeldPool


@dataclass(frozen=True, slots=True)
class StudBody:
    """A body with studs or anti-studs, all with axis +z.

    Attributes:
        id: name of the body and of the brick (or GROUND).
        studs, antistuds: (n, 3) and (m, 3) in the body's frame.
        loose: a free body, that can be the upper side of a connection.
    """

    id: str
    studs: FloatArray
    antistuds: FloatArray
    loose: bool


class Joint(msgspec.Struct):
    """A weld of one engaged brick: to the one lower body, or to the first of all baked ones."""

    slot: int
    lower: str
    start: Pose
    snapped: Pose
    anchor: tuple[float, float, float]


class Link(msgspec.Struct):
    """All that holds one brick from below."""

    upper: str
    studs: dict[str, int]
    joints: list[Joint]
    engaged_at: int
    armed: bool = False
    samples: int = 0

    @property
    def n_studs(self) -> int:
        return sum(self.studs.values())


class Pressing(msgspec.Struct):
    """A brick that is being pressed on at one grid position, for so many samples."""

    place: tuple[str, int, int, int]
    samples: int


class _State(msgspec.Struct):
    links: dict[str, Link]
    pressing: dict[str, Pressing]
    events: list[ConnectionEvent]


class Clutch(PassiveComponent):
    """The clutch of every brick in the world.

    Args:
        bodies: everything with studs; the baked ones never move.
        held: tells whether a brick is in the gripper.
    """

    name = "clutch"

    def __init__(self, bodies: Sequence[StudBody], config: ClutchConfig, held: Callable[[str], bool]) -> None:
        self._bodies = {body.id: body for body in bodies}
        self._loose = [body for body in bodies if body.loose]
        self._config = config
        self._held = held
        self._pool = WeldPool(config.welds_per_brick * len(self._loose), config.solref, config.solimp)
        self._state = _State({}, {}, [])
        self._index: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def build(self, spec: mujoco.MjSpec) -> None:
        if self._loose:
            self._pool.build(spec, self._loose[0].id)

    def bind(self, engine: Engine) -> None:
        self._engine = engine
        if self._loose:
            self._pool.bind(engine)
        self._index = {name: engine.body(name) for name in self._bodies}
        self._names = {index: name for name, index in self._index.items()}
        self._every = engine.steps_in(self._config.sample_s)
        self._ramp = engine.steps_in(self._config.ramp_s)

    def reset(self) -> None:
        self._state = _State({}, {}, [])

    def before_step(self) -> None:
        """Draw freshly engaged bricks towards their snapped pose."""
        for link in self._state.links.values():
            elapsed = self._engine.steps - link.engaged_at
            if elapsed <= self._ramp:
                for joint in link.joints:
                    pose = _between(joint.start, joint.snapped, elapsed / self._ramp)
                    self._pool.set_relative(joint.slot, pose, np.array(joint.anchor))

    def after_step(self) -> None:
        if self._config.enabled and self._engine.steps % self._every == 0:
            pushes = self._pushes()
            self._release(pushes)
            self._engage(pushes)

    def save(self) -> Any:
        return msgspec.to_builtins(self._state, enc_hook=encode_hook)

    def load(self, state: Any) -> None:
        self._state = msgspec.convert(state, _State, dec_hook=decode_hook)

    def connections(self) -> tuple[tuple[str, str], ...]:
        """Pairs (upper, lower) of all working connections, sorted."""
        return tuple(
            sorted((link.upper, lower) for link in self._state.links.values() for lower in link.studs)
        )

    def events(self) -> tuple[ConnectionEvent, ...]:
        """Everything since the reset."""
        return tuple(self._state.events)

    def pull_n(self, brick: str) -> float:
        """Net pull on an engaged brick along its studs in the last step, newton; 0 for a brick that is loose."""
        link = self._state.links.get(brick)
        return self._pull(link, self._pushes()) if link is not None else 0.0

    def _pushes(self) -> dict[str, dict[str, float]]:
        """How hard each loose brick is pushed along its own z axis by each body it touches, newton."""
        contacts = self._engine.contacts()
        pushes: dict[str, dict[str, float]] = {}
        for (first, second), normal, force in zip(
            contacts.bodies.tolist(), contacts.normals, contacts.forces.tolist(), strict=True
        ):
            for upper, lower, sign in ((first, second, -1.0), (second, first, 1.0)):
                brick, other = self._names.get(upper), self._names.get(lower)
                if brick is not None and other is not None and self._bodies[brick].loose:
                    up = self._engine.data.xmat[upper].reshape(3, 3)[:, 2]
                    along = sign * force * float(normal @ up)
                    of_brick = pushes.setdefault(brick, {})
                    of_brick[other] = of_brick.get(other, 0.0) + along
        return pushes

    def _engage(self, pushes: dict[str, dict[str, float]]) -> None:
        before, self._state.pressing = self._state.pressing, {}
        for body in self._loose:
            pushed = pushes.get(body.id, {})
            if body.id in self._state.links or sum(pushed.values()) < self._config.press_n_per_stud:
                continue
            supports = self._supports(body, pushed)
            studs = sum(fit.studs for fit in supports.values())
            press = sum(pushed.get(lower, 0.0) for lower in supports)
            if not supports or press < self._config.press_n_per_stud * studs:
                continue
            place = _place(supports)
            last = before.get(body.id)
            samples = last.samples + 1 if last is not None and last.place == place else 1
            if samples >= self._config.samples:
                self._connect(body, supports, press)
            else:
                self._state.pressing[body.id] = Pressing(place, samples)

    def _supports(self, body: StudBody, pushed: dict[str, float]) -> dict[str, Fit]:
        """Every body the brick would be connected to, the one with most studs first; empty outside the tolerance."""
        pose = self._engine.pose(self._index[body.id])
        found: dict[str, Fit] = {}
        for lower in sorted(name for name, force in pushed.items() if force > 0.0):
            fit = self._fit(body, pose, lower)
            if fit is not None and self._tolerable(fit):
                found[lower] = fit
        if not found:
            return {}
        main = min(found, key=lambda lower: (-found[lower].studs, found[lower].error_xy_m))
        supports = {main: found[main]}
        snapped = self._engine.pose(self._index[main]) @ found[main].snapped
        for lower in self._near(body, snapped):
            # What the snapped brick also sits on: its studs coincide already.
            exact = self._fit(body, snapped, lower) if lower != main else None
            if exact is not None and max(exact.error_xy_m, abs(exact.error_z_m)) <= 2 * COINCIDENT_M:
                actual = found.get(lower)
                supports[lower] = actual if actual is not None else exact
        return supports

    def _fit(self, body: StudBody, pose: Pose, lower: str) -> Fit | None:
        relative = self._engine.pose(self._index[lower]).inverse() @ pose
        limit = math.radians(self._config.yaw_deg)
        return find_fit(relative, body.antistuds, self._bodies[lower].studs, limit)

    def _tolerable(self, fit: Fit) -> bool:
        return fit.error_xy_m <= self._config.xy_m and abs(fit.error_z_m) <= self._config.z_m

    def _near(self, body: StudBody, pose: Pose) -> list[str]:
        """Bodies other than the brick itself whose studs may reach its anti-studs."""
        points = pose @ body.antistuds
        low, high = points.min(axis=0) - 0.001, points.max(axis=0) + 0.001
        near = []
        for other in self._bodies.values():
            if other.id != body.id and len(other.studs):
                studs = self._engine.pose(self._index[other.id]) @ other.studs
                if ((studs >= low) & (studs <= high)).all(axis=1).any():
                    near.append(other.id)
        return near

    def _connect(self, body: StudBody, supports: dict[str, Fit], press: float) -> None:
        link = Link(body.id, {lower: fit.studs for lower, fit in supports.items()}, [], self._engine.steps)
        pose = self._engine.pose(self._index[body.id])
        baked_done = False
        for lower, fit in supports.items():
            loose = self._bodies[lower].loose
            if not loose and baked_done:
                continue  # baked bodies are one rigid thing: one weld holds the brick to all of them
            baked_done = baked_done or not loose
            start = self._engine.pose(self._index[lower]).inverse() @ pose
            slot = self._pool.join(self._index[lower], self._index[body.id], start, fit.centre)
            x, y, z = fit.centre.tolist()
            link.joints.append(Joint(slot, lower, start, fit.snapped, (x, y, z)))
        self._state.links[body.id] = link
        for lower, fit in supports.items():
            share = press * fit.studs / link.n_studs
            self._log("engaged", body.id, lower, fit.studs, share, fit)

    def _release(self, pushes: dict[str, dict[str, float]]) -> None:
        overloaded: list[tuple[float, float, Link]] = []
        for link in self._state.links.values():
            if not link.armed:
                link.armed = not self._held(link.upper)
                continue
            if self._engine.steps - link.engaged_at <= self._ramp:
                continue
            pull = self._pull(link, pushes)
            limit = self._config.pull_n_per_stud * link.n_studs
            link.samples = link.samples + 1 if pull > limit else 0
            if link.samples >= self._config.samples:
                overloaded.append((pull / limit, pull, link))
        if overloaded:
            # In a stack all connections carry the same pull: the weakest gives, which unloads the others.
            _, pull, link = max(overloaded, key=lambda entry: entry[0])
            self._disconnect(link, pull)

    def _pull(self, link: Link, pushes: dict[str, dict[str, float]]) -> float:
        up = self._engine.data.xmat[self._index[link.upper]].reshape(3, 3)[:, 2]
        held = sum(float(self._pool.force(joint.slot) @ up) for joint in link.joints)
        pushed = pushes.get(link.upper, {})
        return held - sum(pushed.get(lower, 0.0) for lower in link.studs)

    def _disconnect(self, link: Link, pull: float) -> None:
        for joint in link.joints:
            self._pool.cut(joint.slot)
        del self._state.links[link.upper]
        for lower, studs in link.studs.items():
            self._log("released", link.upper, lower, studs, pull * studs / link.n_studs, None)

    def _log(self, kind: str, upper: str, lower: str, studs: int, force: float, fit: Fit | None) -> None:
        self._state.events.append(
            ConnectionEvent(
                time_s=self._engine.time_s,
                kind=kind,
                upper=upper,
                lower=lower,
                error_xy_m=fit.error_xy_m if fit is not None else 0.0,
                error_z_m=fit.error_z_m if fit is not None else 0.0,
                error_yaw_rad=fit.error_yaw_rad if fit is not None else 0.0,
                force_n=force,
                studs=studs,
            )
        )


def _place(supports: dict[str, Fit]) -> tuple[str, int, int, int]:
    """Names a grid position: main support and place on it, in steps of half a millimetre."""
    main, fit = next(iter(supports.items()))
    x, y, _ = (fit.snapped.position / 0.0005).round().astype(int).tolist()
    return (main, x, y, round(math.degrees(fit.snapped.yaw)))


def _between(start: Pose, end: Pose, share: float) -> Pose:
    """From ``start`` (share 0) to ``end`` (share 1), starting and ending at rest."""
    eased = share * share * (3.0 - 2.0 * share)
    turn = Slerp([0.0, 1.0], Rotation.from_quat([start.quaternion, end.quaternion]))
    return Pose(start.position + eased * (end.position - start.position), turn(eased).as_quat())
