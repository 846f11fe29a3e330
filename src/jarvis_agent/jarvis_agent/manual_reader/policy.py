"""The agent ``manual_reader``: reads the manual, then builds by the calls of the primitives layer."""

from __future__ import annotations

from typing import Any

import msgspec
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_default
from jarvis_core.ports import Tools
from jarvis_core.seen import SeenStructure
from jarvis_perception.config import PerceptionConfig
from jarvis_perception.perceiver import BrickPerception

from jarvis_agent.api.answers import as_data
from jarvis_agent.config import AgentConfig
from jarvis_agent.manual_reader.builder import Answer, Builder, BuiltBrick
from jarvis_agent.manual_reader.config import ManualReaderConfig
from jarvis_agent.manual_reader.plan import ReadPlan, write_plan
from jarvis_agent.manual_reader.planfile import write_plan_file
from jarvis_agent.manual_reader.reader import ManualReader
from jarvis_agent.session import Door, Session
from jarvis_agent.toolbox import Layer

#: Beside the record: the reading with its doubts and alternatives, the same as a plan, what became of each brick.
READING_FILE, PLAN_FILE = "reading.json", "plan.json"


class ManualReaderPolicy(Door):
    """Needs no model. Runs in the harness's process, since it draws; every record says that it is not caged.

    It gets the task's brief (pages, parts list, axes), the calls of the primitives layer, and, for what stands at the
    start, the top camera's frame, which it gives to a perception of its own: no call tells heights of a structure.
    """

    kind = "manual_reader"

    def __init__(self, config: AgentConfig | None = None) -> None:
        super().__init__("manual_reader", Layer.PRIMITIVES, config=config)
        self._reading = load_default("manual_reader", ManualReaderConfig)
        self._catalogue = PartCatalogue(LDrawLibrary.find())

    def run(self, tools: Tools) -> None:
        with self.session(tools) as session:
            session.toolbox.begin_round()
            plan = self._read(tools, session)
            bricks, said = self._build(plan, session)
            session.note("built", bricks=msgspec.to_builtins(bricks))
            unclear = [str(step.page) for step in plan.steps if not step.understood]
            guessed = f"; guessed, not understood: pages {', '.join(unclear)}" if unclear else ""
            session.message = said + guessed

    def _read(self, tools: Tools, session: Session) -> ReadPlan:
        session.toolbox.call("task", {})
        structure = self._structure(tools)
        plan = ManualReader(self._catalogue, self._reading).read(tools.brief(), structure)
        for doubt in plan.doubts():
            session.note("doubt", text=doubt)
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_plan(plan, self._folder / READING_FILE)
            write_plan_file(plan, self._catalogue, self.name, self._folder / PLAN_FILE)
        return plan

    def _structure(self, tools: Tools) -> SeenStructure:
        """What stands on the plate before anything was moved."""
        eyes = BrickPerception(self._cell, load_default("perception", PerceptionConfig), self._catalogue)
        seen = tools.observe()
        return eyes.perceive(seen.camera, parts=tools.brief().manual.parts).structure

    def _build(self, plan: ReadPlan, session: Session) -> tuple[list[BuiltBrick], str]:
        def call(name: str, **arguments: Any) -> Answer:
            return session.toolbox.call(name, as_data(arguments))

        if not call("find_brick")["ok"]:
            return [], "nobody tells where bricks lie here; the manual was read, nothing was built"
        builder = Builder(call, self._cell.plate.pose, self._catalogue, self._reading.building, session.note)
        return builder.build(plan)
