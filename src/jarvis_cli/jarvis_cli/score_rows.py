"""Result rows: from episodes and bags, from files of rows, and of what was planned."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_bytes
from jarvis_episode.recording.folder import BAG_FOLDER
from jarvis_episode.recording.labels import AUTO_FILE, LABELS_FILE, Labels, read_labels
from jarvis_episode.recording.scored import Scored, Unusable, find_sources, score_all
from jarvis_episode.runner import episode_name
from jarvis_scoring.brick_score import score
from jarvis_scoring.evidence import Evidence
from jarvis_scoring.rows import ResultRow, read_rows
from jarvis_scoring.stages import counted, failure_stages_by_brick
from jarvis_tasks.suite import load_suite

from jarvis_cli.progress import track

_ROWS = ".jsonl"


def collect(paths: Sequence[Path], *, with_bags: bool) -> tuple[list[ResultRow], list[Unusable]]:
    """Rows of everything under ``paths``, and what could not be used (a row too, where its episode is known)."""
    rows: list[ResultRow] = []
    files = [p for p in paths if p.suffix == _ROWS]
    for path in files:
        rows += read_rows(path)
    sources = find_sources([p for p in paths if p not in files])
    found = list(score_all(list(track(sources, "scoring")), with_bags=with_bags))
    rows += [row_of(item) for item in found if isinstance(item, Scored)]
    unusable = [item for item in found if isinstance(item, Unusable)]
    known = {row.episode_id for row in rows}
    return [*rows, *_failed(unusable, known)], unusable


def _failed(unusable: Sequence[Unusable], known: Collection[str]) -> Iterator[ResultRow]:
    """An episode that can't be scored stays in the denominator where its evidence or its folder tells which it was."""
    seen = set(known)
    for item in unusable:
        row = _from_folder(item.source) if item.evidence is None else _from_evidence(item.evidence)
        if row is not None and row.episode_id not in seen:
            seen.add(row.episode_id)
            yield msgspec.structs.replace(row, complete=False, reason=item.error.what)


def _from_folder(source: Path) -> ResultRow | None:
    folder = source.parent if source.name == BAG_FOLDER else source
    return _from_id(folder.name.removeprefix(".").removesuffix(".partial"))


def row_of(scored: Scored) -> ResultRow:
    """One episode; labels beside the record add to it.

    Raises:
        BadInputError: labels that are none.
    """
    result, row = scored.score, _from_evidence(scored.evidence)
    given, derived = read_labels(scored.source), read_labels(scored.source, AUTO_FILE)
    stages, by_hand = _stages(scored, given)
    return msgspec.structs.replace(
        row,
        stratum=given.stratum or "",
        api=given.api or derived.api or "primitives",
        style=given.style or "default",
        score=result.score,
        q=result.q,
        s_exact=result.s_exact,
        failed_calls=result.failed_calls,
        calls=result.calls,
        time_s=result.time_s,
        complete=not scored.faults,
        reason="; ".join(scored.faults),
        mode=given.mode or derived.mode or "none",
        rounds=given.rounds if given.rounds is not None else derived.rounds or (),
        stages=stages,
        stages_by_hand=by_hand,
        disturbed_score=_disturbed(scored.evidence),
    )


def _from_evidence(evidence: Evidence) -> ResultRow:
    """Which episode it is."""
    return ResultRow(
        episode_id=evidence.episode_id,
        task_id=evidence.task_id,
        agent=evidence.policy.name,
        seed=evidence.seed,
        declared=declared(evidence),
        n_scene=len(evidence.initial.objects) - len(evidence.targets),
        n_act=len(evidence.targets),
        outcome=evidence.outcome,
    )


def declared(evidence: Evidence) -> tuple[str, ...]:
    """What every table says of how an episode ran and what its score is made of."""
    policy = evidence.policy
    told = (
        (policy.privileged, "privileged"),
        (policy.sees == "true" and not policy.privileged, "true bricks"),
        (not policy.caged, "uncaged"),
        (evidence.states == "perceived", "perceived poses"),
    )
    return tuple(word for holds, word in told if holds)


def _stages(scored: Scored, given: Labels) -> tuple[dict[str, int], int]:
    """Failed bricks by stage, by rule or as somebody named them, and how many were named."""
    if scored.faults or scored.record is None:
        return {}, 0
    by_rule = failure_stages_by_brick(scored.record, scored.score, scored.evidence.constants)
    unknown = sorted(given.failures.keys() - by_rule.keys())
    if unknown:
        raise BadInputError(
            f"{unknown[0]} did not fail, or is no brick to be placed",
            where=str(scored.source / LABELS_FILE),
            fix="label failed bricks only",
        )
    return counted((by_rule | given.failures).values()), len(given.failures)


def _disturbed(evidence: Evidence) -> float | None:
    """The score of what the policy found, where a build was spoilt before it took over."""
    found = evidence.disturbed()
    return score(found, evidence.constants).score if found is not None else None


def planned(
    suite: str | None,
    agents: Sequence[str],
    seeds: Sequence[int],
    listed: Path | None,
    library: LDrawLibrary | None,
) -> list[ResultRow]:
    """Episodes that should be there: every task of a suite for every agent and seed, and those of a list.

    Args:
        listed: a file with rows (.jsonl), or an episode id a line, TASK-AGENT-SEED.
    """
    rows = []
    if suite is not None:
        tasks = load_suite(suite, library).index.tasks
        for task, agent, seed in itertools.product(tasks, agents, seeds):
            rows.append(
                ResultRow(
                    episode_id=episode_name(task.id, agent, seed),
                    task_id=task.id,
                    agent=agent,
                    seed=seed,
                    stratum=task.stratum,
                    n_scene=task.n_scene,
                    n_act=task.n_act,
                )
            )
    if listed is not None:
        rows += read_rows(listed) if listed.suffix == _ROWS else _from_ids(listed)
    return rows


def _from_ids(path: Path) -> list[ResultRow]:
    rows = []
    for number, line in enumerate(read_bytes(path).decode(errors="replace").splitlines(), 1):
        if not line.strip():
            continue
        row = _from_id(line.strip())
        if row is None:
            raise BadInputError(
                f"{line.strip()!r} is no episode id", where=f"{path}:{number}", fix="write TASK-AGENT-SEED"
            )
        rows.append(row)
    return rows


def _from_id(text: str) -> ResultRow | None:
    """TASK-AGENT-SEED, as jarvis_episode.runner.episode_name makes it; None for anything else."""
    task, _, seed = text.rpartition("-")
    task, _, agent = task.rpartition("-")
    if not (task and agent and seed.isdigit()):
        return None
    return ResultRow(episode_id=text, task_id=task, agent=agent, seed=int(seed))
