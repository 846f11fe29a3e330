"""Agents that work in steps: after each placement somebody looks, and goes on, revises, corrects or ends."""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

import cv2
import msgspec
import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.ports import Tools

from jarvis_agent.cage.cage import ProgramEnd
from jarvis_agent.cage.isolation import Isolation
from jarvis_agent.config import AgentConfig
from jarvis_agent.program import Program, check, raise_unless_finished, run_program
from jarvis_agent.session import Door, Session
from jarvis_agent.toolbox import Layer

#: Calls after which a step is over, and the call that shows what came of it.
STEP_CALLS = {"pick_and_place", "place", "place_on", "remove", "open_gripper"}
LOOKS = {Layer.PRIMITIVES: "look", Layer.GENERIC: "image"}


@dataclass(frozen=True, slots=True)
class Feedback:
    """What is known after a step.

    Attributes:
        round: number of this decision, from 1.
        program: name of the program that runs or ran.
        call, answer: what ended the step; empty where the program itself ended.
        look: a new observation, as the layer's look answers it.
        end: how the program ended, if it did; ``refused`` where it was not run at all.
        budget: calls, rounds and time used and left.
    """

    round: int
    program: str
    call: str
    answer: dict[str, Any]
    look: dict[str, Any]
    end: ProgramEnd | None
    budget: dict[str, Any]


class Continue(msgspec.Struct, frozen=True, tag_field="decision", tag="continue"):
    """Let the program go on."""


class Revise(msgspec.Struct, frozen=True, tag_field="decision", tag="revise"):
    """Stop the program and run this one instead."""

    program: str
    name: str = "revision"


class Correct(msgspec.Struct, frozen=True, tag_field="decision", tag="correct"):
    """Run this program while the other one waits, then let that go on."""

    program: str
    name: str = "correction"


class End(msgspec.Struct, frozen=True, tag_field="decision", tag="end"):
    """Stop the program; the episode is over."""

    message: str = ""


Decision = Continue | Revise | Correct | End


class Director(Protocol):
    """Who decides: a list of candidates, a person, a model."""

    def first(self) -> Program:
        """The program to begin with."""

    def decide(self, feedback: Feedback) -> Decision:
        """What next. Takes as long as it takes: the world stands still."""


class _RevisedError(Exception):
    def __init__(self, program: Program) -> None:
        self.program = program
        super().__init__(f"revised by {program.name}")


class _EndedError(Exception):
    pass


class StepPolicy(Door):
    """Runs programs as a director says."""

    kind = "steps"

    def __init__(
        self,
        name: str,
        director: Director,
        layer: Layer,
        isolation: Isolation,
        config: AgentConfig | None = None,
    ) -> None:
        super().__init__(name, layer, isolation, config)
        self._director = director

    def run(self, tools: Tools) -> None:
        with self.session(tools) as session:
            program: Program | None = self._director.first()
            session.toolbox.begin_round()
            try:
                while program is not None:
                    program = self._run(session, program)
            except _EndedError as ended:
                session.message = str(ended)

    def _run(self, session: Session, program: Program) -> Program | None:
        """Run a program to its end; returns what to run next."""
        try:
            check(program, self.layer, self.config)
        except BadInputError as error:
            end = ProgramEnd("refused", error.line(), "", "", 0, str(self.isolation), {})
            session.programs.append(end)
        else:
            try:
                end = run_program(
                    self, session, program, lambda name, answer: self._after(session, program, name, answer)
                )
            except _RevisedError as revised:
                return revised.program
            if end.reason == "finished" and session.message:
                return None
        decision = self._decide(session, program, "", {}, end)
        if isinstance(decision, (Revise, Correct)):
            return Program(decision.name, decision.program)
        if end.reason == "refused":
            raise BadInputError(end.message, where=program.name)
        raise_unless_finished(end)
        return None

    def _after(self, session: Session, program: Program, name: str, answer: dict[str, Any]) -> None:
        if name not in STEP_CALLS:
            return
        decision = self._decide(session, program, name, answer, None)
        if isinstance(decision, Revise):
            raise _RevisedError(Program(decision.name, decision.program))
        if isinstance(decision, Correct):
            correction = Program(decision.name, decision.program)
            check(correction, self.layer, self.config)
            run_program(self, session, correction)

    def _decide(
        self, session: Session, program: Program, name: str, answer: dict[str, Any], end: ProgramEnd | None
    ) -> Decision:
        toolbox = session.toolbox
        toolbox.begin_round()
        look, budget = toolbox.call(LOOKS[self.layer], {}), toolbox.call("budget", {})
        feedback = Feedback(toolbox.usage.rounds - 1, program.name, name, answer, look, end, budget)
        decision = self._director.decide(feedback)
        session.note("decision", round=feedback.round, **msgspec.to_builtins(decision))
        if isinstance(decision, End):
            raise _EndedError(decision.message)
        return decision


class Candidates:
    """Programs in order: whenever an action fails or a program breaks, the next one takes over."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self._left = deque(programs)

    def first(self) -> Program:
        return self._left.popleft()

    def decide(self, feedback: Feedback) -> Decision:
        broke = feedback.end is not None and feedback.end.reason != "finished"
        failed = feedback.end is None and not feedback.answer["ok"]
        if (broke or failed) and self._left:
            program = self._left.popleft()
            return Revise(program.source, program.name)
        return Continue()


class LineDirector:
    """Decisions as lines of JSON, for whatever can read and write: a person, a script, another program.

    The first line is ``{"program": "..."}``; then each feedback is written as a line, and a line with a decision read:
    ``{"decision": "continue"}``, ``{"decision": "revise", "program": "..."}``, ``correct`` likewise, or ``{"decision":
    "end", "message": "..."}``. Pictures are PNG in base64. The end of the input is an ``end``.
    """

    def __init__(self, source: TextIO, sink: TextIO) -> None:
        self._source = source
        self._sink = sink

    def first(self) -> Program:
        """Raises BadInputError: the first line is no program."""
        line = self._source.readline()
        try:
            program = msgspec.json.decode(line, type=_First)
        except msgspec.DecodeError as error:
            raise BadInputError(
                f'the first line is not {{"program": "..."}} ({error})', where="stdin"
            ) from error
        return Program(program.name, program.program)

    def decide(self, feedback: Feedback) -> Decision:
        """Raises BadInputError: the line is no decision."""
        self._sink.write(json.dumps(_readable(feedback)) + "\n")
        self._sink.flush()
        line = self._source.readline()
        if not line:
            return End("no more decisions")
        try:
            decision: Decision = msgspec.json.decode(line, type=Decision)
        except msgspec.DecodeError as error:
            raise BadInputError(f"not a decision ({error})", where="stdin") from error
        return decision


class _First(msgspec.Struct, forbid_unknown_fields=True):
    program: str
    name: str = "program"


def _readable(value: Any) -> Any:
    """Plain JSON of a feedback."""
    if isinstance(value, Feedback):
        return {name: _readable(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, np.ndarray):
        done, png = cv2.imencode(".png", cv2.cvtColor(value, cv2.COLOR_RGB2BGR))
        assert done
        return {"png_base64": base64.b64encode(png.tobytes()).decode()}
    if isinstance(value, dict):
        return {key: _readable(item) for key, item in value.items()}
    return msgspec.to_builtins(value)
