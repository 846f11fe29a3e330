"""The tables of a full run, from any set of result rows. Every episode counts; an incomplete one counts zero."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from jarvis_scoring.estimates import Bin, Estimate, TablesConfig, estimate, paired
from jarvis_scoring.protocol import NOT_COMPARABLE
from jarvis_scoring.rows import STAGES, ResultRow
from jarvis_scoring.tables import Cell, ResultTable

_COUNTS = "Mean [bootstrap interval] (N); incomplete and missing episodes count 0."


def all_tables(rows: Sequence[ResultRow], config: TablesConfig) -> list[ResultTable]:
    """Tables 1 to 7, the paired comparison, and what is missing.

    What is no whole episode is in a table of its own alone: plans in table 4, work on spoilt builds in table 6.
    """
    whole = [row for row in rows if row.disturbed_score is None and row.grounding is None]
    return [
        composition(whole, config),
        agents(whole, config),
        styles(whole, config),
        bins(whole, config),
        grounding(rows, config),
        reflection(whole, config),
        recovery(rows, config),
        stages(whole),
        comparisons(whole, config),
        incomplete(rows, config),
    ]


def grouped[K](rows: Sequence[ResultRow], key: Callable[[ResultRow], K]) -> dict[K, list[ResultRow]]:
    """Rows by key, in the order in which the keys first occur."""
    found: dict[K, list[ResultRow]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return dict(found)


def score_of(rows: Sequence[ResultRow], config: TablesConfig) -> Estimate | None:
    return estimate([row.counted for row in rows], config)


def _by_agent(rows: Sequence[ResultRow]) -> list[tuple[tuple[str, str], list[ResultRow]]]:
    return sorted(grouped(rows, lambda row: (row.agent, row.api)).items())


def _strata(rows: Sequence[ResultRow], config: TablesConfig) -> list[str]:
    there = {row.stratum for row in rows}
    return [s for s in config.strata if s in there] + sorted(there - set(config.strata) - {""})


def composition(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Table 1: tasks by stratum."""
    tasks = list({row.task_id: row for row in rows}.values())
    body: list[tuple[Cell, ...]] = []
    for name in [*_strata(rows, config), "all"]:
        chosen = [t for t in tasks if name in ("all", t.stratum)]
        figures: list[Cell] = []
        for numbers in ([t.n_act for t in chosen], [t.n_scene for t in chosen]):
            if numbers:
                figures += [statistics.fmean(numbers), float(statistics.median(numbers)), max(numbers)]
            else:
                figures += [None, None, None]
        body.append((name, len(chosen), *figures))
    heads = [
        f"{what} bricks {figure}" for what in ("action", "scene") for figure in ("mean", "median", "max")
    ]
    return ResultTable(
        "table1-composition", "Table 1: tasks by stratum", ("stratum", "tasks", *heads), tuple(body)
    )


def agents(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Table 2: scores by stratum and failed actions, per agent and layer of functions."""
    strata = _strata(rows, config)
    body: list[tuple[Cell, ...]] = []
    for (agent, api), own in _by_agent(rows):
        by_stratum = grouped(own, lambda row: row.stratum)
        cells = [score_of(by_stratum.get(name, []), config) for name in strata]
        failed = statistics.fmean(row.failed_calls for row in own)
        exact = 100.0 * statistics.fmean(row.s_exact if row.complete else 0.0 for row in own)
        declared = ", ".join(sorted({word for row in own for word in row.declared})) or "-"
        body.append((agent, api, *cells, score_of(own, config), exact, failed, declared))
    columns = ("agent", "functions", *strata, "overall", "exact %", "failed actions per task", "declared")
    return ResultTable(
        "table2-agents", "Table 2: score by agent", columns, tuple(body), (_COUNTS, NOT_COMPARABLE)
    )


def styles(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Table 3, first half: score by the style of the manual."""
    names = sorted({row.style for row in rows})
    body = []
    for (agent, api), own in _by_agent(rows):
        by_style = grouped(own, lambda row: row.style)
        body.append((agent, api, *(score_of(by_style.get(name, []), config) for name in names)))
    return ResultTable(
        "table3a-styles",
        "Table 3a: score by style of the manual",
        ("agent", "functions", *names),
        tuple(body),
        (_COUNTS,),
    )


def label(limits: Bin) -> str:
    low, high = limits
    return f"{low}+" if high is None else f"{low}-{high}"


def _bin(number: int, limits: Sequence[Bin]) -> str:
    for low, high in limits:
        if low <= number and (high is None or number <= high):
            return label((low, high))
    return "outside"


def bins(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Table 3, second half: score by number of bricks to place and of bricks that stand there."""
    cells = grouped(
        rows, lambda row: (_bin(row.n_act, config.act_bins), _bin(row.n_scene, config.scene_bins))
    )
    heads = [label(limits) for limits in config.scene_bins]
    body = []
    for limits in config.act_bins:
        line = [score_of(cells.get((label(limits), scene), []), config) for scene in heads]
        body.append((label(limits), *line))
    outside = sum(len(own) for key, own in cells.items() if "outside" in key)
    notes = (_COUNTS, f"{outside} episodes lie outside these bins.") if outside else (_COUNTS,)
    return ResultTable(
        "table3b-bins",
        "Table 3b: score by action bricks (down) and scene bricks (across), all agents",
        ("action bricks", *heads),
        tuple(body),
        notes,
    )


def grounding(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Table 4: planning and grounding without a robot."""
    body = []
    planned = [row for row in rows if row.grounding is not None]
    groups = grouped(planned, lambda row: (row.agent, row.grounding is not None and row.grounding[2]))
    for (agent, descriptors), own in sorted(groups.items()):
        found = [row.grounding for row in own if row.grounding is not None]
        coverage = estimate([100.0 * share for share, _, _ in found], config)
        error = estimate([mm for _, mm, _ in found if mm is not None], config)
        body.append((agent, "with" if descriptors else "without", coverage, error))
    return ResultTable(
        "table4-grounding",
        "Table 4: planning and grounding, no robot",
        ("agent", "3D descriptors", "steps covered %", "position error mm"),
        tuple(body),
        ("The error is over matched steps alone.",),
    )


def reflection(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Table 5: score by kind of reflection and round, with and without the time penalty."""
    longest = min(max((len(row.rounds) for row in rows), default=0), config.most_rounds)
    body: list[tuple[Cell, ...]] = []
    reflecting = [row for row in rows if row.mode != "none" or longest]
    for (agent, mode), own in sorted(grouped(reflecting, lambda row: (row.agent, row.mode)).items()):
        for index, penalty in enumerate(("with", "without")):
            values = [row.counted if index == 0 else _unpenalised(row) for row in own]
            line: list[Cell] = [estimate(values, config)]
            for k in range(longest):
                # Who stopped earlier keeps its last score.
                reached = [row.rounds[min(k, len(row.rounds) - 1)][index] for row in own if row.rounds]
                line.append(estimate(reached, config))
            body.append((agent, mode, penalty, *line))
    columns = ("agent", "reflection", "time penalty", "final", *(f"R{k + 1}" for k in range(longest)))
    return ResultTable(
        "table5-reflection", "Table 5: reflection", columns, tuple(body), (_COUNTS,) if body else ()
    )


def _unpenalised(row: ResultRow) -> float:
    return 100.0 * row.q if row.complete else 0.0


def recovery(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Table 6: score right after a perturbation and at the end."""
    body: list[tuple[Cell, ...]] = []
    disturbed = [row for row in rows if row.disturbed_score is not None]
    for (agent, _), own in _by_agent(disturbed):
        before = [row.disturbed_score or 0.0 for row in own]
        gains = [row.counted - start for row, start in zip(own, before, strict=True)]
        improved, worse = sum(g > 0 for g in gains), sum(g < 0 for g in gains)
        ends = (estimate(before, config), score_of(own, config))
        body.append((agent, *ends, improved, worse, *_extremes(gains)))
    return ResultTable(
        "table6-recovery",
        "Table 6: recovery from a perturbation",
        ("agent", "after perturbation", "at the end", "improved", "worse", "largest gain", "largest loss"),
        tuple(body),
        ("These episodes are in no other table.",) if body else (),
    )


def _extremes(gains: Sequence[float]) -> tuple[float | None, float | None]:
    """The largest gain and the largest loss; None where there is none."""
    best, worst = max(gains), min(gains)
    return (best if best > 0 else None), (worst if worst < 0 else None)


def stages(rows: Sequence[ResultRow]) -> ResultTable:
    """Table 7: the first stage at which each brick failed."""
    body: list[tuple[Cell, ...]] = []
    for (agent, api), own in _by_agent(rows):
        found: Counter[str] = Counter()
        for row in own:
            for stage, count in row.stages.items():
                found[stage] += count
        counts = [found[stage] for stage in STAGES]
        unknown = sum(row.n_act for row in own if not row.complete)
        total = sum(row.n_act for row in own)
        body.append((agent, api, total, total - sum(counts) - unknown, *counts, unknown))
    return ResultTable(
        "table7-stages",
        "Table 7: bricks by the first stage at which they failed",
        ("agent", "functions", "bricks", "built", *STAGES, "no record"),
        tuple(body),
        (_origin(rows),) if body else (),
    )


def _origin(rows: Sequence[ResultRow]) -> str:
    by_hand = sum(row.stages_by_hand for row in rows)
    failed = sum(sum(row.stages.values()) for row in rows)
    return f"Stages follow rules on the record (auto); {by_hand} of {failed} were named by hand."


def comparisons(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Every two agents on the (task, seed) that both have."""
    found = [
        (agent if api == "primitives" else f"{agent} ({api})", {(r.task_id, r.seed): r.counted for r in own})
        for (agent, api), own in _by_agent(rows)
    ]
    body: list[tuple[Cell, ...]] = []
    for a, b in itertools.combinations(found, 2):
        pair = paired(a, b, config)
        if pair is not None:
            body.append((pair.b, pair.a, pair.difference, pair.better, pair.equal, pair.worse))
    return ResultTable(
        "paired",
        "Paired comparison: the first minus the second, on the same tasks and seeds",
        ("agent", "against", "difference", "better", "equal", "worse"),
        tuple(body),
    )


def incomplete(rows: Sequence[ResultRow], config: TablesConfig) -> ResultTable:
    """Episodes that count zero because they are missing or incomplete."""
    bad = [row for row in rows if not row.complete]
    body = tuple((row.episode_id, row.agent, row.reason) for row in bad[: config.most_named])
    rest = len(bad) - len(body)
    notes = (
        f"{len(bad)} of {len(rows)} episodes count 0.",
        *([f"{rest} more are not named."] if rest else []),
    )
    return ResultTable(
        "incomplete", "Missing and incomplete episodes", ("episode", "agent", "why"), body, notes
    )
