"""Bricks and scenes in few words, as JSON or text, for agents that read."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from jarvis_core.seen import SeenBrick, SeenScene

#: Characters in a token, on the average of English and numbers: low, so that a budget is kept.
_CHARACTERS_PER_TOKEN = 3.0
#: Tops and undersides this near to each other touch, metres; directions this near to straight are said (degrees).
_TOUCH_M, _NEAR_M = 0.0012, 0.06
#: Variance of the yaw within a brick's covariance; a direction known worse than this is said to be.
_YAW_VARIANCE, _UNSURE_DEG = 35, 8.0
_WORDS = {(1, 0): "ahead of", (-1, 0): "behind", (0, 1): "left of", (0, -1): "right of"}


def describe_brick(brick: SeenBrick) -> dict[str, Any]:
    """One brick as a JSON object.

    Keys: ``id``; ``part`` and ``or`` (other candidates with scores); ``colour`` (name) and ``code``; ``studs``
    [length, width] of the body; ``plates`` (height); ``at_mm`` [x, y, z] of the middle of its top and ``yaw_deg``, both
    in ``world``; ``yaw_sd_deg`` (standard deviation, where the picture doesn't settle the direction); ``up`` (side, if
    it is not the studs); ``sure`` (of part and colour, 0 to 1); ``grasp`` (false and why, if it can't be gripped);
    ``seen`` (false, if it is hidden).
    """
    x, y, z = top_middle(brick)
    yaw = math.degrees(brick.pose.yaw)
    said: dict[str, Any] = {
        "id": brick.id,
        "part": brick.part,
        "colour": brick.colour.name,
        "code": brick.colour.code,
        "studs": [_short(n) for n in brick.size_studs],
        "plates": _short(brick.height_plates),
        "at_mm": [round(x * 1e3, 1), round(y * 1e3, 1), round(z * 1e3, 1)],
        "yaw_deg": round(yaw, 1),
        "sure": round(
            min(brick.colour.confidence, brick.candidates[0].score if brick.candidates else 0.0), 2
        ),
    }
    if len(brick.candidates) > 1:
        said["or"] = {guess.part: round(guess.score, 2) for guess in brick.candidates[1:3]}
    unsure = math.degrees(math.sqrt(brick.covariance[_YAW_VARIANCE]))
    if unsure > _UNSURE_DEG:
        said["yaw_sd_deg"] = round(unsure)
    if brick.side_up.value != "+z":
        said["up"] = brick.side_up.value
    if not brick.graspable:
        said["grasp"] = f"no: {brick.reason}"
    if brick.held:
        said["held"] = True
    elif not brick.visible:
        said["seen"] = False
    return said


def describe_scene(scene: SeenScene, max_tokens: int = 1500) -> str:
    """A scene as one JSON object in one line, cut to a budget: relations go first, then bricks from the last on.

    Keys: ``time_s``, ``bricks`` (``describe_brick``), ``relations`` [id, words, id], ``structure`` (``cells``: rows
    [i, j0, j1, plates, code] of equal cells along j, above the bare plate), ``warnings``, and ``left_out`` where
    something was cut.
    """
    whole: dict[str, Any] = {
        "time_s": round(scene.time_s, 2),
        "bricks": [describe_brick(brick) for brick in scene.bricks],
        "relations": relations(scene),
        "structure": {"cells": _cell_runs(scene)},
        "warnings": list(scene.warnings),
    }
    lists = [
        ("relations", whole["relations"]),
        ("cells", whole["structure"]["cells"]),
        ("bricks", whole["bricks"]),
    ]
    cut: dict[str, int] = {}
    for name, items in lists:
        while items and tokens(json.dumps({**whole, "left_out": cut}, separators=(",", ":"))) > max_tokens:
            drop = max(1, len(items) // 8)
            del items[-drop:]
            cut[name] = cut.get(name, 0) + drop
    if cut:
        whole["left_out"] = cut
    return json.dumps(whole, separators=(",", ":"))


def tokens(text: str) -> int:
    """About how many tokens a text takes, rather too many than too few."""
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


def relations(scene: SeenScene) -> list[list[str]]:
    """[a, words, b]: a lies on b, or ahead of, behind, left or right of its neighbour b (world: x ahead, y left);
    ``flush with``: their sides lie in one plane, and their directions agree."""
    found: list[list[str]] = []
    for index, a in enumerate(scene.bricks):
        for b in scene.bricks[index + 1 :]:
            found += _between(a, b)
    return found


def _between(a: SeenBrick, b: SeenBrick) -> list[list[str]]:
    first, second = top_middle(a), top_middle(b)
    apart = first - second
    if np.hypot(apart[0], apart[1]) > _NEAR_M:
        return []
    for upper, lower, gap in ((a, b, apart[2]), (b, a, -apart[2])):
        height = upper.height_plates * 0.0032
        if abs(gap - height) < _TOUCH_M and np.hypot(apart[0], apart[1]) < _reach(a, b):
            return [[upper.id, "on", lower.id]]
    along = int(np.argmax(np.abs(apart[:2])))
    direction = (int(np.sign(apart[0])), 0) if along == 0 else (0, int(np.sign(apart[1])))
    said = [[a.id, _WORDS[direction], b.id]]
    if _flush(a, b):
        said.append([a.id, "flush with", b.id])
    return said


def _reach(a: SeenBrick, b: SeenBrick) -> float:
    return 0.008 * (min(a.size_studs) + min(b.size_studs)) / 2


def _flush(a: SeenBrick, b: SeenBrick) -> bool:
    """Turned alike (to 3 degrees), and a pair of sides within 1 mm of one plane."""
    turn = (a.pose.yaw - b.pose.yaw) % (math.pi / 2)
    if min(turn, math.pi / 2 - turn) > math.radians(3.0):
        return False
    local = a.pose.inverse() @ np.stack([top_middle(a), top_middle(b)])
    offset = local[1] - local[0]
    turned = round((b.pose.yaw - a.pose.yaw) / (math.pi / 2)) % 2
    for axis in (0, 1):
        half_a, half_b = _half(a, axis), _half(b, axis if not turned else 1 - axis)
        if min(abs(offset[axis] + half_b - half_a), abs(offset[axis] - half_b + half_a)) < 0.001:
            return True
    return False


def _half(brick: SeenBrick, axis: int) -> float:
    return max((box.size_m[axis] for box in brick.boxes), default=0.0) / 2


def top_middle(brick: SeenBrick) -> Any:
    """(3,) middle of the top of a brick's boxes, metres, ``world``."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for box in brick.boxes:
        pose, half = brick.pose @ box.pose, np.array(box.size_m) / 2
        reach = np.abs(pose.rotation) @ half
        low, high = np.minimum(low, pose.position - reach), np.maximum(high, pose.position + reach)
    return np.array([*((low + high) / 2)[:2], high[2]])


def _cell_runs(scene: SeenScene) -> list[list[int]]:
    runs: list[list[int]] = []
    rows = zip(scene.structure.heights_plates, scene.structure.colours, strict=True)
    for i, (heights, colours) in enumerate(rows):
        for j, (height, colour) in enumerate(zip(heights, colours, strict=True)):
            if height <= 0:
                continue
            last = runs[-1] if runs else None
            if last and last[0] == i and last[2] == j - 1 and last[3:] == [height, colour]:
                last[2] = j
            else:
                runs.append([i, j, j, height, colour])
    return runs


def _short(value: float) -> float | int:
    return int(value) if float(value).is_integer() else round(value, 1)
