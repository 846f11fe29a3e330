# ruff: noqa: E402 - nothing below can be imported where there is no ROS
"""The cell as separate processes over real DDS: contract, skills by hand, simulator control, an episode by hand."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import numpy as np
from action_msgs.msg import GoalStatus
from cell_contract import problems_of
from control_msgs.action import FollowJointTrajectory, GripperCommand
from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task, write_task
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_core.files import read_json
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import pose_to_ros, result_from_ros, scene_from_ros, state_from_ros
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_core.ros.waiting import call, wait_for
from jarvis_core.skills import (
    FlipGoal,
    HomeGoal,
    MoveToGoal,
    PickAndPlaceGoal,
    PickGoal,
    PlaceGoal,
    RegraspGoal,
    SkillResult,
)
from jarvis_core.status import Status
from jarvis_episode.recording.bag import SKILL_CALLS, SKILL_FEEDBACK, SKILL_GOALS, read_world_states
from jarvis_episode.recording.storage import Storage
from jarvis_robot.config import load_robot_config
from jarvis_robot.model import RobotModel
from jarvis_scoring.inputs import read_record
from jarvis_scoring.protocol import EpisodeScore
from jarvis_skills.moves import top_down
from jarvis_skills.ros.goals import door_of
from jarvis_skills.ros.ros_planning import RosPlanning
from jarvis_skills.ros.ros_robot import ARM_ACTION, GRIPPER_ACTION, RosRobot
from jarvis_skills.ros.skill_client import SkillClient
from jarvis_tasks.store import load_task
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rclpy.action import ActionClient
from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntityState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    SpawnEntity,
    StepSimulation,
)
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from jarvis_interfaces.action import MoveTo
from jarvis_interfaces.msg import SkillCall
from jarvis_interfaces.srv import EndEpisode, GetObjectStates, GetScene, LoadEpisode, StartEpisode

LAUNCH = Path(__file__).resolve().parents[3] / "launch"
WORK = Path(tempfile.mkdtemp(prefix="jarvis-graph-"))
TIMEOUT_S = 60.0


def make_task() -> Path:
    model = read_model("house", None)
    return write_task(one_task(model, 1, 1), model, WORK / "tasks")


TASK = make_task()


@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    source = PythonLaunchDescriptionSource(str(LAUNCH / "episode.launch.py"))
    arguments = {
        "task": str(TASK),
        "agent": "none",
        "seed": "3",
        "results": str(WORK / "results"),
        "overview_rate_hz": "0.5",
    }
    cell = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return LaunchDescription([cell, launch_testing.actions.ReadyToTest()])


class Client:
    """A node of this test's own, spun in the background."""

    def __init__(self) -> None:
        rclpy.init()
        self.node = rclpy.create_node("test_client")
        self.executor = BackgroundExecutor(self.node)
        robot = load_robot_config("panda")
        self.names = robot.arm_joints
        self.robot = RosRobot(self.node, robot, RobotModel.load(robot).tool)
        self.skills = SkillClient(self.node)
        self.skills.connect()
        self.robot.connect()

    def ask(self, kind: type, name: str, request: object | None = None) -> object:
        client = self.node.create_client(kind, name)
        assert client.wait_for_service(timeout_sec=TIMEOUT_S), name
        return wait_for(client.call_async(request or kind.Request()), TIMEOUT_S, name)

    def demand(self, kind: type, name: str, request: object | None = None) -> object:
        """A service with ``success``; raises RefusedError with its words."""
        return call(self.node.create_client(kind, name), request or kind.Request(), TIMEOUT_S)

    def scene(self):
        return scene_from_ros(self.demand(GetScene, "/sim/get_scene").scene)

    def states(self):
        return state_from_ros(self.ask(GetObjectStates, "/sim/get_object_states").states)

    def goal(self, goal, on_phase=lambda phase: None):
        """Send a skill goal; returns its handle."""
        door = door_of(goal)
        name = f"/skills/{type(goal).__struct_config__.tag}"
        client = ActionClient(self.node, door.type, name)
        assert client.wait_for_server(timeout_sec=TIMEOUT_S)
        sending = client.send_goal_async(
            door.to_ros(goal), feedback_callback=lambda m: on_phase(m.feedback.phase)
        )
        return wait_for(sending, TIMEOUT_S, name)

    def close(self) -> None:
        self.executor.close()
        self.node.destroy_node()
        rclpy.shutdown()


class TestCell(unittest.TestCase):
    """The tests share one running cell and leave the arm empty."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = Client()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client.close()

    def setUp(self) -> None:
        self.client.ask(ResetSimulation, "/sim/reset_simulation")

    def test_the_contract_every_cell_answers(self) -> None:
        assert not problems_of(self.client.node, self.client.robot)

    def test_thinking_costs_no_simulated_time(self) -> None:
        before = self.client.robot.time_s
        time.sleep(0.5)
        assert self.client.robot.time_s == before

    def test_skills_by_hand_move_the_arm_report_phases_and_are_canceled_at_standstill(self) -> None:
        thing = next(o for o in self.client.scene().objects if not o.fixed)
        phases: list[str] = []
        result = self.client.skills.run(PickGoal(thing.id), phases.append)
        assert result.status == Status.SUCCEEDED, result.message
        assert result.facts["held"]
        assert phases[0] == "plan_grasp"
        assert "lift" in phases
        held = [o.id for o in self.client.states().objects if o.held]
        assert held == [thing.id]
        # The hand is full, so the next pick is refused and nothing moves.
        again = self.client.skills.run(PickGoal(thing.id))
        assert again.status == Status.PRECONDITION_FAILED
        canceled = self.cancel_in(RegraspGoal(), "transfer")
        held = [o.id for o in self.client.states().objects if o.held]
        assert held == ([thing.id] if canceled.facts["held"] else [])
        if not held:  # a cancel that came late: the brick stood there already
            assert self.client.skills.run(PickGoal(thing.id)).status == Status.SUCCEEDED
        # The skills go on working afterwards.
        self.take_by_other_faces(thing.id)
        self.put_down(thing.id)

    def take_by_other_faces(self, object_id: str) -> None:
        def across() -> np.ndarray:
            """Where the fingers close, in the frame of the brick that they hold."""
            brick = next(o.pose for o in self.client.states().objects if o.id == object_id)
            return brick.rotation.T @ self.client.robot.state().tool.rotation[:, 1]

        before, phases = across(), list[str]()
        result = self.client.skills.run(RegraspGoal(), phases.append)
        assert result.status == Status.SUCCEEDED, result.message
        assert result.facts["held"]
        assert len(result.facts["put_down"]) == 7
        assert phases.index("plan_spot") < phases.index("release") < phases.index("lift")
        assert [o.id for o in self.client.states().objects if o.held] == [object_id]
        assert abs(before @ across()) < 0.1

    def put_down(self, object_id: str) -> None:
        target = next(b for b in load_task(TASK).targets if b.id == object_id)
        pose = load_default("cell", CellConfig).plate.pose @ target.pose
        assert self.client.skills.run(PlaceGoal(pose)).status == Status.SUCCEEDED

    def lay_on_its_side(self, object_id: str) -> None:
        pose = Pose((0.42, -0.2, 0.0081), (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)))
        request = SetEntityState.Request(entity=object_id)
        request.state.header.frame_id, request.state.pose = "world", pose_to_ros(pose)
        answer = self.client.ask(SetEntityState, "/sim/set_entity_state", request)
        assert answer.result.result == Result.RESULT_OK, answer.result.error_message

    def up(self, object_id: str) -> float:
        """How far an object's top points up, as a cosine."""
        return next(o.pose for o in self.client.states().objects if o.id == object_id).rotation[2, 2]

    def test_a_brick_on_its_side_is_stood_up(self) -> None:
        self.lay_on_its_side("b001")
        result = self.client.skills.run(FlipGoal("b001"))
        assert result.status == Status.SUCCEEDED, result.message
        assert result.facts["turns"] == 1
        assert self.up("b001") > 0.999

    def cancel_in(self, goal, phase: str) -> SkillResult:
        """Cancel a goal in that phase, and see that the arm stands when the answer comes."""
        moving = threading.Event()
        handle = self.client.goal(goal, lambda begun: moving.set() if begun == phase else None)
        assert moving.wait(TIMEOUT_S), phase
        wait_for(handle.cancel_goal_async(), TIMEOUT_S, "cancel")
        answer = wait_for(handle.get_result_async(), TIMEOUT_S, "result")
        assert answer.status == GoalStatus.STATUS_CANCELED
        result = result_from_ros(answer.result.result)
        assert result.status == Status.CANCELED
        here = np.array(self.client.robot.state().joints_rad)
        self.client.robot.wait(0.2)
        there = np.array(self.client.robot.state().joints_rad)
        np.testing.assert_allclose(here, there, atol=2e-3)
        return result

    def test_two_goals_at_once_are_not_mixed(self) -> None:
        thing = next(o for o in self.client.scene().objects if not o.fixed)
        started = threading.Event()
        first = self.client.goal(PickGoal(thing.id), lambda phase: started.set())
        assert started.wait(TIMEOUT_S)
        second = self.client.skills.run(HomeGoal())
        assert second.status == Status.PRECONDITION_FAILED
        assert "busy" in second.message
        answer = wait_for(first.get_result_async(), TIMEOUT_S, "result")
        assert answer.status == GoalStatus.STATUS_SUCCEEDED
        self.put_down(thing.id)

    def test_an_unknown_frame_is_an_error(self) -> None:
        client = ActionClient(self.client.node, MoveTo, "/skills/move_to")
        assert client.wait_for_server(timeout_sec=TIMEOUT_S)
        goal = door_of(MoveToGoal(top_down((0.5, 0.0, 0.3), 0.0))).to_ros(
            MoveToGoal(top_down((0.5, 0.0, 0.3), 0.0))
        )
        goal.pose.header.frame_id = "no_such_frame"
        handle = wait_for(client.send_goal_async(goal), TIMEOUT_S, "goal")
        result = wait_for(handle.get_result_async(), TIMEOUT_S, "result").result.result
        assert Status(result.status.value) == Status.PRECONDITION_FAILED
        assert "no_such_frame" in result.message

    def test_unknown_objects_and_places_are_refused_with_words(self) -> None:
        unknown = self.client.skills.run(PickGoal("no_such_brick"))
        assert unknown.status == Status.PRECONDITION_FAILED
        assert "b001" in unknown.message
        outside = self.client.skills.run(PickAndPlaceGoal("b001", top_down((3.0, 0.0, 0.1), 0.0)))
        assert outside.status == Status.PRECONDITION_FAILED
        assert "workspace" in outside.message

    def test_questions_about_grasps_and_reach_are_answered_and_move_nothing(self) -> None:
        thing = next(o for o in self.client.scene().objects if not o.fixed)
        before, planning = self.client.states(), RosPlanning(self.client.node)
        planning.connect()
        plan = planning.grasps(thing.id, thing.pose)
        assert plan.status == Status.SUCCEEDED, plan.message
        assert 0.0 < plan.grasps[0].width_m < 0.08
        answer = planning.reach(plan.grasps[0].tool.translated((0.0, 0.0, 0.05)))
        assert answer.status == Status.SUCCEEDED, answer.message
        assert len(answer.joints_rad) == len(self.client.names)
        assert planning.reach(top_down((3.0, 0.0, 0.1), 0.0)).status == Status.PRECONDITION_FAILED
        assert "b001" in planning.grasps("no_such_brick").message
        assert self.client.states() == before

    def test_the_arm_controller_judges_trajectories(self) -> None:
        client = ActionClient(self.client.node, FollowJointTrajectory, ARM_ACTION)
        assert client.wait_for_server(timeout_sec=TIMEOUT_S)
        names = list(self.client.names)
        empty = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=names))
        assert not wait_for(client.send_goal_async(empty), TIMEOUT_S, "goal").accepted
        far = JointTrajectoryPoint(positions=[0.0] * 7)
        end = JointTrajectoryPoint(positions=[0.1] * 7)
        end.time_from_start.sec = 1
        jump = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=names, points=[far, end]))
        handle = wait_for(client.send_goal_async(jump), TIMEOUT_S, "goal")
        answer = wait_for(handle.get_result_async(), TIMEOUT_S, "result")
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert "starts" in answer.result.error_string

    def test_two_clients_cannot_command_the_arm_at_once(self) -> None:
        here = np.array(self.client.robot.state().joints_rad)
        goals = []
        for seconds in (4, 1):
            first = JointTrajectoryPoint(positions=here.tolist(), velocities=[0.0] * 7)
            last = JointTrajectoryPoint(positions=(here + 0.05).tolist(), velocities=[0.0] * 7)
            last.time_from_start.sec = seconds
            points = JointTrajectory(joint_names=list(self.client.names), points=[first, last])
            goals.append(FollowJointTrajectory.Goal(trajectory=points))
        client = ActionClient(self.client.node, FollowJointTrajectory, ARM_ACTION)
        assert client.wait_for_server(timeout_sec=TIMEOUT_S)
        sending = [client.send_goal_async(goal) for goal in goals]
        handles = [wait_for(future, TIMEOUT_S, "goal") for future in sending]
        answers = [wait_for(handle.get_result_async(), TIMEOUT_S, "result") for handle in handles]
        statuses = sorted(answer.status for answer in answers)
        assert statuses == [GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED]

    def test_standard_simulation_control(self) -> None:
        client = self.client
        features = client.ask(GetSimulatorFeatures, "/sim/get_simulator_features").features.features
        assert SimulatorFeatures.SIMULATION_RESET in features
        initial = client.states()
        running = client.ask(StepSimulation, "/sim/step_simulation", StepSimulation.Request(steps=5))
        assert running.result.result == Result.RESULT_OPERATION_FAILED
        self.set_state(SimulationState.STATE_PAUSED)
        before = client.states().time_s
        stepped = client.ask(StepSimulation, "/sim/step_simulation", StepSimulation.Request(steps=50))
        assert stepped.result.result == Result.RESULT_OK
        assert client.states().time_s == pytest.approx(before + 0.1, abs=1e-9)
        self.set_state(SimulationState.STATE_PLAYING)
        client.ask(ResetSimulation, "/sim/reset_simulation")
        again = client.states()
        assert again == initial
        entity = client.ask(GetEntityState, "/sim/get_entity_state", GetEntityState.Request(entity="b001"))
        assert entity.result.result == Result.RESULT_OK
        pose = next(o.pose for o in again.objects if o.id == "b001")
        assert entity.state.pose.position.x == pose.position[0]
        missing = client.ask(GetEntityState, "/sim/get_entity_state", GetEntityState.Request(entity="nobody"))
        assert missing.result.result == Result.RESULT_NOT_FOUND

    def test_objects_are_put_elsewhere_by_the_standard_service(self) -> None:
        client = self.client
        client.ask(ResetSimulation, "/sim/reset_simulation")
        state = client.ask(
            GetEntityState, "/sim/get_entity_state", GetEntityState.Request(entity="b001")
        ).state
        state.pose.position.x -= 0.05
        answers = []
        for frame, entity in (("world", "b001"), ("panda_hand", "b001"), ("", "nobody")):
            state.header.frame_id = frame
            request = SetEntityState.Request(entity=entity, state=state)
            answers.append(client.ask(SetEntityState, "/sim/set_entity_state", request).result.result)
        assert answers == [
            Result.RESULT_OK,
            SetEntityState.Response.INVALID_POSE,
            Result.RESULT_NOT_FOUND,
        ]
        moved = next(o.pose for o in client.states().objects if o.id == "b001")
        assert moved.position[0] == pytest.approx(state.pose.position.x)
        client.ask(ResetSimulation, "/sim/reset_simulation")

    def test_bricks_appear_and_vanish_by_the_standard_services(self) -> None:
        client = self.client
        features = client.ask(GetSimulatorFeatures, "/sim/get_simulator_features").features.features
        assert {SimulatorFeatures.SPAWNING, SimulatorFeatures.DELETING} <= set(features)
        spawn = SpawnEntity.Request(name="extra", uri="ldraw:3001?colour=4")
        spawn.initial_pose.pose = pose_to_ros(Pose((0.40, -0.45, 0.0097)))
        codes = []
        for name, uri in (
            ("extra", spawn.uri),
            ("extra", spawn.uri),
            ("b", "model.sdf"),
            ("b", "ldraw:none"),
        ):
            spawn.name, spawn.uri = name, uri
            codes.append(client.ask(SpawnEntity, "/sim/spawn_entity", spawn).result.result)
        assert codes == [
            Result.RESULT_OK, SpawnEntity.Response.NAME_NOT_UNIQUE,
            SpawnEntity.Response.UNSUPPORTED_FORMAT, SpawnEntity.Response.RESOURCE_PARSE_ERROR,
        ]  # fmt: skip
        assert "extra" in client.ask(GetEntities, "/sim/get_entities").entities
        gone = client.ask(DeleteEntity, "/sim/delete_entity", DeleteEntity.Request(entity="extra"))
        assert gone.result.result == Result.RESULT_OK
        assert "extra" not in client.ask(GetEntities, "/sim/get_entities").entities
        gone = client.ask(DeleteEntity, "/sim/delete_entity", DeleteEntity.Request(entity="extra"))
        assert gone.result.result == Result.RESULT_NOT_FOUND

    def set_state(self, state: int) -> None:
        request = SetSimulationState.Request(state=SimulationState(state=state))
        answer = self.client.ask(SetSimulationState, "/sim/set_simulation_state", request)
        assert answer.result.result == Result.RESULT_OK

    def test_an_episode_by_hand(self) -> None:
        client = self.client
        with pytest.raises(RefusedError, match="no episode is running"):
            client.demand(EndEpisode, "/episode/end")
        with pytest.raises(RefusedError, match="no such file"):
            client.demand(LoadEpisode, "/episode/load", LoadEpisode.Request(task="/no/such/task"))
        request = LoadEpisode.Request(task=str(TASK), seed=5, policy="by_hand", privileged=True)
        loaded = client.demand(LoadEpisode, "/episode/load", request)
        assert "pose" not in loaded.brief
        client.demand(StartEpisode, "/episode/start")
        initial = client.states()
        target = load_task(TASK).targets[0]
        assert client.skills.run(PickGoal(target.id)).status == Status.SUCCEEDED
        self.put_down(target.id)
        ended = client.demand(
            EndEpisode, "/episode/end", EndEpisode.Request(outcome="finished", message="done", calls=2)
        )
        folder = Path(ended.folder)
        record = read_record(folder / "record.json")
        assert record.transport == "ros"
        assert record.outcome == "finished"
        assert record.initial.objects == initial.objects
        assert [c.result.status for c in record.calls] == [Status.SUCCEEDED] * 2
        assert len(record.events) == 1
        assert record.time_s > 5.0
        score = read_json(folder / "score.json", EpisodeScore)
        assert score.score == ended.score
        assert score.s_exact == 1 / len(load_task(TASK).targets)
        # The bag alone holds the same last state, and no message of it is missing.
        states = read_world_states(folder / "bag")
        assert states[-1].objects == record.final.objects
        recorded = Storage.open(folder / "bag").messages((SKILL_GOALS, SKILL_FEEDBACK, SKILL_CALLS))
        heard = Counter(message.topic for message in recorded)
        assert (heard[SKILL_GOALS], heard[SKILL_CALLS]) == (2, 2)
        assert heard[SKILL_FEEDBACK] >= 6
        for name in ("before.png", "after.png", "video.mp4"):
            assert (folder / name).stat().st_size > 1000, name

    def begin(self, policy: str, seed: int = 5) -> None:
        request = LoadEpisode.Request(task=str(TASK), seed=seed, policy=policy, privileged=True)
        self.client.demand(LoadEpisode, "/episode/load", request)
        self.client.demand(StartEpisode, "/episode/start")

    def end(self, **fields: object) -> Path:
        request = EndEpisode.Request(**{"outcome": "finished", "message": "done"} | fields)
        return Path(self.client.demand(EndEpisode, "/episode/end", request).folder)

    def test_a_world_reset_in_an_episode_is_no_valid_record(self) -> None:
        self.begin("resetter")
        assert self.client.skills.run(HomeGoal()).status == Status.SUCCEEDED
        assert self.client.skills.run(PickGoal("b001")).status == Status.SUCCEEDED
        self.client.ask(ResetSimulation, "/sim/reset_simulation")
        record = read_record(self.end(calls=2) / "record.json")
        assert record.outcome == "cell_error"
        assert "reset or replaced" in record.outcome_message
        assert record.time_s > 1.0

    def test_the_record_shows_its_own_table_though_no_time_has_passed(self) -> None:
        pictures = []
        for seed in (21, 22):
            self.begin("looker", seed)
            pictures.append((self.end() / "before.png").read_bytes())
        assert pictures[0] != pictures[1]

    def test_what_the_manager_cannot_use_is_refused_and_it_lives_on(self) -> None:
        request = LoadEpisode.Request(task=str(TASK), policy="../../evil")
        with pytest.raises(RefusedError, match="is no name"):
            self.client.demand(LoadEpisode, "/episode/load", request)
        with pytest.raises(RefusedError, match="OSError"):
            self.client.demand(LoadEpisode, "/episode/load", LoadEpisode.Request(task="x" * 5000, policy="p"))
        self.begin("judged")
        with pytest.raises(RefusedError, match="is no outcome"):
            self.end(outcome="zorro")
        # A message on a shared topic that nobody can read spoils the record, not the manager.
        publisher = self.client.node.create_publisher(SkillCall, "/skills/calls", 10)
        deadline = time.monotonic() + TIMEOUT_S
        while publisher.get_subscription_count() == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        publisher.publish(SkillCall(goal="{{{"))
        time.sleep(0.5)
        record = read_record(self.end() / "record.json")
        assert record.outcome == "cell_error"
        assert "can't be read" in record.outcome_message

    def test_commands_that_are_no_numbers_never_reach_the_drives(self) -> None:
        client = ActionClient(self.client.node, GripperCommand, GRIPPER_ACTION)
        assert client.wait_for_server(timeout_sec=TIMEOUT_S)
        for position, effort in ((float("nan"), 10.0), (0.02, float("nan")), (-0.01, 10.0)):
            goal = GripperCommand.Goal()
            goal.command.position, goal.command.max_effort = position, effort
            assert not wait_for(client.send_goal_async(goal), TIMEOUT_S, "goal").accepted
        slow = self.client.skills.run(MoveToGoal(top_down((0.4, -0.1, 0.3), 0.0), speed=1e-9))
        assert slow.status == Status.PRECONDITION_FAILED

    def test_nobody_can_hang_the_simulator_with_steps(self) -> None:
        self.set_state(SimulationState.STATE_PAUSED)
        many = self.client.ask(StepSimulation, "/sim/step_simulation", StepSimulation.Request(steps=2**40))
        assert many.result.result == Result.RESULT_OPERATION_FAILED
        self.set_state(SimulationState.STATE_PLAYING)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    """After SIGINT."""

    def test_every_process_ended_cleanly(self, proc_info) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)


assert os.environ.get("ROS_DOMAIN_ID"), "conftest.py gives every test process a domain of its own"
