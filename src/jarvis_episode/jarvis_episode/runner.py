"""One episode in this process: no ROS, as fast as the physics allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.episode import CallRecord, Disturbance, EpisodeRecord, PolicyInfo
from jarvis_core.errors import BadInputError
from jarvis_core.manual import Manual, TaskBrief
from jarvis_core.objects import RigidObject, StateSource, TargetObject, WorldState
from jarvis_core.ports import Policy, ReportingPolicy, SceneSource
from jarvis_core.skills import SkillGoal, SkillResult
from jarvis_scoring.brick_score import score as score_record
from jarvis_scoring.protocol import EpisodeScore
from jarvis_sim.engine import WorldError
from jarvis_sim.world import OVERVIEW_CAMERA, TOP_CAMERA
from jarvis_skills.planning import SkillPlanning
from jarvis_tasks.manual import task_brief
from jarvis_tasks.store import task_hash
from jarvis_tasks.targets import target_objects
from jarvis_tasks.task import Task

from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.disturbance import Spoiler
from jarvis_episode.perceiving import open_eyes
from jarvis_episode.recording.folder import EpisodeFolder, write_score
from jarvis_episode.recording.recorder import EpisodeRecorder
from jarvis_episode.recording.skill_log import RecordedSkills
from jarvis_episode.settings import Settings
from jarvis_episode.tools import EpisodeTools, Ledger, OracleTools, run_policy
from jarvis_episode.versions import versions

#: What an agent's ``scene`` may come from.
SCENE_SOURCES = ("nothing", "perceived", "true")
#: Simulated time after the policy's end in which everything comes to rest before the last look.
SETTLE_S = 0.5


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """A finished episode's folder, record and score."""

    folder: Path
    record: EpisodeRecord
    score: EpisodeScore


def episode_name(task_id: str, policy: str, seed: int, variant: str = "") -> str:
    """The id of an episode, and the name of its folder; ``variant`` tells apart what is played on one task."""
    return f"{task_id}{f'-{variant}' if variant else ''}-{policy}-{seed}"


def run_episode(
    task: Task,
    manual: Manual,
    policy: Policy,
    seed: int,
    settings: Settings,
    catalogue: PartCatalogue,
    results: Path,
    *,
    on_progress: Callable[[str], None] = lambda text: None,
    sees: str = "nothing",
    spoiler: Spoiler | None = None,
) -> EpisodeResult:
    """Run a policy on a task and leave a whole record behind.

    Args:
        results: gets a folder for the episode; must not hold one of the same name.
        on_progress: told what happens, in a few words.
        sees: what ``Tools.scene`` shows: ``nothing``; ``perceived``, what the camera sees, and then the skills know
            no more either; or ``true``, a privileged stand-in for perception that record and page name.
        spoiler: begins the build and spoils it before the policy takes over.

    Raises:
        RefusedError: the task can't be set up in this cell, or not be begun and spoilt as asked.
        BadInputError: the episode was recorded before, or ``sees`` names no source.
    """
    who = policy_info(policy, sees)
    name = episode_name(task.id, policy.name, seed, spoiler.name if spoiler is not None else "")
    folder = EpisodeFolder.create(results, name)
    try:
        folder.write_task(task, manual)
        cell = EmbeddedCell.build(task, settings, catalogue, seed)
        try:
            if isinstance(policy, ReportingPolicy):
                policy.keep_in(folder.agent)
            episode = _Episode(task, policy, who, seed, settings, catalogue, cell, on_progress, spoiler)
            with EpisodeRecorder(folder, settings.cell.overview_camera, settings.episode) as recorder:
                record = episode.play(task_brief(task, manual, episode.budget_s), recorder)
                recorder.truth(record)
        finally:
            cell.close()
        return finish_episode(folder, recorder.judged(record), settings)
    except BaseException:
        folder.discard()
        raise


def finish_episode(folder: EpisodeFolder, record: EpisodeRecord, settings: Settings) -> EpisodeResult:
    """Give the folder its name, then score: a fault in scoring can't lose the record."""
    path = folder.finish(record)
    score = score_record(record, settings.score)
    write_score(path, score)
    return EpisodeResult(path, record, score)


class _Episode:
    """The run itself."""

    def __init__(
        self,
        task: Task,
        policy: Policy,
        who: PolicyInfo,
        seed: int,
        settings: Settings,
        catalogue: PartCatalogue,
        cell: EmbeddedCell,
        on_progress: Callable[[str], None],
        spoiler: Spoiler | None,
    ) -> None:
        self._task = task
        self._policy = policy
        self._who = who
        self._seed = seed
        self._settings = settings
        self._catalogue = catalogue
        self._cell = cell
        self._on_progress = on_progress
        self._spoiler = spoiler
        self._disturbance: Disturbance | None = None
        self._fault: Exception | None = None
        self._targets = target_objects(task, catalogue, settings.cell.plate.pose)
        self.budget_s = settings.episode.budget_s(task.n_required)

    def play(self, brief: TaskBrief, recorder: EpisodeRecorder) -> EpisodeRecord:
        """From the initial state to the record."""
        cell, world = self._cell, self._cell.world
        started_at, wall = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
        objects, initial = world.objects(), world.state()
        self._latest = initial
        self._skills = RecordedSkills(cell.skills, world, recorder)
        recorder.opening(self._record(recorder, initial, started_at, objects=objects))
        recorder.state(initial)
        handles = self._observe(recorder)
        try:
            if self._spoiler is not None:
                self._disturbance = self._spoiler.spoil(cell, self._targets, self._seed, self._run_skill)
            recorder.before(cell.camera.capture())
            ledger = self._ledger(recorder)
            outcome, message, time_s = self._act(ledger, brief)
        finally:
            for handle in handles:
                world.remove_observer(handle)
        self._record_events(recorder)
        # A world that broke can't be looked at any more: what counts is the last sound state.
        final = self._latest
        if outcome != "cell_error":
            final = world.state()
            recorder.state(final)
            recorder.after(cell.camera.capture())
        return self._record(
            recorder,
            initial,
            started_at,
            final=final,
            outcome=(outcome, message),
            wall_s=time.monotonic() - wall,
            time_s=time_s,
            objects=objects,
            calls=ledger.calls,
        )

    def _act(self, ledger: Ledger, brief: TaskBrief) -> tuple[str, str, float]:
        """Let the policy run and everything come to rest; outcome, a sentence, and simulated seconds used."""
        outcome, message = run_policy(self._policy, self._tools(ledger, brief))
        time_s = ledger.time_s
        if outcome != "cell_error":
            try:
                self._cell.world.advance(SETTLE_S)
            except WorldError as error:
                outcome, message = "cell_error", error.line()
        return outcome, message, time_s

    def _record(
        self,
        recorder: EpisodeRecorder,
        initial: WorldState,
        started_at: str,
        *,
        final: WorldState | None = None,
        **happened: Any,
    ) -> EpisodeRecord:
        """The record, by default that of an episode in which nothing has happened yet."""
        nothing: dict[str, Any] = {"outcome": ("", ""), "wall_s": 0.0, "time_s": 0.0, "calls": ()}
        return make_record(
            task=self._task,
            policy=self._who,
            seed=self._seed,
            settings=self._settings,
            transport="in-process",
            started_at=started_at,
            states=(initial, final or initial),
            targets=self._targets,
            recorder=recorder,
            variant=self._spoiler.name if self._spoiler is not None else "",
            disturbance=self._disturbance,
            **(nothing | happened),
        )

    def _ledger(self, recorder: EpisodeRecorder) -> Ledger:
        limits = self._settings.episode
        return Ledger(
            self._run_skill,
            lambda: self._cell.world.time_s,
            limit_s=limits.hard_stop_factor * self.budget_s,
            max_calls=limits.max_calls,
            max_wall_s=limits.max_wall_s,
            on_tool=recorder.agent_call,
        )

    def _run_skill(self, goal: SkillGoal) -> SkillResult:
        """Raises what broke the world or the record meanwhile: for the executor that is only a skill's bug."""
        result = self._skills.run(goal, self._on_progress)
        bug = self._cell.skills.last_bug
        if self._fault is not None:
            raise self._fault
        if isinstance(bug, WorldError):
            raise bug
        return result

    def _tools(self, ledger: Ledger, brief: TaskBrief) -> EpisodeTools:
        cell = self._cell
        planning = SkillPlanning(cell.skills.context)
        if not self._policy.privileged:
            return EpisodeTools(ledger, brief, cell.observe, self._eyes(brief), planning)
        return OracleTools(ledger, brief, cell.observe, cell.scenes.scene, self._targets, planning)

    def _eyes(self, brief: TaskBrief) -> SceneSource | None:
        """What the policy may ask for of what lies where."""
        if self._who.sees == "perceived":
            return open_eyes(self._cell, self._settings, self._catalogue, brief.manual.parts)
        return self._cell.scenes if self._who.sees == "true" else None

    def _observe(self, recorder: EpisodeRecorder) -> list[int]:
        """Record while simulated time passes."""
        cell, world, config = self._cell, self._cell.world, self._settings.episode
        names = (*self._settings.robot.arm_joints, *self._settings.robot.finger_joints)

        def state() -> None:
            self._latest = world.state()
            recorder.state(self._latest)
            robot = cell.robot.state()
            half = robot.gripper_width_m / 2.0
            recorder.joints(world.time_s, names, (*robot.joints_rad, half, half))
            self._record_events(recorder)

        def picture() -> None:
            recorder.camera(world.time_s, world.cameras.picture(TOP_CAMERA))

        def video() -> None:
            recorder.video_frame(world.cameras.picture(OVERVIEW_CAMERA))

        return [
            world.add_observer(period_s, self._noting_faults(observer))
            for period_s, observer in (
                (1.0 / config.state_rate_hz, state),
                (1.0 / config.camera_rate_hz, picture),
                (config.video_speed / config.video_fps, video),
            )
        ]

    def _noting_faults(self, observer: Callable[[], None]) -> Callable[[], None]:
        """Observers are called from inside skills, which would take their failure for a bug of their own."""

        def observe() -> None:
            try:
                observer()
            except Exception as error:
                self._fault = error
                raise

        return observe

    def _record_events(self, recorder: EpisodeRecorder) -> None:
        for event in self._cell.world.events()[len(recorder.events) :]:
            recorder.event(event)


def policy_info(policy: Policy, sees: str = "nothing") -> PolicyInfo:
    """What a record says of who ran; raises BadInputError for an unknown source of the scene."""
    if sees not in SCENE_SOURCES:
        raise BadInputError(f"{sees!r} is no source of a scene", fix=f"choose {' or '.join(SCENE_SOURCES)}")
    caged = isinstance(policy, ReportingPolicy) and policy.caged
    return PolicyInfo(policy.name, policy.privileged, caged, "true" if policy.privileged else sees)


def make_record(
    *,
    task: Task,
    policy: PolicyInfo,
    seed: int,
    settings: Settings,
    transport: str,
    outcome: tuple[str, str],
    started_at: str,
    wall_s: float,
    time_s: float,
    states: tuple[WorldState, WorldState],
    objects: tuple[RigidObject, ...],
    targets: tuple[TargetObject, ...],
    calls: Sequence[CallRecord],
    recorder: EpisodeRecorder,
    variant: str = "",
    source: StateSource = "true",
    disturbance: Disturbance | None = None,
) -> EpisodeRecord:
    """Put the record together.

    Args:
        policy: who ran.
        outcome: the word and the sentence.
        states: the first and the last.
        variant: as in ``episode_name``.
        source: what the states are made of; where no simulator is, nobody is told true poses.
    """
    sees = "perceived" if "perceived" in (policy.sees, source) else "true"
    return EpisodeRecord(
        episode_id=episode_name(task.id, policy.name, seed, variant),
        task_id=task.id,
        task_hash=task_hash(task),
        seed=seed,
        policy=policy,
        transport=transport,
        scene_source=sees,
        outcome=outcome[0],
        outcome_message=outcome[1],
        started_at=started_at,
        wall_s=wall_s,
        time_s=time_s,
        budget_s=settings.episode.budget_s(task.n_required),
        initial=states[0],
        final=states[1],
        objects=objects,
        targets=targets,
        calls=tuple(calls),
        events=recorder.events,
        config=settings.as_dict(),
        versions=versions(),
        states=source,
        disturbance=disturbance,
    )
