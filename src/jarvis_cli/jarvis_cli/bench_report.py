"""The rows of a run, its report, and the comparison of two."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec
from jarvis_bench.run_page import write_run_page
from jarvis_bench.suite_run.attempts import read_attempts
from jarvis_bench.suite_run.plan import EPISODES_FOLDER, PlannedEpisode, RunPlan, read_plan
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_scoring.estimates import TablesConfig, paired
from jarvis_scoring.result_tables import all_tables
from jarvis_scoring.rows import ResultRow, with_expected
from jarvis_scoring.tables import Cell, ResultTable, render

from jarvis_cli.score_rows import collect


def run_rows(run: Path) -> tuple[RunPlan, list[ResultRow]]:
    """A row for every planned episode; what left no record counts zero, with what is known of why."""
    plan = read_plan(run)
    folder = run / EPISODES_FOLDER
    found = collect([folder], with_bags=False)[0] if folder.is_dir() else []
    rows, _ = with_expected(found, [_expected(episode, plan) for episode in plan.episodes()])
    reasons = {attempt.episode_id: attempt.reason for attempt in read_attempts(run)[0] if not attempt.done}
    return plan, [
        row
        if row.complete or row.episode_id not in reasons
        else msgspec.structs.replace(row, reason=reasons[row.episode_id])
        for row in rows
    ]


def _expected(episode: PlannedEpisode, plan: RunPlan) -> ResultRow:
    return ResultRow(
        episode_id=episode.id,
        task_id=episode.task.id,
        agent=episode.agent,
        seed=episode.seed,
        stratum=episode.task.stratum,
        style=plan.style,
        n_scene=episode.task.n_scene,
        n_act=episode.task.n_act,
    )


def write_report(run: Path) -> Path:
    """Write the report of a run, finished or not; returns its path."""
    # Importing matplotlib takes longer than most commands.
    from jarvis_cli.score_plots import draw_results

    plan, rows = run_rows(run)
    config = load_default("tables", TablesConfig)
    with tempfile.TemporaryDirectory() as scratch:
        plot = draw_results(rows, config, Path(scratch) / "results.png").read_bytes()
    return write_run_page(run, plan, rows, all_tables(rows, config), plot)


def compare_runs(first: Path, second: Path, form: str) -> str:
    """The second run against the first, on the tasks and seeds that both have, agent by agent.

    Agents of the same name are compared with each other; if no name is in both, every agent with every other.

    Raises:
        BadInputError: a folder is no run's, or the runs have no episode in common.
    """
    config = load_default("tables", TablesConfig)
    (_, a), (_, b) = run_rows(first), run_rows(second)
    names = sorted({row.agent for row in a} & {row.agent for row in b})
    pairs = [(n, n) for n in names] or [
        (m, n) for m in sorted({row.agent for row in a}) for n in sorted({row.agent for row in b})
    ]
    body: list[tuple[Cell, ...]] = []
    changes: list[tuple[float, tuple[Cell, ...]]] = []
    for one, other in pairs:
        before, after = _scores(a, one), _scores(b, other)
        found = paired((one, before), (other, after), config)
        if found is None:
            continue
        body.append((other, one, found.difference, found.better, found.equal, found.worse))
        for key in before.keys() & after.keys():
            change = after[key] - before[key]
            changes.append((change, (*key, other, before[key], after[key], change)))
    if not body:
        raise BadInputError("the runs have no task and seed in common", where=f"{first}, {second}")
    changes.sort(key=lambda item: (-abs(item[0]), str(item[1])))
    tables = [
        ResultTable(
            "compare",
            f"{second} minus {first}, on the same tasks and seeds",
            ("agent", "against", "difference", "better", "equal", "worse"),
            tuple(body),
            ("Mean [bootstrap interval] (N); incomplete and missing episodes count 0.",),
        ),
        ResultTable(
            "changes",
            "Episodes that changed most",
            ("task", "seed", "agent", "before", "after", "change"),
            tuple(row for change, row in changes[: config.most_named] if change),
        ),
    ]
    return render(tables, form)


def _scores(rows: list[ResultRow], agent: str) -> dict[tuple[str, int], float]:
    return {(row.task_id, row.seed): row.counted for row in rows if row.agent == agent}
