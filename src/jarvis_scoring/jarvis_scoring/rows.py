"""One line of results per episode: what the tables are made of, small enough for hundreds of thousands."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_bytes, write_bytes

#: Stages at which a brick can fail, in the order of an execution; "" is a brick that was built.
STAGES = (
    "not attempted",
    "code error",
    "grounding",
    "planning",
    "grasp",
    "transport",
    "placement",
    "disturbed later",
)


class ResultRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An episode's result, and what it is compared by. What does not apply stays at its default.

    Attributes:
        agent: name of the policy (with its model, where it has one).
        stratum: of the task within its suite.
        api: layer of functions the agent had: ``primitives`` or ``generic``.
        declared: what a reader must know of how it ran: ``privileged``, ``true bricks`` (a stand-in for perception),
            ``uncaged``, ``perceived poses`` (what the score is made of); empty where nothing is known, too.
        style: of the manual's pages.
        n_scene, n_act: bricks standing at the start, bricks to place.
        score, q: as scored; ``q`` without the time penalty (0 to 1).
        complete: a sound recording. Others count zero, whatever ``score`` says.
        reason: why it is not complete.
        mode: of reflection: ``none``, ``reflection``, ``lessons`` (reflection with lessons of prior tasks).
        rounds: scores after rounds R1, R2, ... with and without the time penalty.
        grounding: of a plan scored without a robot (such a row is no episode): share of steps covered,
            error in mm over matched steps, and whether 3D descriptors were given.
        disturbed_score: right after a perturbation; None where nothing was perturbed.
        stages: bricks by the first stage at which they failed; ``stages_by_hand``: so many of them were named by
            somebody, the others follow rules.
    """

    episode_id: str
    task_id: str
    agent: str
    seed: int = 0
    stratum: str = ""
    api: str = "primitives"
    declared: tuple[str, ...] = ()
    style: str = "default"
    n_scene: int = 0
    n_act: int = 0
    score: float = 0.0
    q: float = 0.0
    s_exact: float = 0.0
    failed_calls: int = 0
    calls: int = 0
    time_s: float = 0.0
    outcome: str = ""
    complete: bool = True
    reason: str = ""
    mode: str = "none"
    rounds: tuple[tuple[float, float], ...] = ()
    grounding: tuple[float, float | None, bool] | None = None
    disturbed_score: float | None = None
    stages: dict[str, int] = {}
    stages_by_hand: int = 0

    @property
    def counted(self) -> float:
        """What it adds to a mean."""
        return self.score if self.complete else 0.0


def read_rows(path: Path) -> list[ResultRow]:
    """Read a .jsonl file, a row a line.

    Raises:
        BadInputError: names the line that is no row.
    """
    data = read_bytes(path)
    try:
        return msgspec.json.decode(b"[" + data.strip().replace(b"\n", b",") + b"]", type=list[ResultRow])
    except (msgspec.DecodeError, UnicodeDecodeError):
        for number, line in enumerate(data.splitlines(), 1):
            try:
                msgspec.json.decode(line, type=ResultRow)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise BadInputError(f"is no result row ({error})", where=f"{path}:{number}") from error
        raise


def write_rows(path: Path, rows: Iterable[ResultRow]) -> None:
    """Write a .jsonl file, whole or not at all."""
    write_bytes(path, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def with_expected(rows: Iterable[ResultRow], expected: Iterable[ResultRow]) -> tuple[list[ResultRow], int]:
    """All rows, and a row of zeros for every expected episode that left none; and how many those are.

    What is expected also tells the stratum and the sizes of its task.

    Raises:
        BadInputError: an episode has two rows.
    """
    found: dict[str, ResultRow] = {}
    for row in rows:
        if found.setdefault(row.episode_id, row) is not row:
            raise BadInputError(f"episode {row.episode_id} has two rows", fix="give every episode once")
    missing = 0
    for plan in expected:
        known = found.get(plan.episode_id)
        if known is None:
            missing += 1
            reason = "missing: it was planned, but left no record"
            found[plan.episode_id] = msgspec.structs.replace(plan, complete=False, reason=reason)
        else:
            found[plan.episode_id] = msgspec.structs.replace(
                known, stratum=plan.stratum, n_scene=plan.n_scene, n_act=plan.n_act
            )
    return list(found.values()), missing
