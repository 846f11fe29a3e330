"""What all doors have in common: a toolbox with a transcript, and a report however it ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.ports import Tools

from jarvis_agent.api.transcript import Transcript
from jarvis_agent.cage.cage import ProgramEnd
from jarvis_agent.cage.isolation import Isolation
from jarvis_agent.config import AgentConfig
from jarvis_agent.report import AgentReport, write_report
from jarvis_agent.toolbox import Layer, Toolbox


@dataclass
class Session:
    """One episode of one agent.

    Attributes:
        programs: how its programs ended, filled in by the door.
        message: what the agent said at its end.
    """

    toolbox: Toolbox
    programs: list[ProgramEnd] = field(default_factory=list)
    message: str = ""

    def note(self, kind: str, **fields: object) -> None:
        if self.toolbox.transcript is not None:
            self.toolbox.transcript.note(kind, **fields)


class Door(ABC):
    """Base of the policies that give an agent's calls to a toolbox.

    Args:
        name: of the agent, in records and tables.
        layer: of tools.
        isolation: how the agent's code is kept apart.
        config: limits; default: the configured ones.
    """

    kind = ""
    privileged = False

    def __init__(
        self,
        name: str,
        layer: Layer,
        isolation: Isolation = Isolation.NONE,
        config: AgentConfig | None = None,
    ) -> None:
        self.name = name
        self.layer = layer
        self.isolation = isolation
        self.config = config or load_default("agent", AgentConfig)
        self._cell = load_default("cell", CellConfig)
        self._folder: Path | None = None

    @property
    def caged(self) -> bool:
        return self.isolation is not Isolation.NONE

    @abstractmethod
    def run(self, tools: Tools) -> None: ...

    def keep_in(self, folder: Path) -> None:
        """Transcript and report go there."""
        self._folder = folder

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Session]:
        """The agent's calls of one episode; transcript and report are written however it ends."""
        transcript = Transcript(self._folder) if self._folder is not None else None
        session = Session(Toolbox(tools, self.layer, self._cell, self.config, transcript))
        try:
            yield session
        finally:
            if transcript is not None and self._folder is not None:
                transcript.close()
                write_report(self._folder, self._report(session))

    def _report(self, session: Session) -> AgentReport:
        return AgentReport(
            door=self.kind,
            layer=str(self.layer),
            isolation=str(self.isolation),
            usage=session.toolbox.usage.record(),
            config=self.config,
            programs=tuple(session.programs),
            message=session.message,
        )
