"""A score in words: for the terminal, the report page and score.json."""

from __future__ import annotations

import math

from jarvis_core.files import encode
from jarvis_core.objects import GROUND

from jarvis_scoring.protocol import BrickScore, EpisodeScore

#: Below this an offset or angle is not worth a word beside a larger fault.
_NEGLIGIBLE_M = 0.0005
_NEGLIGIBLE_RAD = math.radians(1.5)
#: Farther away than this a distance says more than an offset along each axis.
_FAR_M = 0.05


def to_json(score: EpisodeScore) -> str:
    """The text of score.json."""
    return encode(score).decode()


def fault(brick: BrickScore) -> str:
    """What is wrong with a brick, in a few words; "" when nothing is."""
    if brick.exact:
        return "still in the gripper" if brick.held else ""
    if brick.missing:
        return "missing at the end"
    if not brick.moved:
        return "not moved from where it lay"
    if brick.held:
        return "still in the gripper"
    where = _misplacement(brick)
    if brick.e_pos_world_m is not None and brick.e_pos_world_m > _FAR_M:
        return where
    return "; ".join(word for word in (where, _connections(brick)) if word) or "just outside the tolerance"


def _misplacement(brick: BrickScore) -> str:
    if brick.offset_m is None or brick.e_pos_world_m is None or brick.e_theta_rad is None:
        return ""
    words = []
    if brick.e_pos_world_m > _FAR_M:
        words.append(f"{brick.e_pos_world_m * 1000:.0f} mm from its place")
    else:
        axes = zip(brick.offset_m, ("x", "y", "z"), strict=True)
        words += [f"{v * 1000:+.1f} mm in {axis}" for v, axis in axes if abs(v) > _NEGLIGIBLE_M]
    if brick.e_theta_rad > _NEGLIGIBLE_RAD:
        words.append(f"turned by {math.degrees(brick.e_theta_rad):.0f}°")
    return ", ".join(words)


def _connections(brick: BrickScore) -> str:
    words = []
    if brick.missing_connections:
        words.append(f"not joined to {_names(brick.missing_connections)}")
    if brick.extra_connections:
        words.append(f"wrongly joined to {_names(brick.extra_connections)}")
    return "; ".join(words)


def _names(ids: tuple[str, ...]) -> str:
    return ", ".join("the plate" if i == GROUND else i for i in ids)


def headline(score: EpisodeScore) -> str:
    """One sentence: what the score means for this build."""
    n = score.n_required
    exact = sum(b.exact for b in score.bricks)
    complete = sum(b.complete for b in score.bricks)
    if exact == n:
        built = "The brick is" if n == 1 else f"All {n} bricks are"
        head = f"{built} exactly where the manual shows, joined as it shows"
    elif not any(b.moved for b in score.bricks):
        head = "No required brick was moved"
    else:
        head = f"{exact} of {n} bricks exactly right, {complete} of {n} near their places"
    late = score.time_penalty
    return f"{head}; {late * 100:.0f} % lost for the time beyond the budget." if late > 0 else f"{head}."


def table(score: EpisodeScore) -> str:
    """The whole score as plain text with a line for every brick, ends with a newline."""
    lines = [
        f"{score.protocol}  {score.score:.2f} of 100   ({score.note})",
        headline(score),
        "",
        f"  exact {score.s_exact:6.1%}   complete {score.s_comp:6.1%}   pose {score.s_pose:.3f}"
        f"   valid {score.s_valid:6.1%}",
        f"  time {score.time_s:.1f} s of {score.budget_s:.0f} s   penalty {score.time_penalty:.1%}"
        f"   calls {score.calls} ({score.failed_calls} failed)",
        "",
    ]
    rows: list[tuple[str, ...]] = [
        ("step", "brick", "part", "colour", "mm", "mm z", "deg", "pose", "done", "exact", "what is wrong")
    ]
    rows += [_row(brick) for brick in score.bricks]
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    right = {0, 4, 5, 6, 7}
    for row in rows:
        cells = [cell.rjust(widths[c]) if c in right else cell.ljust(widths[c]) for c, cell in enumerate(row)]
        lines.append("  ".join(["", *cells]).rstrip())
    return "\n".join(lines) + "\n"


def _row(brick: BrickScore) -> tuple[str, ...]:
    name = brick.id if brick.id == brick.matched_id else f"{brick.id} ({brick.matched_id})"
    return (
        str(brick.step),
        name,
        brick.kind,
        str(brick.colour),
        _number(brick.e_pos_m, 1000, 2),
        _number(brick.e_z_m, 1000, 2),
        _number(brick.e_theta_rad, 180 / math.pi, 1),
        f"{brick.pose_score:.3f}",
        "yes" if brick.complete else "no",
        "yes" if brick.exact else "no",
        fault(brick),
    )


def _number(value: float | None, scale: float, digits: int) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"
