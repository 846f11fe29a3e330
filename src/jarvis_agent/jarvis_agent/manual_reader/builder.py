"""Builds what was read: bricks in an order in which they can stand, each looked at, each mended at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.pose import Pose

from jarvis_agent.manual_reader.config import Building
from jarvis_agent.manual_reader.order import Job, jobs, ready
from jarvis_agent.manual_reader.plan import ReadPlan

Answer = Mapping[str, Any]
#: Of a quaternion's x and y: a symmetry that turns less than this away from the vertical leaves a brick upright.
_UPRIGHT = 1e-6
#: A part with so many of them is round: how far it is turned can't be seen.
_ROUND = 16


class Calls(Protocol):
    """The calls of the primitives layer, as every agent has them; answers are plain data."""

    def __call__(self, name: str, **arguments: Any) -> Answer: ...


class BuiltBrick(msgspec.Struct, frozen=True):
    """What became of one brick of the plan.

    Attributes:
        step: the manual's page.
        id: of the loose brick that was used; "" if none was touched.
        state: ``placed``; ``failed``; ``unsupported``, what should carry it is missing; ``absent``, no such brick is
            seen.
        reading: 0 for the plan's best reading, 1 for its first alternative ...
        mended: it took a second try.
        reason: of a failure, in the words of the last call.
    """

    step: int
    part: str
    colour: int
    id: str
    state: str
    reading: int = 0
    mended: bool = False
    reason: str = ""


class HandFullError(Exception):
    """The hand holds a brick that can be put down nowhere: nothing more can be built."""


class Builder:
    """One build by calls.

    Args:
        call: the calls.
        plate: pose of frame ``plate`` in ``world``, as the task tells it.
        note: told what is worth writing down.
    """

    def __init__(
        self,
        call: Calls,
        plate: Pose,
        catalogue: PartCatalogue,
        config: Building,
        note: Callable[..., None] = lambda *_, **__: None,
    ) -> None:
        self._call = call
        self._plate = plate
        self._catalogue = catalogue
        self._config = config
        self._note = note
        self._used: set[str] = set()
        self._done: dict[int, BuiltBrick] = {}

    def build(self, plan: ReadPlan) -> tuple[list[BuiltBrick], str]:
        """Build step by step; what became of every brick, and a sentence."""
        steps = jobs(plan, self._catalogue)
        order: list[Job] = [job for step in steps for job in step]
        said = ""
        try:
            for step, page in zip(steps, plan.steps, strict=True):
                self._call("next_step")
                self._step(step)
                self._note("step", page=page.page, understood=page.understood, doubts=list(page.doubts))
        except HandFullError as error:
            said = f"; given up: {error}"
        self._call("home")
        found = [self._done.get(id(job)) or _report(job, "failed", "not reached") for job in order]
        placed = sum(brick.state == "placed" for brick in found)
        return found, f"{placed} of {len(found)} bricks that were read are placed{said}"

    def _step(self, step: Sequence[Job]) -> None:
        pending = list(step)
        while pending:
            job, brick, pose = self._choose(pending)
            pending.remove(job)
            self._done[id(job)] = self._place(job, brick, pose)
            self._note("brick", **msgspec.to_builtins(self._done[id(job)]))
        self._check(step)

    def _choose(self, pending: Sequence[Job]) -> tuple[Job, str, Pose]:
        """The next brick to place, the loose one to take and the pose to give it: the first that can be gripped where
        it lies and put down so; else the first there is."""
        candidates = list(ready(pending)) or list(pending)
        for job in candidates:
            if self._can_stand(job):
                for brick in self._loose(job):
                    pose = self._grip(job, brick, 0)
                    if pose is not None:
                        return job, brick, pose
        job = candidates[0]
        return job, next(self._loose(job), ""), self._world(job, 0)

    def _grip(self, job: Job, brick: str, reading: int) -> Pose | None:
        """Of the poses that look the same, the first that goes with a grip the brick can be taken by."""
        poses = self._same(job, reading)
        return next(
            (pose for pose in poses if self._call("plan_grasp", brick_id=brick, pose=pose)["ok"]), None
        )

    def _upright(self, job: Job) -> list[tuple[float, float, float, float]]:
        """The part's symmetries that leave it upright; the identity is always one."""
        symmetries = self._catalogue.geometry(job.brick.place.part).symmetries
        return [turn for turn in symmetries if abs(turn[0]) + abs(turn[1]) < _UPRIGHT]

    def _same(self, job: Job, reading: int) -> list[Pose]:
        """The brick's poses (``world``) that the part's symmetries can't tell apart, at most so many as configured."""
        geometry = self._catalogue.geometry(job.brick.place.part)
        centre, back = Pose(geometry.symmetry_centre), Pose([-c for c in geometry.symmetry_centre])
        pose = self._world(job, reading)
        upright = self._upright(job)
        every = -(-len(upright) // self._config.turns)
        return [pose @ centre @ Pose((0.0, 0.0, 0.0), turn) @ back for turn in upright[::every]] or [pose]

    def _can_stand(self, job: Job) -> bool:
        """Whether something that should carry it is there."""
        under = [self._done.get(id(other)) for other in job.under]
        return not under or any(brick is not None and brick.state == "placed" for brick in under)

    def _loose(self, job: Job) -> Iterator[str]:
        """Loose bricks that look like the one read, nearest to its place first; then those of another colour."""
        place = job.brick.place
        goal = self._world(job, 0).position
        seen = [b for b in self._call("find_brick", part=place.part)["bricks"] if b["id"] not in self._used]
        seen.sort(
            key=lambda b: (b["colour"] != place.colour, float(np.linalg.norm(b["pose"][:3] - goal)), b["id"])
        )
        exact = [b for b in seen if b["colour"] == place.colour]
        yield from (b["id"] for b in exact or seen)

    def _world(self, job: Job, reading: int) -> Pose:
        places = [job.brick.place, *job.brick.alternatives]
        pose: Pose = self._plate @ places[reading].pose
        return pose

    def _readings(self, job: Job) -> list[int]:
        """The best reading, and rivals of the same brick that explain the page nearly as well."""
        best = job.brick.place
        if best.gain_px <= 0.0:
            # What shows next to nothing of itself is there for what stands on it: its rivals say nothing.
            return [0]
        least = self._config.least_rival * best.gain_px
        rivals = [
            k + 1
            for k, other in enumerate(job.brick.alternatives)
            if (other.part, other.colour) == (best.part, best.colour) and other.gain_px >= least
        ]
        return [0, *rivals[: self._config.rivals]]

    def _place(self, job: Job, brick: str, pose: Pose) -> BuiltBrick:
        if not self._can_stand(job):
            return _report(job, "unsupported", "what should carry it is not there")
        if not brick:
            return _report(job, "absent", "no such brick is seen")
        self._used.add(brick)
        home = self._where(brick)
        first, *rivals = self._readings(job)
        answer = self._call("pick_and_place", brick_id=brick, pose=pose)
        if answer["ok"]:
            return _report(job, "placed", id=brick)
        # One more try of the same, then the page's other readings.
        for reading in (first, *rivals):
            if _holds(answer):
                answer = self._call("place", pose=pose if reading == first else self._world(job, reading))
            else:
                brick, home = self._look_again(job, brick, home)
                goal = self._grip(job, brick, reading) or self._world(job, reading)
                answer = self._call("pick_and_place", brick_id=brick, pose=goal)
            if answer["ok"]:
                return _report(job, "placed", id=brick, reading=reading, mended=True)
        self._put_away(brick, home, answer)
        return _report(job, "failed", answer["reason"], id=brick)

    def _look_again(self, job: Job, brick: str, home: Pose | None) -> tuple[str, Pose | None]:
        """With the arm out of the way: the brick that was lost, or another of its kind, and where it lies."""
        self._call("home")
        self._used.discard(brick)
        seen = list(self._loose(job))
        found = brick if brick in seen or not seen else seen[0]
        self._used.add(found)
        return found, self._where(found) or home

    def _where(self, brick: str) -> Pose | None:
        found = self._call("describe_brick", brick_id=brick)
        return Pose.from_list(found["brick"]["pose"]) if found["ok"] and found["brick"] else None

    def _put_away(self, brick: str, home: Pose | None, last: Answer) -> None:
        """Back to where it lay, if it is in the hand; raises HandFullError if it stays there."""
        if not _holds(last):
            return
        answer = self._call("place", pose=home) if home is not None else last
        if _holds(answer):
            raise HandFullError(f"{brick} can be put down nowhere ({answer['reason']})")

    def _check(self, step: Sequence[Job]) -> None:
        """Look at what was placed and lies open; what does not stand where it should is taken off and placed anew."""
        standing = [job for job in step if self._done[id(job)].state == "placed"]
        # What carries another can neither be taken off alone nor be seen whole from above.
        covered = {id(under) for job in standing for under in job.under}
        placed = {self._done[id(job)].id: job for job in standing if id(job) not in covered}
        if not placed:
            return
        self._call("home")
        checks = self._call("check_step")["placements"]
        wrong = [c["id"] for c in checks if c["id"] in placed and not self._stands(placed[c["id"]], c)]
        if not wrong:
            return
        for name in wrong:
            self._mend(placed[name], name)
        self._call("home")
        again = {c["id"]: c for c in self._call("check_step")["placements"]}
        for name in wrong:
            job = placed[name]
            stands = name in again and self._stands(job, again[name])
            if not stands and self._done[id(job)].state == "placed":
                self._done[id(job)] = _report(job, "failed", "does not stand where it was placed", id=name)

    def _stands(self, job: Job, check: Answer) -> bool:
        """Whether a brick is where it was meant to be, up to turns that its part does not show."""
        if check["ok"] or not check["seen"] or check["error_m"] > self._config.placed_m:
            return bool(check["ok"])
        turns = [2 * np.arccos(min(1.0, abs(t[3]))) for t in self._upright(job)]
        if len(turns) >= _ROUND:
            return True
        off = min(abs(check["error_rad"] - turn) for turn in turns)
        return bool(off <= np.radians(self._config.placed_deg))

    def _mend(self, job: Job, name: str) -> None:
        before = self._done[id(job)]
        if before.mended:
            return
        pose = self._world(job, before.reading)
        taken = self._call("remove", brick_id=name)
        answer = self._call("place", pose=pose) if _holds(taken) else self._call("press", brick_id=name)
        state = "placed" if answer["ok"] else "failed"
        self._done[id(job)] = msgspec.structs.replace(
            before, state=state, mended=True, reason=answer["reason"]
        )
        self._note("mended", id=name, state=state, reason=answer["reason"])
        if _holds(answer):
            self._put_away(name, None, answer)


def _holds(answer: Answer) -> bool:
    return bool(answer.get("facts", {}).get("held"))


def _report(
    job: Job, state: str, reason: str = "", *, id: str = "", reading: int = 0, mended: bool = False
) -> BuiltBrick:
    place = job.brick.place
    return BuiltBrick(job.step + 1, place.part, place.colour, id, state, reading, mended, reason)
