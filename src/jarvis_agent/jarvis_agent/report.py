"""What an agent leaves beside the record: how it was run, what it used, how each of its programs ended."""

from __future__ import annotations

from pathlib import Path

import msgspec
from jarvis_core.files import write_json

from jarvis_agent.api.usage import UsageRecord
from jarvis_agent.cage.cage import ProgramEnd
from jarvis_agent.config import AgentConfig

REPORT_FILE = "report.json"


class AgentReport(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's episode.

    Attributes:
        door: ``program``, ``steps``, ``mcp``, ``repl``.
        layer: of tools.
        isolation: ``bubblewrap``, ``namespaces`` or ``none``.
        usage: counts.
        programs: how each program ended, in order.
        message: what the agent said at its end.
        config: every configured limit.
    """

    door: str
    layer: str
    isolation: str
    usage: UsageRecord
    config: AgentConfig
    programs: tuple[ProgramEnd, ...] = ()
    message: str = ""


def write_report(folder: Path, report: AgentReport) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / REPORT_FILE, report)
