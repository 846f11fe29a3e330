"""A motion backend in a process of its own: where its library crashes or hangs, one plan fails and nothing else.

What stands around the arm is kept here and told to the process before the next question, so that a new one starts
where the old one died.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any

from jarvis_core.errors import JarvisError
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_robot.model import RobotModel

from jarvis_motion.backend import MotionBackend, Obstacle, Plan
from jarvis_motion.config import MotionConfig

#: How long a process may take to load its library, and to end after it was told to.
_START_S = 60.0
_END_S = 5.0


#: A method's name, its arguments and its options.
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


class PlannerDiedError(JarvisError):
    """The planner's process ended or did not answer, twice in a row."""


class _DiedError(Exception):
    """The process is gone; the text says how."""


class IsolatedBackend:
    """Any backend behind the same protocol, in a child process that is started anew when it dies.

    Raises:
        MissingCapabilityError: the backend's library can't be loaded.
    """

    def __init__(self, robot: RobotModel, config: MotionConfig) -> None:
        self._robot = robot
        self._config = config
        self._obstacles: tuple[Obstacle, ...] = ()
        self._held: tuple[str, tuple[Box, ...]] | None = None
        self._width_m = robot.config.gripper.max_width_m
        self._child: subprocess.Popen[bytes] | None = None
        self._line: Connection
        self._news: dict[str, tuple[Any, ...]] = {}
        self._start()

    @property
    def name(self) -> str:
        return self._config.backend

    @property
    def pid(self) -> int | None:
        """Of the process; None while there is none."""
        return self._child.pid if self._child is not None else None

    # -- world: kept here, told before the next question

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """As the backend's."""
        wanted = tuple(obstacles)
        if wanted != self._obstacles:
            self._obstacles = wanted
            self._tell("set_obstacles", wanted)

    def attach(self, object_id: str, boxes: Sequence[Box]) -> None:
        """As the backend's."""
        self.set_obstacles([o for o in self._obstacles if o.id != object_id])
        self._held = (object_id, tuple(boxes))
        self._tell("attach", *self._held)

    def detach(self) -> None:
        """As the backend's."""
        self._held = None
        self._tell("detach")

    def set_gripper_width(self, width_m: float) -> None:
        """As the backend's."""
        self._width_m = width_m
        self._tell("set_gripper_width", width_m)

    # -- questions

    def forward(self, joints: FloatArray) -> Pose:
        """As the backend's."""
        return self._robot.tool(joints)

    def inverse(self, tool: Pose, seed: FloatArray) -> FloatArray | None:
        """As the backend's.

        Raises:
            PlannerDiedError: two processes in a row did not survive the question.
        """
        found: FloatArray | None = self._ask_twice("inverse", tool, seed)
        return found

    def plan_to_joints(self, start: FloatArray, goal: FloatArray, *, speed: float = 1.0) -> Plan:
        """As the backend's; PLANNING_FAILED when the process dies or hangs."""
        return self._plan("plan_to_joints", start, goal, speed=speed)

    def plan_to_pose(self, start: FloatArray, tool: Pose, *, speed: float = 1.0) -> Plan:
        """As the backend's; PLANNING_FAILED when the process dies or hangs."""
        return self._plan("plan_to_pose", start, tool, speed=speed)

    def plan_line(
        self, start: FloatArray, tool: Pose, *, speed: float = 1.0, allow_contact: Sequence[str] = ()
    ) -> Plan:
        """As the backend's; PLANNING_FAILED when the process dies or hangs."""
        return self._plan("plan_line", start, tool, speed=speed, allow_contact=tuple(allow_contact))

    def validate(self, trajectory: JointTrajectory, *, allow_contact: Sequence[str] = ()) -> tuple[str, ...]:
        """As the backend's.

        Raises:
            PlannerDiedError: two processes in a row did not survive the question.
        """
        faults: tuple[str, ...] = self._ask_twice("validate", trajectory, allow_contact=tuple(allow_contact))
        return faults

    def close(self) -> None:
        """End the process."""
        if self._child is None:
            return
        self._line.close()  # the process ends when nobody is at the other end
        try:
            self._child.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._child = None

    # -- the process

    def _plan(self, method: str, *args: Any, **options: Any) -> Plan:
        try:
            plan: Plan = self._ask(method, *args, **options)
        except _DiedError as died:
            return Plan(Status.PLANNING_FAILED, f"{died}; the next call starts a new one")
        return plan

    def _ask_twice(self, method: str, *args: Any, **options: Any) -> Any:
        try:
            return self._ask(method, *args, **options)
        except _DiedError:
            pass  # questions without side effects: the new process is asked once more
        try:
            return self._ask(method, *args, **options)
        except _DiedError as died:
            raise PlannerDiedError(f"{died}, twice in a row at {method}", where=self.name) from died

    def _tell(self, method: str, *args: Any) -> None:
        """Keep a change of the world for the next question; the latest of its kind counts, in the order made."""
        self._news.pop(method, None)
        self._news[method] = args

    def _ask(self, method: str, *args: Any, **options: Any) -> Any:
        if self._child is None or self._child.poll() is not None:
            self._start()
        calls: list[Call] = [(name, values, {}) for name, values in self._news.items()]
        self._news.clear()
        return self._exchange([*calls, (method, args, options)], self._config.answer_within_s)

    def _start(self) -> None:
        here, there = Pipe()
        # The child finds what this process finds, however that was arranged.
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, "-c", f"from jarvis_motion.isolated import serve; serve({there.fileno()})"]
        self._child = subprocess.Popen(command, env=env, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL)
        there.close()
        self._line = here
        self._news.clear()
        if self._held is not None:
            self._tell("attach", *self._held)
        self._tell("set_obstacles", self._obstacles)
        self._tell("set_gripper_width", self._width_m)
        try:
            self._exchange((self._robot.config, self._config), _START_S)
        except _DiedError as died:
            raise PlannerDiedError(f"{died} while it started", where=self.name) from died

    def _exchange(self, message: Any, within_s: float) -> Any:
        """Send, wait, receive; an exception of the other side is raised here."""
        try:
            self._line.send(message)
            if not self._line.poll(within_s):
                raise _DiedError(self._ended(f"did not answer within {within_s:g} s and was ended"))
            worked, answer = self._line.recv()
        except (EOFError, OSError) as error:
            raise _DiedError(self._ended("ended")) from error
        if not worked:
            raise answer
        return answer

    def _ended(self, how: str) -> str:
        """Reap the process and say in words how it ended."""
        child, self._child = self._child, None
        assert child is not None
        self._line.close()
        if how == "ended":
            try:
                code = child.wait(_END_S)
                how = (
                    f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
                )
            except subprocess.TimeoutExpired:
                how = "closed its line"
        child.kill()
        child.wait()
        return f"the planner's process ({self.name}) {how}"


def serve(handle: int) -> None:
    """The child's life: make the backend, then answer until nobody asks any more."""
    from jarvis_motion.factory import make_plain

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends this process
    line = Connection(handle)
    try:
        robot, config = line.recv()
        made: list[MotionBackend] = []
        _answer(line, lambda: made.append(make_plain(RobotModel.load(robot), config)))
        while made:
            _answer(line, partial(_run, made[0], line.recv()))
    except (EOFError, BrokenPipeError):
        return  # the parent has gone


def _run(backend: MotionBackend, calls: Sequence[Call]) -> Any:
    """All calls in turn; the result of the last."""
    return [getattr(backend, name)(*args, **options) for name, args, options in calls][-1]


def _answer(line: Connection, action: Callable[[], Any]) -> None:
    try:
        worked, answer = True, action()
    except Exception as error:  # noqa: BLE001 - the parent raises it
        worked, answer = False, error
    line.send((worked, answer))
