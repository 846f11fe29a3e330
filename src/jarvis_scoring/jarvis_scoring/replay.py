"""An episode scored from what was recorded while it ran: the states one after another, never simulated again.

A stream of states may have lost messages or end early. It is scored as far as it goes; every such fault is named, and
an episode with a fault is incomplete: it counts zero in every table. Where the clock goes back, or leaps though no
message is missing, nobody can tell what was when: such a stream can't be scored at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.objects import WorldState

from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.evidence import Evidence
from jarvis_scoring.protocol import EpisodeScore

#: Clocks are recorded in nanoseconds.
_SAME_TIME_S = 1e-6
#: Poses are recorded bit for bit; whoever converts a bag may lose the last digits.
_SAME_POSE = 1e-9
#: Of many faults of a kind so many are named.
_MOST_FAULTS = 5


@dataclass(frozen=True, slots=True)
class StateMessage:
    """A recorded state.

    Attributes:
        state: reads all of it, which most messages never need (raises BadInputError).
        finite: its poses are numbers.
    """

    sequence: int
    time_s: float
    state: Callable[[], WorldState]
    finite: bool = True


@dataclass(frozen=True, slots=True)
class Replay:
    """A scored recording.

    Attributes:
        states: number of recorded states.
        faults: why it is incomplete; empty for a sound recording.
        last_s: simulated time of the last state.
    """

    evidence: Evidence
    score: EpisodeScore
    states: int
    last_s: float
    faults: tuple[str, ...]

    @property
    def complete(self) -> bool:
        return not self.faults


class StateStream:
    """States of one episode in the order of the recording; remembers the last and what is wrong with the rest."""

    def __init__(self, topic: str, max_gap_s: float) -> None:
        self._topic = topic
        self._max_gap_s = max_gap_s
        self._faults: list[str] = []
        self._broken_clock = ""
        self._not_finite: StateMessage | None = None
        self.count = 0
        self.last: StateMessage | None = None

    def add(self, message: StateMessage) -> None:
        if self.last is not None:
            self._compare(self.last, message)
        if not message.finite and self._not_finite is None:
            self._not_finite = message
        self.count += 1
        self.last = message

    def _compare(self, last: StateMessage, now: StateMessage) -> None:
        missing = now.sequence - last.sequence - 1
        if missing > 0:
            numbers = f"{last.sequence + 1} to {now.sequence - 1}" if missing > 1 else f"{last.sequence + 1}"
            self._faults.append(f"messages {numbers} of {self._topic} are missing")
        elif missing < 0:
            self._faults.append(f"message {now.sequence} of {self._topic} follows on {last.sequence}")
        step, times = now.time_s - last.time_s, f"from {last.time_s:.3f} s to {now.time_s:.3f} s"
        if step < -_SAME_TIME_S:
            self._broken_clock = self._broken_clock or f"the clock went back {times}"
        elif step > self._max_gap_s and missing > 0:
            self._faults.append(f"nothing is known {times}")
        elif step > self._max_gap_s:
            self._broken_clock = self._broken_clock or f"the clock jumped {times}, no message is missing"

    def check(self) -> None:
        """Raises BadInputError where time did not pass steadily, or a pose is none, wherever in the stream."""
        if self._not_finite is not None:
            self._not_finite.state()
        if self._broken_clock:
            raise BadInputError(
                self._broken_clock,
                where=self._topic,
                fix="record one episode on one clock, without a reset in between",
            )

    @property
    def faults(self) -> list[str]:
        """Named up to a number, the rest counted."""
        more = len(self._faults) - _MOST_FAULTS
        return self._faults if more <= 0 else [*self._faults[:_MOST_FAULTS], f"and {more} faults more"]


def replay(
    evidence: Evidence,
    stream: StateStream,
    *,
    config: ScoreConfig | None = None,
    protocol: str | None = None,
) -> Replay:
    """Score an episode from its last recorded state.

    Args:
        evidence: the closing one, or the opening one of a recording that was cut off.
        stream: of all its states; not empty.
        config: constants to use instead of the recorded ones.
        protocol: by default the one that the constants name.

    Raises:
        BadInputError: as ``brick_score.score``, a state that can't be read, or a clock that jumped.
    """
    last = stream.last
    if last is None:
        raise ValueError("a replay needs a state")
    stream.check()
    faults = stream.faults
    given: Evidence = evidence
    if evidence.outcome == "cell_error":
        faults.append(evidence.outcome_message)
    if evidence.closed:
        faults += _disagreement(evidence, last, evidence.constants.max_state_gap_s)
    else:
        faults.append(f"the recording ends at {last.time_s:.2f} s, before the episode did")
        spent = max(0.0, last.time_s - evidence.initial.time_s)
        given = msgspec.structs.replace(evidence, final=last.state(), time_s=spent)
    result = score(given, config or evidence.constants, protocol=protocol)
    return Replay(evidence, result, stream.count, last.time_s, tuple(faults))


def _disagreement(evidence: Evidence, last: StateMessage, max_gap_s: float) -> list[str]:
    """How the last state differs from the final one that the closing evidence holds."""
    final = evidence.final
    if last.time_s < final.time_s - max_gap_s:
        return [f"the states end at {last.time_s:.2f} s, the episode at {final.time_s:.2f} s"]
    if abs(last.time_s - final.time_s) > _SAME_TIME_S:
        # A recorder that listens beside the episode's own may stop a little earlier or later.
        return []
    recorded = {thing.id: thing.pose for thing in last.state().objects}
    wrong = [
        thing.id
        for thing in final.objects
        if thing.id not in recorded
        or not np.allclose(thing.pose.to_list(), recorded[thing.id].to_list(), rtol=0.0, atol=_SAME_POSE)
    ]
    return [f"the last state contradicts the closing evidence: {', '.join(wrong)}"] if wrong else []
