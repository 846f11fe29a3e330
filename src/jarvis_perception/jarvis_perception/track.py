"""Who is who: ids that stay with bricks through grasps and behind the arm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from jarvis_core.observation import RobotState
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenBrick
from scipy.optimize import linear_sum_assignment

from jarvis_perception.config import TrackConfig

#: A brick of another part or colour than the one followed is as unlikely as one so much farther away, metres.
_OTHER_PART_M, _OTHER_COLOUR_M = 0.008, 0.008
_FAR = 1e3
#: A brick is in the hand if it was this near to the tool's axis, and the pads stand as far apart as it is wide.
_IN_HAND_M, _WIDTH_M = 0.025, 0.0025
#: Pads nearer together than when they were first taken to hold something were still closing then.
_STILL_CLOSING_M = 0.0003
#: Pads farther apart than they held something by this have let it go.
_LET_GO_M = 0.0008


@dataclass(frozen=True, slots=True)
class Track:
    """One brick that is followed.

    Attributes:
        seen_s: when it was last seen.
        in_tool: its pose in the tool frame while it is held; its height there is not known.
        lay: its pose before it was held.
        width_m: distance of the pads that hold it.
        placed: let go over the plate: looked for there.
        found: and seen there: it lies there, covered or not, until nothing does.
    """

    brick: SeenBrick
    seen_s: float
    in_tool: Pose | None = None
    lay: Pose | None = None
    width_m: float = 0.0
    placed: bool = False
    found: bool = False


class Tracker:
    """Follows loose bricks from picture to picture."""

    def __init__(self, config: TrackConfig) -> None:
        self._config = config
        self._tracks: dict[str, Track] = {}
        self._last = 0

    @property
    def tracks(self) -> tuple[Track, ...]:
        return tuple(self._tracks.values())

    def update(
        self,
        found: Sequence[SeenBrick],
        time_s: float,
        hidden: Callable[[SeenBrick], bool],
        robot: RobotState | None,
    ) -> tuple[SeenBrick, ...]:
        """Give ids to what was found; keep what is hidden or held, forget what is gone.

        Args:
            found: bricks with any id.
            hidden: whether the camera could not see a brick at its last place.
            robot: tells what is in the hand.
        """
        ids = self._match(found, hidden)
        seen = {name: found[k] for k, name in ids.items()}
        for name, brick in seen.items():
            self._tracks[name] = Track(msgspec.structs.replace(brick, id=name), time_s)
        for name, track in list(self._tracks.items()):
            if name not in seen:
                self._unseen(name, track, time_s, hidden, robot)
        return tuple(track.brick for track in self._tracks.values())

    def drop(self, brick_id: str) -> None:
        """It is not where it was, and nobody knows where it went: seen again it is another brick."""
        del self._tracks[brick_id]

    def put(self, track: Track) -> None:
        """Replace what is known of a brick."""
        self._tracks[track.brick.id] = track

    def _match(self, found: Sequence[SeenBrick], hidden: Callable[[SeenBrick], bool]) -> dict[int, str]:
        """Id of each brick found: near ones first, then those that moved far, then new ones."""
        names = [name for name, track in self._tracks.items() if not track.placed]
        ids: dict[int, str] = {}
        if names and found:
            cost = np.array(
                [[self._cost(self._tracks[name].brick, brick) for brick in found] for name in names]
            )
            for row, column in zip(*linear_sum_assignment(cost), strict=True):
                if cost[row, column] < self._config.match_m:
                    ids[int(column)] = names[int(row)]
        left = [n for n in names if n not in ids.values() and not hidden(self._tracks[n].brick)]
        for k, brick in enumerate(found):
            if k not in ids:
                same = [n for n in left if _kind(self._tracks[n].brick) == _kind(brick)]
                if same:
                    ids[k] = min(same, key=lambda n: self._tracks[n].brick.pose.distance_to(brick.pose))
                    left.remove(ids[k])
                else:
                    self._last += 1
                    ids[k] = f"seen-{self._last:03d}"
        return ids

    def _cost(self, known: SeenBrick, brick: SeenBrick) -> float:
        cost = math.dist(known.pose.position[:2], brick.pose.position[:2])
        cost += _OTHER_PART_M * (known.part != brick.part) + _OTHER_COLOUR_M * (
            known.colour.code != brick.colour.code
        )
        return cost if cost < self._config.match_m else _FAR

    def _unseen(
        self,
        name: str,
        track: Track,
        time_s: float,
        hidden: Callable[[SeenBrick], bool],
        robot: RobotState | None,
    ) -> None:
        if track.placed:
            return
        if track.in_tool is not None and robot is not None:
            self._carry(name, track, robot)
        elif robot is not None and hidden(track.brick) and _in_hand(track.brick, robot):
            self._tracks[name] = _gripped(track, track.brick.pose, robot)
        elif hidden(track.brick) and time_s - track.seen_s < self._config.keep_s:
            self._tracks[name] = replace(track, brick=msgspec.structs.replace(track.brick, visible=False))
        else:
            del self._tracks[name]

    def _carry(self, name: str, track: Track, robot: RobotState) -> None:
        """A held brick moves with the tool, until the pads open."""
        assert track.in_tool is not None
        closing = robot.gripper_width_m < track.width_m - _STILL_CLOSING_M
        if closing and track.lay is not None and _over(track.lay, robot):
            # Pads that were still closing round it held nothing yet: it lay where it was. Farther away it slips.
            track = _gripped(track, track.lay, robot)
            assert track.in_tool is not None
        pose: Pose = robot.tool @ track.in_tool
        if robot.gripper_width_m > track.width_m + _LET_GO_M:
            brick = msgspec.structs.replace(track.brick, pose=pose, held=False, visible=False)
            self._tracks[name] = replace(track, brick=brick, in_tool=None, lay=None, placed=True)
        else:
            brick = msgspec.structs.replace(track.brick, pose=pose, held=True, visible=False)
            self._tracks[name] = replace(track, brick=brick)


def _gripped(track: Track, lay: Pose, robot: RobotState) -> Track:
    """Held as the pads are now, round a brick that lies there."""
    in_tool: Pose = robot.tool.inverse() @ lay
    held = msgspec.structs.replace(track.brick, held=True, visible=False)
    return replace(track, brick=held, in_tool=in_tool, lay=lay, width_m=robot.gripper_width_m)


def _over(pose: Pose, robot: RobotState) -> bool:
    """Whether the tool is where it could grip what has that pose."""
    return math.dist(pose.position[:2], robot.tool.position[:2]) < _IN_HAND_M


def _kind(brick: SeenBrick) -> tuple[str, int]:
    return brick.part, brick.colour.code


def _in_hand(brick: SeenBrick, robot: RobotState) -> bool:
    """Whether the pads could hold a brick: they are over it, and as far apart as one of its boxes is wide."""
    boxes = [brick.pose @ box.pose for box in brick.boxes]
    away = min((math.dist(pose.position[:2], robot.tool.position[:2]) for pose in boxes), default=_FAR)
    widths = [edge for box in brick.boxes for edge in box.size_m]
    return away < _IN_HAND_M and any(abs(width - robot.gripper_width_m) < _WIDTH_M for width in widths)
