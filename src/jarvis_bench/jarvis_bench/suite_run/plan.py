"""What a run consists of, and the folder it lives in::

RUN/
  run.json       RunPlan; written first, never changed
  attempts.jsonl a line for every episode that was tried, appended
  tasks/ID/      task folders with manuals, as they were needed
  episodes/ID/   finished episodes; what is not here was not finished
  programs/      the agents' programs, as they were when the run began
  logs/ID.log    what an episode's process printed
  index.html     the report

A run that was killed goes on where it was: an episode is either whole in ``episodes`` or played again.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_json, write_json
from jarvis_episode.recording.folder import RECORD_FILE
from jarvis_episode.runner import episode_name

RUN_SCHEMA = 1
PLAN_FILE = "run.json"
TASKS_FOLDER = "tasks"
EPISODES_FOLDER = "episodes"
LOGS_FOLDER = "logs"
PROGRAMS_FOLDER = "programs"
REPORT_FILE = "index.html"


class PlannedTask(msgspec.Struct, frozen=True):
    """A task of the suite; ``n_scene`` bricks stand at the start, ``n_act`` are to be placed."""

    id: str
    stratum: str
    n_scene: int
    n_act: int


class PlannedEpisode(msgspec.Struct, frozen=True):
    """One episode to play."""

    task: PlannedTask
    agent: str
    seed: int

    @property
    def id(self) -> str:
        return episode_name(self.task.id, self.agent, self.seed)


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """run.json.

    Attributes:
        suite: name of a shipped suite, or its folder.
        suite_hash: of what was frozen; a run never goes on with another suite.
        style: of the manuals.
        layer: of the calls that agents are given.
        sees: where agents that are not privileged learn of bricks' places.
        agents, seeds: every task is played by every agent with every seed.
        programs: of the agents, those that are programs, with the SHA-256 of their text.
        tasks: in the order of the suite.
    """

    schema: int = RUN_SCHEMA
    suite: str
    suite_hash: str
    style: str
    layer: str = "primitives"
    sees: str = "nothing"
    agents: tuple[str, ...]
    seeds: tuple[int, ...]
    programs: dict[str, str] = {}
    tasks: tuple[PlannedTask, ...]

    def episodes(self) -> tuple[PlannedEpisode, ...]:
        """All of them; the first seed of every task before the second, so that a run cut short is still a sample."""
        return tuple(
            PlannedEpisode(task, agent, seed)
            for seed, task, agent in itertools.product(self.seeds, self.tasks, self.agents)
        )

    def episode(self, episode_id: str) -> PlannedEpisode:
        """Raises BadInputError for an episode that is not of this run."""
        for episode in self.episodes():
            if episode.id == episode_id:
                return episode
        raise BadInputError(f"no episode {episode_id} is planned", where=PLAN_FILE)


def read_plan(run: Path) -> RunPlan:
    """The plan of a run.

    Raises:
        BadInputError: the folder is no run's, or one of another version.
    """
    file = run / PLAN_FILE
    if not file.is_file():
        raise BadInputError(
            "is no run", where=str(run), fix=f"name a folder with a {PLAN_FILE}; `jarvis bench run` makes one"
        )
    plan = read_json(file, RunPlan)
    if plan.schema != RUN_SCHEMA:
        raise BadInputError(f"layout {plan.schema}, this version reads {RUN_SCHEMA}", where=str(file))
    return plan


def begin(run: Path, plan: RunPlan) -> bool:
    """Make a run's folder, or take up the one that is there; returns whether there was one.

    Raises:
        BadInputError: another run lives in the folder, or something that is no run.
    """
    if (run / PLAN_FILE).is_file():
        there = read_plan(run)
        differing = [f for f in RunPlan.__struct_fields__ if getattr(there, f) != getattr(plan, f)]
        if differing:
            raise BadInputError(
                f"another run lives here: it differs in {', '.join(differing)}",
                where=str(run),
                fix="give a new --out, or the options of the run that is to go on",
            )
        return True
    if run.is_dir() and any(run.iterdir()):
        raise BadInputError("is not empty, and no run", where=str(run), fix="give a new --out")
    run.mkdir(parents=True, exist_ok=True)
    write_json(run / PLAN_FILE, plan)
    return False


def is_done(run: Path, episode: PlannedEpisode) -> bool:
    """Whether an episode's folder is there; folders appear whole."""
    return (run / EPISODES_FOLDER / episode.id / RECORD_FILE).is_file()
