"""The stud clutch in Isaac Sim: the embedded one's rules for engaging, fixed joints that PhysX breaks.

A brick engages as in ``jarvis_sim.clutch``: within the tolerance over studs, pressed on hard enough for some samples;
it is then drawn to its place. What holds it is a fixed joint with a breaking force. Differences, since PhysX tells
nobody what a joint carries:

- a joint breaks at the pull its studs hold, whichever way the force points (the embedded clutch holds more shear),
  or at the moment that would peel it off; each by itself, not combined;
- while somebody presses on a brick or on what stands on it, its joints can't break: they would take compression for
  a pull;
- that a joint broke is seen by the brick's place: farther off than what would engage. The event's force is the
  strength of the joint, not a measurement;
- a brick that is engaged already engages nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.objects import ConnectionEvent
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.config import ClutchConfig
from jarvis_sim.connections import StudBody
from jarvis_sim.fit import Fit, find_fit, place_of
from jarvis_sim.isaac.ports import UNBREAKABLE, Fasteners, Touch
from jarvis_sim.neighbours import Neighbours
from jarvis_sim.welds import between


@dataclass(slots=True)
class _Joint:
    name: str
    lower: str
    start: Pose
    snapped: Pose
    anchor: FloatArray


@dataclass(slots=True)
class _Link:
    """All that holds one brick from below; ``points`` are its engaged studs in its own frame, by the brick below."""

    upper: str
    points: dict[str, FloatArray]
    since_s: float
    joints: list[_Joint] = field(default_factory=list)
    drawn: bool = False
    armed: bool = False
    breakable: bool = False

    @property
    def all_points(self) -> FloatArray:
        return np.concatenate(list(self.points.values()))


class IsaacClutch:
    """Decides; the joints are made by ``fasteners``. Call ``sample`` every ``config.sample_s`` of simulated time.

    Args:
        bodies: everything with studs.
        held: tells whether a brick is in the gripper.
    """

    def __init__(
        self,
        bodies: Sequence[StudBody],
        config: ClutchConfig,
        fasteners: Fasteners,
        held: Callable[[str], bool],
    ) -> None:
        self._bodies = {body.id: body for body in bodies}
        self._near = Neighbours(bodies)
        self._config = config
        self._fasteners = fasteners
        self._held = held
        self._links: dict[str, _Link] = {}
        self._pressing: dict[str, tuple[tuple[str, int, int, int], int]] = {}
        self._events: list[ConnectionEvent] = []
        self._poses: dict[str, Pose] = {}

    def reset(self) -> None:
        """Take every joint away and forget."""
        for link in self._links.values():
            for joint in link.joints:
                self._fasteners.loosen(joint.name)
        self._links, self._pressing, self._events = {}, {}, []

    def connections(self) -> tuple[tuple[str, str], ...]:
        """Pairs (upper, lower) of all working connections, sorted."""
        return tuple(sorted((link.upper, lower) for link in self._links.values() for lower in link.points))

    def events(self) -> tuple[ConnectionEvent, ...]:
        """Everything since the reset."""
        return tuple(self._events)

    def sample(self, time_s: float, poses: dict[str, Pose], touches: Sequence[Touch]) -> None:
        """Look at what the last steps did.

        Args:
            poses: of all loose bricks, ``world``.
            touches: their contacts.
        """
        if not self._config.enabled:
            return
        self._poses = poses
        pushes = self._pushes(touches)
        self._release(time_s, pushes)
        self._draw(time_s)
        self._engage(time_s, pushes)

    def _pushes(self, touches: Sequence[Touch]) -> dict[str, dict[str, float]]:
        """By loose brick and by what it touches: newton along the brick's studs, positive where it is lifted."""
        pushes: dict[str, dict[str, float]] = {}
        for touch in touches:
            along = float(touch.force @ self._poses[touch.brick].rotation[:, 2])
            of = pushes.setdefault(touch.brick, {})
            of[touch.other] = of.get(touch.other, 0.0) + along
        return pushes

    def _engage(self, time_s: float, pushes: dict[str, dict[str, float]]) -> None:
        before, self._pressing = self._pressing, {}
        for brick in sorted(pushes.keys() - self._links.keys()):
            lifted = {k: n for k, n in pushes[brick].items() if n > 0.0 and k in self._bodies}
            if sum(lifted.values()) < self._config.press_n_per_stud:
                continue
            supports = self._supports(self._bodies[brick], lifted)
            press = sum(lifted.get(lower, 0.0) for lower in supports)
            studs = sum(fit.studs for fit in supports.values())
            if not supports or press < self._config.press_n_per_stud * studs:
                continue
            place = place_of(*next(iter(supports.items())))
            last = before.get(brick)
            samples = last[1] + 1 if last is not None and last[0] == place else 1
            if samples >= self._config.samples:
                self._connect(time_s, brick, supports, press)
            else:
                self._pressing[brick] = (place, samples)

    def _supports(self, body: StudBody, lifted: dict[str, float]) -> dict[str, Fit]:
        """Every body the brick would be connected to, the one with most studs first; empty outside the tolerance."""
        pose = self._pose(body.id)
        found: dict[str, Fit] = {}
        for lower in sorted(lifted):
            fit = self._fit(body, pose, lower)
            if fit is not None and self._tolerable(fit):
                found[lower] = fit
        if not found:
            return {}
        main = min(found, key=lambda lower: (-found[lower].studs, found[lower].error_xy_m))
        supports = {main: found[main]}
        snapped = self._pose(main) @ found[main].snapped
        origins = np.array([self._poses[other.id].position for other in self._near.free]).reshape(-1, 3)
        for lower in self._near.of(body, snapped, origins, self._pose):
            # What the snapped brick also sits on: its studs coincide already.
            exact = self._fit(body, snapped, lower) if lower != main else None
            if exact is not None and exact.is_exact:
                supports[lower] = found.get(lower, exact)
        return supports

    def _fit(self, body: StudBody, pose: Pose, lower: str) -> Fit | None:
        relative = self._pose(lower).inverse() @ pose
        limit = math.radians(self._config.yaw_deg)
        return find_fit(relative, body.antistuds, self._bodies[lower].studs, limit)

    def _tolerable(self, fit: Fit) -> bool:
        return fit.error_xy_m <= self._config.xy_m and abs(fit.error_z_m) <= self._config.z_m

    def _pose(self, brick: str) -> Pose:
        fixed = self._bodies[brick].fixed
        return fixed if fixed is not None else self._poses[brick]

    def _connect(self, time_s: float, brick: str, supports: dict[str, Fit], press: float) -> None:
        link = _Link(brick, {lower: fit.points for lower, fit in supports.items()}, time_s)
        fastened_to_fixed = False
        for lower, fit in supports.items():
            fixed = self._bodies[lower].fixed is not None
            if fixed and fastened_to_fixed:
                continue  # fixed bodies are one rigid thing
            fastened_to_fixed |= fixed
            start = self._pose(lower).inverse() @ self._pose(brick)
            anchor = fit.centre
            name = self._fasteners.fasten(brick, lower, start, anchor)
            self._fasteners.strengthen(name, UNBREAKABLE, UNBREAKABLE)
            link.joints.append(_Joint(name, lower, start, fit.snapped, anchor))
        self._links[brick] = link
        studs = sum(fit.studs for fit in supports.values())
        for lower, fit in supports.items():
            self._log(time_s, "engaged", brick, lower, fit.studs, press * fit.studs / studs, fit)

    def _draw(self, time_s: float) -> None:
        """Draw freshly engaged bricks towards their places."""
        for link in self._links.values():
            if link.drawn:
                continue
            share = min(1.0, (time_s - link.since_s) / self._config.ramp_s)
            for joint in link.joints:
                relative = between(joint.start, joint.snapped, share)
                self._fasteners.move(joint.name, relative, joint.anchor)
            link.drawn = share >= 1.0

    def _release(self, time_s: float, pushes: dict[str, dict[str, float]]) -> None:
        for link in list(self._links.values()):
            if not link.drawn:
                continue
            hanging = self._assembly(link.upper)
            link.armed = link.armed or not any(map(self._held, sorted(hanging)))
            if link.breakable and self._is_off(link):
                self._break(time_s, link)
                continue
            breakable = link.armed and not any(self._is_pressed(b, pushes) for b in hanging)
            if breakable != link.breakable:
                link.breakable = breakable
                self._strengthen(link)

    def _assembly(self, brick: str) -> set[str]:
        """A brick and all that stands on it, however indirectly."""
        found, waiting = {brick}, [brick]
        while waiting:
            one = waiting.pop()
            above = {upper for upper, link in self._links.items() if one in link.points} - found
            found |= above
            waiting.extend(above)
        return found

    def _is_pressed(self, brick: str, pushes: dict[str, dict[str, float]]) -> bool:
        """Whether something that is not connected to a brick presses down on it."""
        down = -sum(n for n in pushes.get(brick, {}).values() if n < 0.0)
        return down >= self._config.press_n_per_stud

    def _is_off(self, link: _Link) -> bool:
        pose = self._pose(link.upper)
        for joint in link.joints:
            relative = self._pose(joint.lower).inverse() @ pose
            away = (relative @ joint.anchor) - (joint.snapped @ joint.anchor)
            if (
                math.hypot(away[0], away[1]) > self._config.xy_m
                or abs(away[2]) > self._config.z_m
                or relative.angle_to(joint.snapped) > math.radians(self._config.yaw_deg)
            ):
                return True
        return False

    def _strengthen(self, link: _Link) -> None:
        """Share the strength of all studs among a brick's joints."""
        share = 1.0 / len(link.joints)
        force, torque = self.strength(link.all_points) if link.breakable else (UNBREAKABLE, UNBREAKABLE)
        for joint in link.joints:
            self._fasteners.strengthen(joint.name, force * share, torque * share)

    def strength(self, points: FloatArray) -> tuple[float, float]:
        """What breaks a connection by (n, 3) studs: newton, and newton metres about their middle.

        The moment is the least that peels about an edge: the pull of each stud times its distance from the edge
        (see ``jarvis_sim.loads``).
        """
        pull, half = self._config.pull_n_per_stud, STUD_PITCH_M / 2
        x, y = (points[:, :2] - points[:, :2].mean(axis=0)).T
        levers = (x.max() + half - x, x + half - x.min(), y.max() + half - y, y + half - y.min())
        torque = min(pull * float(lever.sum()) for lever in levers) if self._config.peel else UNBREAKABLE
        return pull * len(points), torque

    def _break(self, time_s: float, link: _Link) -> None:
        for joint in link.joints:
            self._fasteners.loosen(joint.name)
        del self._links[link.upper]
        for lower, points in link.points.items():
            force = self._config.pull_n_per_stud * len(points)
            self._log(time_s, "released", link.upper, lower, len(points), force, None)

    def _log(
        self, time_s: float, kind: str, upper: str, lower: str, studs: int, force: float, fit: Fit | None
    ) -> None:
        self._events.append(
            ConnectionEvent(
                time_s=time_s,
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
