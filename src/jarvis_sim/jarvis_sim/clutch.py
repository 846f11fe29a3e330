"""The stud clutch: what holds pressed bricks together.

Declared physics, since interference fits of plastic can't be simulated at this scale: a free brick whose
anti-studs lie within the configured tolerance over studs of the plate or of another brick, and that is pressed
down hard enough for long enough, is drawn to the exact grid position and held there by a weld to each body below
it. It comes off when the load on it (what the welds hold, less what the contact pushes) exceeds what its engaged
studs hold (see ``loads``) for long enough. This is armed only when the gripper has let go once, since opening
fingers pull a little. Every engagement and release is an event.

Only downward connections are made: a brick slid under others engages nothing above it. Bricks that hang together
may be carried and pressed on as one: each engages what lies below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import mujoco
import numpy as np
from jarvis_core.files import decode_hook, encode_hook
from jarvis_core.objects import GROUND, ConnectionEvent
from jarvis_core.pose import Pose

from jarvis_sim.config import ClutchConfig
from jarvis_sim.connections import ClutchState, Joint, Link, Pressing, StudBody, as_points
from jarvis_sim.engine import Engine, PassiveComponent
from jarvis_sim.fit import Fit, find_fit, place_of
from jarvis_sim.loads import Load, Pushes, Strain, net_load, opening_share, read_pushes
from jarvis_sim.neighbours import Neighbours
from jarvis_sim.welds import WeldPool, between

_WORLD = 0


class Clutch(PassiveComponent):
    """The clutch of every brick in the world.

    Args:
        bodies: everything with studs.
        owners: what ``Engine.owners`` calls each brick, by id; filled when the bricks are bound, before the clutch.
        held: tells whether a brick is in the gripper.
        joined: pairs (upper, lower) that are engaged from the start, at their initial poses.
    """

    name = "clutch"

    def __init__(
        self,
        bodies: Sequence[StudBody],
        config: ClutchConfig,
        owners: Mapping[str, int],
        held: Callable[[str], bool],
        joined: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._bodies = {body.id: body for body in bodies}
        self._loose = [body for body in bodies if body.loose]
        self._free = frozenset(body.id for body in self._loose)
        self._config = config
        self._owners = owners
        self._held = held
        self._joined = tuple(joined)
        self._near = Neighbours(bodies)
        self._pool = WeldPool(config.welds_per_brick * len(self._loose), config.solref, config.solimp)
        self._state = ClutchState({}, {}, [])
        self._index: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._trees: dict[int, str] = {}
        self._ramping: list[Link] = []

    def build(self, spec: mujoco.MjSpec) -> None:
        if self._loose:
            self._pool.build(spec, self._loose[0].id)

    def bind(self, engine: Engine) -> None:
        self._engine = engine
        if self._loose:
            self._pool.bind(engine)
        self._index = {body.id: self._owners[body.id] for body in self._bodies.values() if body.id != GROUND}
        self._index[GROUND] = engine.body(GROUND)
        self._free_bodies = [self._index[body.id] for body in self._near.free]
        self._names = {index: name for name, index in self._index.items()}
        self._trees = {engine.sleep.tree(self._index[body.id]): body.id for body in self._loose}
        self._every = engine.steps_in(self._config.sample_s)
        self._ramp = engine.steps_in(self._config.ramp_s)

    def reset(self) -> None:
        self._state = ClutchState({}, {}, [])
        self._ramping = []
        if self._config.enabled:
            self._join_initial()

    def before_step(self) -> None:
        """Draw freshly engaged bricks towards their snapped pose."""
        for link in self._ramping[:]:
            elapsed = self._engine.steps - link.engaged_at
            if elapsed > self._ramp or self._state.links.get(link.upper) is not link:
                self._ramping.remove(link)
                continue
            self._engine.sleep.keep_awake(self._index[link.upper])
            for joint in link.joints:
                self._set(joint, elapsed / self._ramp)

    def after_step(self) -> None:
        if self._config.enabled and self._engine.steps % self._every == 0:
            pushes = self._pushes()
            self._release(pushes)
            if pushes:
                self._engage(pushes)

    def save(self) -> Any:
        return msgspec.to_builtins(self._state, enc_hook=encode_hook)

    def load(self, state: Any) -> None:
        self._state = msgspec.convert(state, ClutchState, dec_hook=decode_hook)
        self._ramping = list(self._state.links.values())

    def rejoin(self, saved: Any, free: frozenset[str]) -> None:
        """Take over what the clutch of another model of this world saved, in which ``free`` bricks were free.

        Connections of bricks that were not free there are kept as they stand at the start.
        """
        state = msgspec.convert(saved, ClutchState, dec_hook=decode_hook)
        for link in [link for link in self._state.links.values() if link.upper in free]:
            for joint in link.joints:
                self._pool.cut(joint.slot)
            del self._state.links[link.upper]
        for link in state.links.values():
            lowers, link.points, link.joints = tuple(link.points), {}, []
            for lower in lowers:
                fit = self._fit(self._bodies[link.upper], self._pose(link.upper), lower)
                if fit is not None:
                    self._join(link, {lower: fit})
            for joint in link.joints:
                self._set(joint, 1.0)
        self._state = ClutchState(self._state.links | state.links, state.pressing, state.events)
        self._ramping = list(self._state.links.values())

    def connections(self) -> tuple[tuple[str, str], ...]:
        """Pairs (upper, lower) of all working connections, sorted."""
        return tuple(
            sorted((link.upper, lower) for link in self._state.links.values() for lower in link.points)
        )

    def events(self) -> tuple[ConnectionEvent, ...]:
        """Everything since the reset."""
        return tuple(self._state.events)

    def pull_n(self, brick: str) -> float:
        """Net pull on an engaged brick along its studs in the last step, newton; 0 for a brick that is loose."""
        link = self._state.links.get(brick)
        if link is None:
            return 0.0
        return float(self._load(link, self._pushes(), self._pool.loads()).force[2])

    def assembly(self, brick: str) -> frozenset[str]:
        """All free bricks that hang together with one, itself included."""
        found, waiting = {brick}, [brick]
        while waiting:
            one = waiting.pop()
            link = self._state.links.get(one)
            near = {*(link.points if link else ())}
            near |= {upper for upper, other in self._state.links.items() if one in other.points}
            new = {name for name in near - found if self._bodies[name].loose}
            found |= new
            waiting.extend(sorted(new))
        return frozenset(found)

    def cut(self, brick: str) -> None:
        """Break every connection of a brick at once, those to bricks above it too; each is an event without force."""
        for link in list(self._state.links.values()):
            if link.upper == brick:
                self._disconnect(link, 0.0)
            elif brick in link.points:
                self._leave(link, brick)

    def _pushes(self) -> Pushes:
        names = self._names
        if not any(first in names and second in names for first, second in self._engine.touching()[1]):
            return {}
        return read_pushes(self._engine.contacts(), self._engine.data.xmat, self._names, self._free)

    def _engage(self, pushes: Pushes) -> None:
        before, self._state.pressing = self._state.pressing, {}
        for brick in sorted(pushes, key=self._index.__getitem__):
            body, link = self._bodies[brick], self._state.links.get(brick)
            already = link.points if link is not None else {}
            pushed = {
                name: push.along
                for name, push in pushes[brick].items()
                if push.along > 0.0 and name not in already
            }
            if sum(pushed.values()) < self._config.press_n_per_stud:
                continue
            supports = {k: v for k, v in self._supports(body, pushed).items() if k not in already}
            press = sum(pushed.get(lower, 0.0) for lower in supports)
            studs = sum(fit.studs for fit in supports.values())
            if not supports or press < self._config.press_n_per_stud * studs:
                continue
            place, last = place_of(*next(iter(supports.items()))), before.get(brick)
            samples = last.samples + 1 if last is not None and last.place == place else 1
            if samples >= self._config.samples:
                self._connect(body, supports, press)
            else:
                self._state.pressing[brick] = Pressing(place, samples)

    def _supports(self, body: StudBody, pushed: dict[str, float]) -> dict[str, Fit]:
        """Every body the brick would be connected to, the one with most studs first; empty outside the tolerance."""
        pose = self._pose(body.id)
        found: dict[str, Fit] = {}
        for lower in sorted(pushed):
            fit = self._fit(body, pose, lower)
            if fit is not None and self._tolerable(fit):
                found[lower] = fit
        if not found:
            return {}
        main = min(found, key=lambda lower: (-found[lower].studs, found[lower].error_xy_m))
        supports = {main: found[main]}
        snapped = self._pose(main) @ found[main].snapped
        self._engine.sync()
        origins = self._engine.data.xpos[self._free_bodies]
        for lower in self._near.of(body, snapped, origins, self._pose):
            # What the snapped brick also sits on: its studs coincide already.
            exact = self._fit(body, snapped, lower) if lower != main else None
            if exact is not None and exact.is_exact:
                actual = found.get(lower)
                supports[lower] = actual if actual is not None else exact
        return supports

    def _fit(self, body: StudBody, pose: Pose, lower: str) -> Fit | None:
        relative = self._pose(lower).inverse() @ pose
        limit = math.radians(self._config.yaw_deg)
        return find_fit(relative, body.antistuds, self._bodies[lower].studs, limit)

    def _tolerable(self, fit: Fit) -> bool:
        return fit.error_xy_m <= self._config.xy_m and abs(fit.error_z_m) <= self._config.z_m

    def _pose(self, brick: str) -> Pose:
        fixed = self._bodies[brick].fixed
        return fixed if fixed is not None else self._engine.pose(self._index[brick])

    def _connect(self, body: StudBody, supports: dict[str, Fit], press: float) -> None:
        link = self._state.links.setdefault(body.id, Link(body.id, {}, [], 0))
        link.engaged_at, link.armed, link.samples = self._engine.steps, False, 0
        if link not in self._ramping:
            self._ramping.append(link)
        self._join(link, supports)
        studs = sum(fit.studs for fit in supports.values())
        for lower, fit in supports.items():
            self._log("engaged", body.id, lower, fit.studs, press * fit.studs / studs, fit)

    def _join(self, link: Link, supports: dict[str, Fit]) -> None:
        pose = self._pose(link.upper)
        for lower, fit in supports.items():
            # Fixed bodies are one rigid thing: one weld holds the brick to all of them.
            welded = self._bodies[lower].fixed is not None and any(
                self._bodies[other].fixed is not None for other in link.points
            )
            link.points[lower] = as_points(fit.points)
            if not welded:
                start = self._pose(lower).inverse() @ pose
                joint = Joint(-1, lower, start, fit.snapped, as_points(fit.centre[None])[0])
                self._weld(link.upper, joint)
                link.joints.append(joint)

    def _weld(self, upper: str, joint: Joint) -> None:
        """A weld at the pose where the brick is now."""
        lower = self._bodies[joint.lower]
        first = self._index[joint.lower] if lower.loose else _WORLD
        joint.slot = self._pool.join(first, self._index[upper])
        self._set(joint, 0.0)

    def _set(self, joint: Joint, share: float) -> None:
        pose = between(joint.start, joint.snapped, share)
        frame = self._bodies[joint.lower].fixed
        self._pool.set_relative(joint.slot, pose if frame is None else frame @ pose, np.array(joint.anchor))

    def _join_initial(self) -> None:
        """Bricks that stand connected at the start: exactly on the grid, armed, and no event."""
        for upper, lower in self._joined:
            fit = self._fit(self._bodies[upper], self._pose(upper), lower)
            if fit is not None and self._tolerable(fit):
                link = self._state.links.setdefault(upper, Link(upper, {}, [], -self._ramp - 1, armed=True))
                self._join(link, {lower: fit})
        for link in self._state.links.values():
            for joint in link.joints:
                self._set(joint, 1.0)

    def _release(self, pushes: Pushes) -> None:
        awake = [self._trees[tree] for tree in self._engine.sleep.awake() if tree in self._trees]
        links = [self._state.links[brick] for brick in awake if brick in self._state.links]
        loads = self._pool.loads() if links else {}
        overloaded: list[tuple[float, Link]] = []
        for link in links:
            if not link.armed:
                link.armed = not any(map(self._held, sorted(self.assembly(link.upper))))
                continue
            if self._engine.steps - link.engaged_at <= self._ramp:
                continue
            load = self._load(link, pushes, loads)
            config = self._config
            share = opening_share(
                load, link.all_points(), config.pull_n_per_stud, config.shear_n_per_stud, peel=config.peel
            )
            link.samples = link.samples + 1 if share > 1.0 else 0
            if link.samples >= self._config.samples:
                overloaded.append((share, link))
        if overloaded:
            # In a stack all connections carry the same pull: the weakest gives, which unloads the others.
            share, link = max(overloaded, key=lambda entry: entry[0])
            self._disconnect(link, share * self._config.pull_n_per_stud * link.studs)

    def _load(self, link: Link, pushes: Pushes, strains: dict[int, Strain]) -> Load:
        """What pulls a brick off what is below it: what its welds hold, less what the contacts push."""
        pulls = [(joint.anchor, *strains[joint.slot]) for joint in link.joints if joint.slot in strains]
        below = [push for lower, push in pushes.get(link.upper, {}).items() if lower in link.points]
        index, data = self._index[link.upper], self._engine.data
        return net_load(link.all_points(), pulls, below, data.xpos[index], data.xmat[index].reshape(3, 3))

    def _disconnect(self, link: Link, force: float) -> None:
        studs = link.studs
        for joint in link.joints:
            self._pool.cut(joint.slot)
        del self._state.links[link.upper]
        self._engine.sleep.wake(self._index[link.upper])
        for lower, points in link.points.items():
            self._log("released", link.upper, lower, len(points), force * len(points) / studs, None)

    def _leave(self, link: Link, lower: str) -> None:
        """Break one of a brick's connections; the others go on."""
        if len(link.points) == 1:
            self._disconnect(link, 0.0)
            return
        for joint in [joint for joint in link.joints if joint.lower == lower]:
            self._pool.cut(joint.slot)
            link.joints.remove(joint)
        studs = len(link.points.pop(lower))
        self._engine.sleep.wake(self._index[link.upper])
        self._log("released", link.upper, lower, studs, 0.0, None)

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
