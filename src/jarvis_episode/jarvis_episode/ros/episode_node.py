"""The episode manager: owns the boundaries of an episode, records it, scores it.

/episode/load   puts a task into the simulator and resets it by seed
/episode/start  begins the record
/episode/end    ends it, writes the record, scores it
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.episode import EpisodeRecord, PolicyInfo
from jarvis_core.errors import BadInputError, JarvisError, RefusedError
from jarvis_core.files import encode
from jarvis_core.manual import Manual
from jarvis_core.objects import RigidObject, StateSource, TargetObject, WorldState
from jarvis_core.observation import CameraFrame
from jarvis_core.ros.conversions import (
    header,
    scene_from_ros,
    state_from_ros,
    targets_to_ros,
)
from jarvis_core.ros.main import run_node
from jarvis_core.ros.waiting import call, in_thread, require_server, wait_for
from jarvis_scoring.brick_score import score as score_state
from jarvis_scoring.evidence import Evidence
from jarvis_scoring.inputs import ScoreInput
from jarvis_scoring.protocol import EpisodeScore
from jarvis_skills.ros.ros_camera import RosCamera
from jarvis_tasks.manual import task_brief
from jarvis_tasks.store import load_manual, load_task
from jarvis_tasks.targets import target_objects
from jarvis_tasks.task import Task
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import LoadWorld
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from jarvis_episode.recording.bag import AGENT_CALLS, STATE_TOPICS
from jarvis_episode.recording.folder import EpisodeFolder
from jarvis_episode.recording.recorder import EpisodeRecorder
from jarvis_episode.ros.listener import DEEP, Listener, Running
from jarvis_episode.ros.score_markers import score_markers
from jarvis_episode.ros.score_message import bricks_to_ros, score_to_ros
from jarvis_episode.runner import episode_name, finish_episode, make_record
from jarvis_episode.settings import Settings
from jarvis_interfaces.msg import BrickScore, EpisodeState, Targets
from jarvis_interfaces.msg import EpisodeScore as EpisodeScoreMsg
from jarvis_interfaces.srv import EndEpisode, GetObjectStates, GetScene, LoadEpisode, StartEpisode

logger = logging.getLogger(__name__)

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SERVICE_TIMEOUT_S = 60.0
RECORDS_TIMEOUT_S = 15.0
OUTCOMES = ("finished", "stopped", "crashed", "cell_error")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
LIVE_SCORE_PERIOD_S = 0.5
CLOSE_TIMEOUT_S = 3.0


class EpisodeNode(Node):
    """The manager.

    ROS parameters:
        results: folder for the records.
        states: ``true`` (a simulator's own, from /sim) or ``perceived`` (a real cell's, from perceived_world_node):
            what the score is made of.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__("episode")
        self._executor_of_node = executor
        self._results = Path(self.declare_parameter("results", "results").value)
        self._source, self._door = self._source_of_states()
        self._settings = Settings.load()
        self._catalogue = PartCatalogue(LDrawLibrary.find(None))
        self._phase = EpisodeState.IDLE
        self._task: Task | None = None
        self._manual: Manual | None = None
        self._targets: tuple[TargetObject, ...] = ()
        self._objects: tuple[RigidObject, ...] = ()
        self._seed, self._policy = 0, PolicyInfo("", False, False)
        #: The folder of an episode that is being started.
        self._starting: EpisodeFolder | None = None
        # One service at a time; whoever closes the node waits for the one that works.
        self._idle = threading.Lock()
        self._closing = threading.Event()
        self._make_publishers()
        self._listener = Listener(self, self._source)
        self._camera = RosCamera(self, self._settings.cell.top_camera.pose())
        self._make_services()
        self._announce(EpisodeState.IDLE, "no task is loaded")

    def _source_of_states(self) -> tuple[StateSource, str]:
        """What states are made of, and the namespace of who knows them."""
        name = self.declare_parameter("states", "true").value
        for source, topic in STATE_TOPICS.items():
            if source == name:
                return source, topic.rpartition("/")[0]
        raise BadInputError(
            f"{name!r} is no source of states", where="states", fix=f"choose {' or '.join(STATE_TOPICS)}"
        )

    def _make_publishers(self) -> None:
        self._state = self.create_publisher(EpisodeState, "/episode/state", LATCHED)
        self._evidence = self.create_publisher(String, "/episode/record", LATCHED)
        self._targets_topic = self.create_publisher(Targets, "/evaluator/targets", LATCHED)
        self._score = self.create_publisher(EpisodeScoreMsg, "/score/episode", 10)
        self._brick_score = self.create_publisher(BrickScore, "/score/brick", DEEP)
        self._score_markers = self.create_publisher(MarkerArray, "/score/markers", LATCHED)
        self.create_timer(LIVE_SCORE_PERIOD_S, self._publish_live_score)

    def _make_services(self) -> None:
        group = ReentrantCallbackGroup()
        self._load_world, self._get_scene, self._get_states = (
            self.create_client(kind, f"{self._door}/{name}", callback_group=group)
            for kind, name in (
                (LoadWorld, "load_world"),
                (GetScene, "get_scene"),
                (GetObjectStates, "get_object_states"),
            )
        )
        for kind, name, work in (
            (LoadEpisode, "load", self._load),
            (StartEpisode, "start", self._start),
            (EndEpisode, "end", self._end),
        ):
            self.create_service(kind, f"/episode/{name}", self._served(name, work), callback_group=group)

    def _served(self, name: str, work: Callable[[Any, Any], str]) -> Any:
        """A service callback that works in a thread of its own and answers an error with its words."""

        async def serve(request: Any, response: Any) -> Any:
            def attempt() -> None:
                try:
                    with self._idle:
                        self._check_open()
                        response.message = work(request, response)
                    response.success = True
                except (JarvisError, TimeoutError) as error:
                    response.message = error.line() if isinstance(error, JarvisError) else str(error)
                except Exception as error:
                    # A full disk or a bug: the caller is told, the log has it all, the manager lives.
                    logger.exception("/episode/%s failed", name)
                    response.message = f"{type(error).__name__}: {error}"[:1000]

            await in_thread(self._executor_of_node, attempt, f"episode {name}")
            return response

        return serve

    # -- services, each in a thread that may block

    def _load(self, request: LoadEpisode.Request, response: LoadEpisode.Response) -> str:
        if self._listener.running is not None:
            raise RefusedError("an episode is running", where="/episode/load", fix="call /episode/end first")
        folder = Path(request.task).absolute()
        task, manual = load_task(folder), load_manual(folder)
        if not _NAME.fullmatch(request.policy):
            raise BadInputError(
                f"{request.policy!r} is no name", where="policy", fix="use letters, digits, - and _"
            )
        # Pictures of the world before would pass as those of the new one: both begin at time 0.
        self._camera.forget()
        require_server(self._load_world, self._load_world.srv_name)
        loading = self._load_world.call_async(LoadWorld.Request(uri=f"{folder}?seed={request.seed}"))
        loaded = wait_for(loading, SERVICE_TIMEOUT_S, self._load_world.srv_name).result
        if loaded.result != Result.RESULT_OK:
            raise RefusedError(loaded.error_message, where=self._load_world.srv_name)
        self._task, self._manual, self._seed = task, manual, request.seed
        sees = request.sees or "nothing"
        self._policy = PolicyInfo(request.policy, request.privileged, request.caged, sees)
        self._targets = target_objects(task, self._catalogue, self._settings.cell.plate.pose)
        self._targets_topic.publish(targets_to_ros(self._targets))
        budget_s = self._settings.episode.budget_s(task.n_required)
        response.episode_id = episode_name(task.id, request.policy, request.seed)
        response.brief = encode(task_brief(task, manual, budget_s)).decode()
        self._announce(EpisodeState.LOADED, "loaded")
        return "loaded"

    def _start(self, request: StartEpisode.Request, response: StartEpisode.Response) -> str:
        if self._task is None or self._manual is None or self._phase != EpisodeState.LOADED:
            raise RefusedError("no task is loaded", where="/episode/start", fix="call /episode/load first")
        scene = scene_from_ros(call(self._get_scene, GetScene.Request(), SERVICE_TIMEOUT_S).scene)
        self._objects = scene.objects
        folder = self._starting = EpisodeFolder.create(self._results, self._episode_id())
        recorder: EpisodeRecorder | None = None
        try:
            folder.write_task(self._task, self._manual)
            config = self._settings
            recorder = EpisodeRecorder(folder, config.cell.overview_camera, config.episode, self._source)
            recorder.before(self._fresh_picture(scene.time_s))
            running = Running(folder, recorder, self._source, *self._truth())
            opening = self._record(running, running.initial, ("", ""))
            recorder.opening(opening)
            self._publish_evidence(Evidence.of_record(opening).opening())
            self._listener.running = running
        except BaseException:
            if recorder is not None:
                recorder.close()
            folder.discard()
            raise
        finally:
            self._starting = None
        self._announce(EpisodeState.RUNNING, "running")
        return "running"

    def _end(self, request: EndEpisode.Request, response: EndEpisode.Response) -> str:
        running, task = self._listener.running, self._task
        if running is None or task is None:
            raise RefusedError("no episode is running", where="/episode/end")
        if request.outcome not in OUTCOMES:
            raise BadInputError(
                f"{request.outcome!r} is no outcome", where="outcome", fix=f"use {', '.join(OUTCOMES)}"
            )
        now, events = self._truth()
        final, sound = running.conclude(now)
        if not sound:
            events = 0
        missing = self._await_records(running, final.time_s, request, events - running.first_event)
        # Of the world as it is: after a reset its clock may never come to where the record ends.
        running.recorder.after(self._fresh_picture(now.time_s))
        running.finish()
        self._listener.running = None
        try:
            return self._write_down(running, task, final, [*running.gaps, *missing], request, response)
        except BaseException as error:
            self._announce(EpisodeState.ENDED, f"the episode could not be written: {error}")
            raise

    def _write_down(
        self,
        running: Running,
        task: Task,
        final: WorldState,
        faults: list[str],
        request: EndEpisode.Request,
        response: EndEpisode.Response,
    ) -> str:
        """Record, then score."""
        outcome, message = request.outcome, request.message
        if faults:
            # An incomplete record is a row of its own in every table, not an absence.
            outcome, message = "cell_error", "; ".join(faults)
        running.recorder.state(final)
        record = self._record(running, final, (outcome, message))
        running.recorder.truth(record)
        self._publish_evidence(Evidence.of_record(record))
        running.recorder.close()
        record = running.recorder.judged(record)
        outcome, message = record.outcome, record.outcome_message
        result = finish_episode(running.folder, record, self._settings)
        response.folder, response.score = str(result.folder.absolute()), result.score.score
        self._publish_score(result.score, final.time_s)
        self._announce(EpisodeState.ENDED, f"{outcome}: {message}", folder=response.folder)
        return f"score {result.score.score:.1f}"

    def _record(self, running: Running, final: WorldState, outcome: tuple[str, str]) -> EpisodeRecord:
        assert self._task is not None
        return make_record(
            task=self._task,
            policy=self._policy,
            seed=self._seed,
            settings=self._settings,
            transport="ros",
            outcome=outcome,
            started_at=running.started_at,
            wall_s=time.monotonic() - running.wall_start,
            time_s=final.time_s - running.initial.time_s,
            states=(running.initial, final),
            objects=self._objects,
            targets=self._targets,
            calls=running.calls,
            recorder=running.recorder,
            source=self._source,
        )

    def _publish_evidence(self, evidence: Evidence) -> None:
        """For whoever records the graph with ``ros2 bag record``: such a bag can be scored alone too."""
        self._evidence.publish(String(data=encode(evidence).decode()))

    # -- helpers of the services

    def _episode_id(self) -> str:
        assert self._task is not None
        return episode_name(self._task.id, self._policy.name, self._seed)

    def _truth(self) -> tuple[WorldState, int]:
        """The state now, and how many connection events there were since the reset."""
        answer = call(self._get_states, GetObjectStates.Request(), SERVICE_TIMEOUT_S)
        return state_from_ros(answer.states), answer.events

    def _fresh_picture(self, time_s: float) -> CameraFrame:
        """A picture of the top camera not older than ``time_s``."""
        deadline = time.monotonic() + SERVICE_TIMEOUT_S
        while (frame := self._camera.capture()).time_s < time_s - 1e-6:
            self._check_open()
            if time.monotonic() > deadline:
                raise TimeoutError(f"no picture of the top camera since {time_s:.2f} s")
            time.sleep(0.02)
        return frame

    def _await_records(
        self, running: Running, time_s: float, request: EndEpisode.Request, events: int
    ) -> list[str]:
        """Topics lag behind services: wait until everything up to ``time_s`` has arrived; says what has not."""
        deadline = time.monotonic() + RECORDS_TIMEOUT_S
        period_s = 1.0 / self._settings.episode.state_rate_hz

        def missing() -> list[str]:
            return _fewer(
                ("states up to s", running.latest.time_s, time_s - 2.0 * period_s),
                ("skill calls", len(running.calls), request.calls),
                ("connection events", len(running.recorder.events), events),
            )

        def unheard() -> list[str]:
            return _fewer(("calls of the agent", running.received[AGENT_CALLS], request.agent_calls))

        while missing() or unheard():
            self._check_open()
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        for text in unheard():
            logger.warning("the bag is not whole, which costs the score nothing: %s", text)
        return missing()

    def _check_open(self) -> None:
        """Waiting for others ends when the node is stopped."""
        if self._closing.is_set():
            raise RefusedError("the episode manager is being stopped")

    def _announce(self, phase: int, message: str, folder: str = "") -> None:
        self._phase = phase
        budget = self._settings.episode.budget_s(self._task.n_required) if self._task is not None else 0.0
        self._state.publish(
            EpisodeState(
                header=header(self._listener.running.latest.time_s if self._listener.running else 0.0),
                phase=phase,
                episode_id=self._episode_id() if self._task is not None else "",
                task_id=self._task.id if self._task is not None else "",
                seed=self._seed,
                policy=self._policy.name,
                budget_s=budget,
                limit_s=budget * self._settings.episode.hard_stop_factor,
                message=message,
                folder=folder,
            )
        )

    # -- topics

    def _publish_live_score(self) -> None:
        running, task = self._listener.running, self._task
        if running is None or task is None:
            return
        given = ScoreInput(
            objects=self._objects,
            targets=self._targets,
            initial=running.initial,
            final=running.latest,
            time_s=max(0.0, running.latest.time_s - running.initial.time_s),
            budget_s=self._settings.episode.budget_s(task.n_required),
            table=self._settings.cell.table,
            states=self._source,
        )
        score = score_state(given, self._settings.score)
        self._publish_score(score, running.latest.time_s)

    def _publish_score(self, score: EpisodeScore, time_s: float) -> None:
        self._score.publish(score_to_ros(score, time_s))
        for brick in bricks_to_ros(score):
            self._brick_score.publish(brick)
        self._score_markers.publish(score_markers(self._targets, score, time_s))

    def close(self) -> None:
        """A stop in the middle of an episode: what is half-written goes."""
        self._closing.set()
        self._idle.acquire(timeout=CLOSE_TIMEOUT_S)
        if self._listener.running is not None:
            self._listener.running.finish()
            self._listener.running.recorder.close()
            self._listener.running.folder.discard()
        elif (starting := self._starting) is not None:
            # Its thread waits for the simulator, perhaps for longer than we may.
            starting.discard()


def _fewer(*wanted: tuple[str, float, float]) -> list[str]:
    """What there is less of than there should be; each is a name, what there is, and what should be."""
    return [f"{what}: {have:g} of {want:g} arrived" for what, have, want in wanted if have < want]


def main() -> None:
    sys.exit(run_node(EpisodeNode))
