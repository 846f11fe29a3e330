"""Controller of the gripper: fed once per step, asked for its outcome. No physics in here."""

from __future__ import annotations

from typing import Any

import msgspec
from jarvis_core.errors import RefusedError
from jarvis_core.motion import GripperOutcome
from jarvis_core.status import Status

from jarvis_sim.config import GripperDriveConfig


class _GripperState(msgspec.Struct):
    phase: str  # holding (a width), moving, squeezing (with a force)
    target: float
    desired: float
    force: float
    phase_s: float = 0.0
    still_s: float = 0.0
    outcome: tuple[int, str, float, bool] | None = None


class GripperController:
    """Moves the fingers to a width, or until they stop on something, which they then squeeze.

    Args:
        max_width_m: opening of the gripper.
        force_n: of each finger, at most; the force the fingers hold a width with after a reset.
        finger_speed_m_s: no finger moves faster.
    """

    def __init__(
        self,
        max_width_m: float,
        force_n: float,
        finger_speed_m_s: float,
        config: GripperDriveConfig,
        timestep_s: float,
    ) -> None:
        self._max_width = max_width_m
        self._max_force = force_n
        self._rate = 2.0 * finger_speed_m_s
        self._config = config
        self._dt = timestep_s
        self._state = _GripperState("holding", 0.0, 0.0, force_n)

    @property
    def busy(self) -> bool:
        return self._state.phase == "moving"

    @property
    def outcome(self) -> GripperOutcome | None:
        """How the last command ended; None while it runs, or if there was none."""
        ended = self._state.outcome
        return GripperOutcome(Status(ended[0]), ended[1], ended[2], ended[3]) if ended is not None else None

    def hold(self, width_m: float) -> None:
        """Forget any command and stand at a width."""
        self._state = _GripperState("holding", width_m, width_m, self._max_force)

    def command(self, width_m: float, force_n: float, measured_m: float) -> None:
        """Start towards a width (limited to what the gripper can do), with at most ``force_n`` per finger.

        Raises:
            RefusedError: another command is running.
        """
        if self.busy:
            raise RefusedError("the gripper is moving", fix="cancel the command or wait for its end")
        width = min(max(width_m, 0.0), self._max_width)
        self._state = _GripperState("moving", width, measured_m, min(max(force_n, 0.0), self._max_force))

    def cancel(self, measured_m: float) -> None:
        """Stop where the fingers are."""
        if self.busy:
            self._end(Status.CANCELED, "canceled; the fingers stand still", measured_m, False, "holding")
            self._state.target = self._state.desired = measured_m

    def update(self, width_m: float, speed_m_s: float) -> float:
        """Advance one step with the measured width and its rate; gives the drive's setpoint in metres."""
        state, config = self._state, self._config
        reach = state.force / config.kp  # a drive this far from its setpoint pushes with the allowed force
        if state.phase == "squeezing":
            return width_m - reach
        lead = 0.0
        if state.phase == "moving":
            most = self._rate * self._dt
            step = min(max(state.target - state.desired, -most), most)
            state.desired += step
            lead = config.kv / config.kp * step / self._dt
            self._watch(width_m, speed_m_s)
        return min(max(state.desired + lead, width_m - reach), width_m + reach)

    def save(self) -> Any:
        return msgspec.to_builtins(self._state)

    def load(self, saved: Any) -> None:
        self._state = msgspec.convert(saved, _GripperState)

    def _watch(self, width: float, speed: float) -> None:
        state, config = self._state, self._config
        state.phase_s += self._dt
        state.still_s = state.still_s + self._dt if abs(speed) < config.stall_speed_m_s else 0.0
        closing = state.desired < width
        near = abs(width - state.target) <= config.reach_tolerance_m
        if near and state.still_s > 0.0 and state.desired == state.target:
            self._end(Status.SUCCEEDED, f"opening is {width * 1000:.1f} mm", width, False, "holding")
        elif state.still_s >= config.stall_s and abs(state.desired - width) > config.reach_tolerance_m:
            if closing:
                message = f"stopped on something {width * 1000:.1f} mm wide"
                self._end(Status.SUCCEEDED, message, width, True, "squeezing")
            else:
                # They stay here: pushing on would shove away what is in the way.
                state.desired = state.target = width
                message = f"something keeps the fingers from opening beyond {width * 1000:.1f} mm"
                self._end(Status.SUCCEEDED, message, width, True, "holding")
        elif state.phase_s > config.timeout_s:
            message = f"the fingers did not come to rest within {config.timeout_s:g} s"
            self._end(Status.TIMED_OUT, message, width, False, "holding")

    def _end(self, status: Status, message: str, width: float, stalled: bool, phase: str) -> None:
        self._state.phase = phase
        self._state.outcome = (int(status), message, width, stalled)
