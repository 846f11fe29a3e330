"""``jarvis plan``: what a program read from a manual, compared with the task's target; no robot, no simulator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import PLATE_HEIGHT_M, STUD_PITCH_M
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, JarvisError
from jarvis_core.files import encode
from jarvis_core.objects import TargetObject
from jarvis_core.pose import Pose
from jarvis_episode.runner import episode_name
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.estimates import TablesConfig
from jarvis_scoring.plans import Grid, Plan, PlanScore, plan_of, read_plan_file, score_plan
from jarvis_scoring.result_tables import grounding
from jarvis_scoring.rows import ResultRow, write_rows
from jarvis_scoring.tables import render
from jarvis_tasks.store import TASK_FILE, load_task
from jarvis_tasks.targets import target_objects
from jarvis_tasks.task import Task
from rich.console import Console
from rich.table import Table

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.sources import add_library_option

SCORE_EXAMPLES = """
jarvis plan score plan.json --tasks tasks/house-s02-s04
jarvis plan score plans/*.json --tasks tasks/ --expect --rows rows.jsonl   for `jarvis tables`"""
TRUTH_EXAMPLES = """
jarvis plan truth tasks/house-s02-s04           the plan that a perfect reader would write"""
SCHEMA_EXAMPLES = """
jarvis plan schema                              on the terminal, or piped into a file"""
_GRID = Grid(stud_m=STUD_PITCH_M, plate_m=PLATE_HEIGHT_M)
#: Of what is piped into a file.
_WIDTH = 160


def add_parser(commands: Commands) -> None:
    plan = add_command(
        commands,
        "plan",
        "score plans read from a manual, without a robot",
        SCORE_EXAMPLES + TRUTH_EXAMPLES + SCHEMA_EXAMPLES,
    )
    actions = plan.add_subparsers(dest="action", metavar="ACTION", required=True)
    score = add_command(
        actions,
        "score",
        "compare plans with what their tasks ask for (exit status 2: one can't be used)",
        SCORE_EXAMPLES,
    )
    score.add_argument(
        "plans", type=Path, nargs="+", metavar="PLAN", help="JSON files; see `jarvis plan schema`"
    )
    score.add_argument(
        "--tasks", type=Path, required=True, metavar="FOLDER", help="a task folder, or a folder of them"
    )
    score.add_argument(
        "--expect", action="store_true", help="tasks that an agent left without a plan count as not covered"
    )
    score.add_argument("--format", choices=("text", "json"), default="text")
    score.add_argument("--rows", type=Path, metavar="FILE", help="write rows for `jarvis tables` (.jsonl)")
    add_library_option(score)
    score.set_defaults(run=run_score)
    truth = add_command(actions, "truth", "print the plan that builds a task's target", TRUTH_EXAMPLES)
    truth.add_argument("task", type=Path, help="task folder")
    add_library_option(truth)
    truth.set_defaults(run=run_truth)
    schema = add_command(actions, "schema", "print the JSON schema of a plan", SCHEMA_EXAMPLES)
    schema.set_defaults(run=run_schema)


def run_score(options: argparse.Namespace) -> int:
    tasks, catalogue = _tasks(options.tasks), PartCatalogue(LDrawLibrary.find(options.ldraw_library))
    limits = load_default("score", ScoreConfig)
    found: list[tuple[Plan, PlanScore]] = []
    bad = 0
    for path in options.plans:
        try:
            plan = read_plan_file(path)
            if plan.task not in tasks:
                raise BadInputError(
                    f"is a plan of {plan.task!r}, which is not there",
                    where=str(path),
                    fix="give its task by --tasks",
                )
            targets = _targets(tasks[plan.task], catalogue)
            score = score_plan(plan, targets, _GRID, exact_m=limits.exact_m, exact_deg=limits.exact_deg)
        except JarvisError as error:
            print(f"error: {error.line()}", file=sys.stderr)
            bad += 1
        else:
            found.append((plan, score))
    rows = [_row(plan, score, tasks[plan.task]) for plan, score in found]
    missing = _missing(rows, tasks.values()) if options.expect else []
    if missing:
        print(f"{len(missing)} plans are missing: they count as not covered", file=sys.stderr)
    if options.rows is not None:
        write_rows(options.rows, [*rows, *missing])
    if options.format == "json":
        print(encode([score for _, score in found]).decode(), end="")
    elif found:
        _print(found, [*rows, *missing])
    return 2 if bad else 0


def run_truth(options: argparse.Namespace) -> int:
    task = load_task(options.task)
    catalogue = PartCatalogue(LDrawLibrary.find(options.ldraw_library))
    print(encode(plan_of(_targets(task, catalogue), _GRID, task=task.id, agent="truth")).decode(), end="")
    return 0


def run_schema(options: argparse.Namespace) -> int:
    print(encode(msgspec.json.schema(Plan)).decode(), end="")
    return 0


def _tasks(folder: Path) -> dict[str, Task]:
    """By id; raises BadInputError for a folder without any."""
    folders = (
        [folder]
        if (folder / TASK_FILE).is_file()
        else sorted(p.parent for p in folder.glob(f"*/{TASK_FILE}"))
    )
    if not folders:
        raise BadInputError("holds no task", where=str(folder), fix="make some with `jarvis tasks cut`")
    return {task.id: task for task in map(load_task, folders)}


def _targets(task: Task, catalogue: PartCatalogue) -> tuple[TargetObject, ...]:
    """In frame ``plate``."""
    return target_objects(task, catalogue, Pose())


def _row(plan: Plan, score: PlanScore, task: Task) -> ResultRow:
    variant = "plan3d" if plan.descriptors else "plan"
    return ResultRow(
        episode_id=episode_name(task.id, plan.agent, plan.seed, variant),
        task_id=task.id,
        agent=plan.agent,
        seed=plan.seed,
        style=plan.style,
        n_scene=len(task.scene),
        n_act=task.n_required,
        grounding=(score.coverage, score.position_mm, plan.descriptors),
    )


def _missing(rows: Sequence[ResultRow], tasks: Collection[Task]) -> list[ResultRow]:
    """What each agent (with its seed, with or without descriptors) should have planned and did not."""
    there = {row.episode_id for row in rows}
    found: dict[str, ResultRow] = {}
    for row in rows:
        assert row.grounding is not None
        for task in tasks:
            variant = "plan3d" if row.grounding[2] else "plan"
            name = episode_name(task.id, row.agent, row.seed, variant)
            if name not in there:
                found[name] = msgspec.structs.replace(
                    row,
                    episode_id=name,
                    task_id=task.id,
                    n_scene=len(task.scene),
                    n_act=task.n_required,
                    grounding=(0.0, None, row.grounding[2]),
                    complete=False,
                    reason="missing: no plan",
                )
    return list(found.values())


def _print(found: Sequence[tuple[Plan, PlanScore]], rows: Sequence[ResultRow]) -> None:
    table = Table(box=None, pad_edge=False)
    heads = (
        "task",
        "agent",
        "3D",
        "bricks",
        "covered",
        "any step",
        "part",
        "colour",
        "exact",
        "extra",
        "mm",
        "deg",
    )
    for name in heads:
        table.add_column(
            name, justify="left" if name in ("task", "agent", "3D") else "right", overflow="fold"
        )
    for plan, score in found:
        shares = (
            score.coverage,
            score.coverage_any_step,
            score.part_share,
            score.colour_share,
            score.exact_share,
        )
        errors = ("–" if e is None else f"{e:.2f}" for e in (score.position_mm, score.angle_deg))
        table.add_row(
            plan.task,
            plan.agent,
            "with" if plan.descriptors else "without",
            str(score.n_required),
            *(f"{share:.1%}" for share in shares),
            str(score.extra),
            *errors,
        )
    Console(width=None if sys.stdout.isatty() else _WIDTH).print(table)
    print()
    print(render([grounding(rows, load_default("tables", TablesConfig))], "text"), end="")
