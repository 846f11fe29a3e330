"""``jarvis bench``: a whole suite played by agents, the report of it, and two runs compared."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from jarvis_agent.program import Program
from jarvis_agent.toolbox import Layer
from jarvis_bench.page import write_episode_page
from jarvis_bench.suite_run.attempts import Attempt, append
from jarvis_bench.suite_run.plan import (
    EPISODES_FOLDER,
    TASKS_FOLDER,
    PlannedEpisode,
    PlannedTask,
    RunPlan,
    begin,
    is_done,
    read_plan,
)
from jarvis_bench.suite_run.workers import Workers, end_with_parent
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_json
from jarvis_episode.recording.labels import LABELS_FILE, Labels, write_auto_labels
from jarvis_episode.recording.scored import score_source
from jarvis_episode.runner import SCENE_SOURCES, run_episode
from jarvis_episode.settings import Settings
from jarvis_render.config import ManualConfig
from jarvis_tasks.store import TASK_FILE
from jarvis_tasks.suite import Suite, load_suite
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from jarvis_cli.bench_agents import agent_of, hashes, keep_programs, parse_agents
from jarvis_cli.bench_report import compare_runs, write_report
from jarvis_cli.parser import Commands, add_command, positive
from jarvis_cli.progress import console
from jarvis_cli.sources import add_library_option, parse_seeds, read_task
from jarvis_cli.tasks_select import export

RUN_EXAMPLES = """
jarvis bench run --suite open-50 --agent oracle --out runs/oracle
jarvis bench run --suite open-50 --agent noop,nudge --seeds 0-2 --jobs 2 --out runs/baselines
jarvis bench run --suite open-50 --agent oracle --task house-s02-s04 --out runs/one
jarvis bench run --suite open-50 --agent manual_reader --style photo --sees perceived --out runs/reader
jarvis bench run --suite open-50 --agent program.py --layer generic --out runs/generic

The same command again takes a run up where it was stopped."""
REPORT_EXAMPLES = """
jarvis bench report runs/oracle                 write runs/oracle/index.html anew"""
COMPARE_EXAMPLES = """
jarvis bench compare runs/before runs/after
jarvis bench compare runs/before runs/after --format json"""
EPISODE_EXAMPLES = """
jarvis bench episode runs/oracle house-s02-s04-oracle-0"""


def add_parser(commands: Commands) -> None:
    bench = add_command(
        commands,
        "bench",
        "play a whole suite, report it, compare two runs",
        REPORT_EXAMPLES + COMPARE_EXAMPLES,
    )
    actions = bench.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_run(actions)
    report = add_command(actions, "report", "write the report of a run", REPORT_EXAMPLES)
    report.add_argument("run", type=Path, help="folder of a run")
    report.set_defaults(run=run_report)
    compare = add_command(actions, "compare", "compare two runs, episode by episode", COMPARE_EXAMPLES)
    compare.add_argument("first", type=Path, help="folder of a run")
    compare.add_argument("second", type=Path, help="folder of another")
    compare.add_argument("--format", choices=("text", "csv", "json", "latex"), default="text")
    compare.set_defaults(run=run_compare)
    episode = add_command(actions, "episode", "play one episode of a run, in this process", EPISODE_EXAMPLES)
    episode.add_argument("run_folder", type=Path, metavar="RUN", help="folder of a run")
    episode.add_argument("episode", help="TASK-AGENT-SEED")
    add_library_option(episode)
    episode.set_defaults(run=run_one)


def _add_run(actions: Commands) -> None:
    play = add_command(actions, "run", "play every task of a suite", RUN_EXAMPLES)
    play.add_argument("--suite", required=True, help="a shipped suite, or a suite's folder")
    play.add_argument(
        "--agent", required=True, help="one or more, with commas between; FILE.py: a program, in the cage"
    )
    play.add_argument("--seeds", default="0", help="like 0-4 (default 0)")
    play.add_argument("--style", default="classic", help="of the manuals (default classic)")
    play.add_argument(
        "--layer", choices=[str(x) for x in Layer], default="primitives", help="which calls agents are given"
    )
    play.add_argument(
        "--sees",
        choices=SCENE_SOURCES,
        default="perceived",
        help="where agents that are not privileged learn of bricks' places (default: perceived)",
    )
    play.add_argument("--task", nargs="+", metavar="ID", help="only these tasks of the suite")
    play.add_argument("--out", type=Path, required=True, metavar="RUN", help="folder of the run")
    play.add_argument(
        "--jobs", type=positive, default=os.cpu_count() or 1, help="episodes at a time (default: one a core)"
    )
    play.add_argument(
        "--limit", type=positive, default=60, metavar="MIN", help="wall-clock minutes an episode may take"
    )
    add_library_option(play)
    play.set_defaults(run=run_suite)


def run_suite(options: argparse.Namespace) -> int:
    """Play what is not played yet; status 1 if episodes stayed without a record."""
    # A batch system's way of saying Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    library = LDrawLibrary.find(options.ldraw_library)
    agents, programs = parse_agents(options.agent, options.layer)
    plan = make_plan(options, load_suite(options.suite, library, only=options.task), agents, programs)
    resumed = begin(options.out, plan)
    keep_programs(options.out, programs)
    todo = [episode for episode in plan.episodes() if not is_done(options.out, episode)]
    planned = len(plan.episodes())
    print(f"{'goes on' if resumed else 'begins'}: {planned - len(todo)} of {planned} episodes are there")
    began = time.monotonic()
    workers = Workers(options.out, lambda e: _command(options, e), options.jobs, 60.0 * options.limit)
    failed = _play(options.out, workers, todo) if todo else []
    for attempt in failed:
        print(f"error: {attempt.episode_id}: {attempt.reason}", file=sys.stderr)
    print(write_report(options.out))
    print(f"{planned - len(failed)} of {planned} episodes, {(time.monotonic() - began) / 60:.1f} min")
    return 1 if failed else 0


def make_plan(
    options: argparse.Namespace, suite: Suite, agents: tuple[str, ...], programs: Sequence[Program]
) -> RunPlan:
    """What the command line asks for; every name in it is known."""
    load_default("manual", ManualConfig).styled(options.style)
    wanted = [task for task in suite.index.tasks if task.id in suite.tasks]
    return RunPlan(
        suite=suite.index.name if options.suite == suite.index.name else str(suite.folder.absolute()),
        suite_hash=suite.index.hash,
        style=options.style,
        layer=options.layer,
        sees=options.sees,
        agents=agents,
        seeds=parse_seeds(options.seeds, "--seeds"),
        programs=hashes(programs),
        tasks=tuple(PlannedTask(t.id, t.stratum, t.n_scene, t.n_act) for t in wanted),
    )


def _command(options: argparse.Namespace, episode: PlannedEpisode) -> list[str]:
    """Another process of this program that plays one episode."""
    command = [sys.executable, "-m", "jarvis_cli", "bench", "episode", str(options.out), episode.id]
    if options.ldraw_library is not None:
        command += ["--ldraw-library", str(options.ldraw_library)]
    return command


def _play(run: Path, workers: Workers, todo: list[PlannedEpisode]) -> list[Attempt]:
    """Play with a bar that shows the running score; returns the attempts that left no record."""
    failed: list[Attempt] = []
    scores: list[float] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        line = bar.add_task("playing", total=len(todo))
        for attempt in workers.play(todo):
            append(run, attempt)
            scores.append(attempt.score if attempt.score is not None else 0.0)
            if not attempt.done:
                failed.append(attempt)
            bar.update(line, advance=1, description=f"score {sum(scores) / len(scores):.1f}")
            if not console.is_terminal:
                what = f"{attempt.score:.1f}" if attempt.score is not None else attempt.reason
                print(f"{len(scores)}/{len(todo)} {attempt.episode_id} {what}", file=sys.stderr, flush=True)
    return failed


def run_one(options: argparse.Namespace) -> int:
    """One episode of a run; what ``run`` starts for each."""
    end_with_parent()
    run, plan = options.run_folder, read_plan(options.run_folder)
    episode = plan.episode(options.episode)
    library = LDrawLibrary.find(options.ldraw_library)
    suite = load_suite(plan.suite, library, only=[episode.task.id])
    if suite.index.hash != plan.suite_hash:
        raise BadInputError("is not the suite that this run began with", where=plan.suite)
    folder = run / TASKS_FOLDER / episode.task.id
    if not (folder / TASK_FILE).is_file():
        export(suite, run / TASKS_FOLDER, plan.style, [episode.task.id], library)
    task, manual = read_task(folder)
    result = run_episode(
        task,
        manual,
        agent_of(run, plan, episode.agent),
        episode.seed,
        Settings.load(),
        suite.catalogue(task.id, library),
        run / EPISODES_FOLDER,
        sees=plan.sees,
    )
    write_json(result.folder / LABELS_FILE, Labels(stratum=episode.task.stratum, style=plan.style))
    (scored,) = score_source(result.folder, with_bags=False)
    write_auto_labels(scored)
    write_episode_page(result.folder)
    print(f"{episode.id}: score {result.score.score:.1f}, exact {result.score.s_exact:.0%}")
    return 0


def run_report(options: argparse.Namespace) -> int:
    print(write_report(options.run))
    return 0


def run_compare(options: argparse.Namespace) -> int:
    print(compare_runs(options.first, options.second, options.format), end="")
    return 0
