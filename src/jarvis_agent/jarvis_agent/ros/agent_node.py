"""The harness of one agent: loads an episode, runs the policy against the skill actions, ends the episode."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode
from jarvis_core.manual import TaskBrief
from jarvis_core.objects import TargetObject
from jarvis_core.observation import Observation
from jarvis_core.ports import Policy, ReportingPolicy
from jarvis_core.ros.conversions import targets_from_ros, tool_call_to_ros
from jarvis_core.ros.main import Stop, run_node
from jarvis_core.ros.waiting import call
from jarvis_episode.config import EpisodeConfig
from jarvis_episode.recording.bag import AGENT_CALLS
from jarvis_episode.recording.folder import AGENT_FOLDER
from jarvis_episode.tools import EpisodeTools, Ledger, OracleTools, run_policy
from jarvis_robot.config import load_robot_config
from jarvis_robot.model import RobotModel
from jarvis_skills.ros.ros_camera import RosCamera
from jarvis_skills.ros.ros_planning import RosPlanning
from jarvis_skills.ros.ros_robot import RosRobot
from jarvis_skills.ros.ros_scene import RosSceneSource
from jarvis_skills.ros.skill_client import SkillClient
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from jarvis_agent.cage.isolation import Isolation, find_isolation
from jarvis_agent.program import Program, ProgramPolicy, read_programs
from jarvis_agent.registry import make_policy
from jarvis_agent.toolbox import Layer
from jarvis_interfaces.msg import AgentCall, Targets
from jarvis_interfaces.srv import EndEpisode, LoadEpisode, StartEpisode

LOAD_TIMEOUT_S = 120.0
END_TIMEOUT_S = 300.0
TARGETS_TIMEOUT_S = 10.0
RECORDER_TIMEOUT_S = 10.0
#: Calls kept for a recorder that lags.
CALLS_DEPTH = 1000
#: Exit status after a stop in the middle of an episode.
INTERRUPTED = 130


class AgentNode(Node):
    """Runs one policy on one task.

    ROS parameters:
        task: task folder.
        agent: name of the policy (with ``program``: in records).
        seed: decides the initial state.
        program: file of an agent's program, which runs in the cage.
        layer: of the program's calls.
        uncaged: the program runs without isolation; the record says so.
        true_scene: the agent is shown the true bricks in place of perception; privileged, the record says so.
        perception: the agent is shown what perception sees; the skills must see the same way.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__("agent")
        self.task = self.declare_parameter("task", "").value
        self.seed = self.declare_parameter("seed", 0).value
        self.policy = self._make_policy()
        self._sees = self._source_of_scenes()
        cell = load_default("cell", CellConfig)
        robot_config = load_robot_config(cell.robot)
        self._limits = load_default("episode", EpisodeConfig)
        self._robot = RosRobot(self, robot_config, RobotModel.load(robot_config).tool)
        self._camera = RosCamera(self, cell.top_camera.pose())
        self._skills = SkillClient(self)
        self._planning = RosPlanning(self)
        self._calls = self.create_publisher(AgentCall, AGENT_CALLS, CALLS_DEPTH)
        self._load = self.create_client(LoadEpisode, "/episode/load")
        self._start = self.create_client(StartEpisode, "/episode/start")
        self._end = self.create_client(EndEpisode, "/episode/end")
        # Only a declared oracle is given these; an agent's program never joins this ROS domain at all.
        if self._sees != "nothing":
            service = "/perception/get_scene" if self._sees == "perceived" else "/sim/get_scene"
            self._scenes = RosSceneSource(self, service)
        if self.policy.privileged:
            self._targets: tuple[TargetObject, ...] | None = None
            self._targets_there = threading.Event()
            latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
            self.create_subscription(Targets, "/evaluator/targets", self._on_targets, latched)

    def _make_policy(self) -> Policy:
        agent, program = (self.declare_parameter(n, "").value for n in ("agent", "program"))
        layer = Layer(self.declare_parameter("layer", "primitives").value)
        uncaged = self.declare_parameter("uncaged", False).value
        if not program:
            return make_policy(agent or "oracle")
        isolation = Isolation.NONE if uncaged else find_isolation()
        read = read_programs(program)[0]
        return ProgramPolicy(Program(agent or read.name, read.source), layer, isolation)

    def _source_of_scenes(self) -> str:
        """``nothing``, ``perceived`` or ``true``, as records say it."""
        true, perceived = (self.declare_parameter(n, False).value for n in ("true_scene", "perception"))
        if perceived and (true or self.policy.privileged):
            raise BadInputError(
                "who is shown the truth calls bricks by names that skills which see don't know",
                where="agent_node",
                fix="leave out perception:=true, or take an agent that is told nothing",
            )
        if self.policy.privileged:
            return "true"
        return "perceived" if perceived else "true" if true else "nothing"

    def _on_targets(self, message: Targets) -> None:
        self._targets = targets_from_ros(message)
        self._targets_there.set()

    def load(self) -> TaskBrief:
        """Load and start the episode; returns what the agent is told."""
        request = LoadEpisode.Request(
            task=self.task,
            seed=self.seed,
            policy=self.policy.name,
            privileged=self.policy.privileged,
            caged=isinstance(self.policy, ReportingPolicy) and self.policy.caged,
            sees=self._sees,
        )
        answer = call(self._load, request, LOAD_TIMEOUT_S)
        self._skills.connect()
        self._planning.connect()
        self._robot.connect()
        self._await_recorder()
        call(self._start, StartEpisode.Request(), LOAD_TIMEOUT_S)
        return decode(answer.brief.encode(), TaskBrief, where="/episode/load")

    def _await_recorder(self) -> None:
        """What is published before anybody subscribed is lost; an episode without a recorder ends saying so."""
        deadline = time.monotonic() + RECORDER_TIMEOUT_S
        while not self._calls.get_subscription_count() and time.monotonic() < deadline:
            time.sleep(0.02)

    def ledger(self, brief: TaskBrief) -> Ledger:
        """Counts the calls and keeps the limits, from now on."""
        return Ledger(
            self._skills.run,
            lambda: self._robot.time_s,
            limit_s=self._limits.hard_stop_factor * brief.budget_s,
            max_calls=self._limits.max_calls,
            max_wall_s=self._limits.max_wall_s,
            on_tool=lambda call: self._calls.publish(tool_call_to_ros(call)),
        )

    def tools(self, brief: TaskBrief, ledger: Ledger) -> EpisodeTools:
        """The policy's tools: with ground truth for a declared oracle only."""
        if not self.policy.privileged:
            eyes = self._scenes if self._sees != "nothing" else None
            return EpisodeTools(ledger, brief, self.observe, eyes, self._planning)
        if not self._targets_there.wait(TARGETS_TIMEOUT_S) or self._targets is None:
            raise TimeoutError("nothing on /evaluator/targets")
        return OracleTools(ledger, brief, self.observe, self._scenes.scene, self._targets, self._planning)

    def observe(self) -> Observation:
        robot = self._robot.state()
        return Observation(self._camera.capture(not_before_s=robot.time_s), robot)

    def end(self, outcome: str, message: str, calls: int, agent_calls: int) -> EndEpisode.Response:
        """End the episode: the record, which has to hold so many calls of skills and tools, is written and scored."""
        request = EndEpisode.Request(outcome=outcome, message=message, calls=calls, agent_calls=agent_calls)
        return call(self._end, request, END_TIMEOUT_S)


def play(node: AgentNode) -> None:
    """One episode, in a thread that may block."""
    brief = node.load()
    node.get_logger().info(f"task {brief.task_id}: {brief.n_required} bricks, agent {node.policy.name}")
    ledger = node.ledger(brief)
    with tempfile.TemporaryDirectory() as own:
        files = Path(own) / AGENT_FOLDER
        if isinstance(node.policy, ReportingPolicy):
            node.policy.keep_in(files)
        outcome, message = run_policy(node.policy, node.tools(brief, ledger))
        # A call that the skill server never answered is in no record of its own.
        answered = sum("duration_s" in made.result.facts for made in ledger.calls)
        answer = node.end(outcome, message, answered, ledger.tool_calls)
        if files.is_dir():
            shutil.copytree(files, Path(answer.folder) / AGENT_FOLDER)
    node.get_logger().info(f"{outcome} ({message}); score {answer.score:.1f}; record: {answer.folder}")


def play_until_stopped(node: AgentNode, stop: Stop) -> int:
    """Watch for a stop while the episode is played: a policy that blocks can't keep the node alive."""
    ended: list[BaseException | None] = []

    def attempt() -> None:
        try:
            play(node)
            ended.append(None)
        except BaseException as error:  # noqa: BLE001 - raised again in the main thread
            ended.append(error)
        stop.set()

    threading.Thread(target=attempt, name="policy", daemon=True).start()
    stop.wait()
    if not ended:
        return INTERRUPTED
    if ended[0] is not None:
        raise ended[0]
    return 0


def main() -> None:
    sys.exit(run_node(AgentNode, play_until_stopped))
