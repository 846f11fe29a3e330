"""Limits of agents, the same for every one; read from config/agent.yaml."""

from __future__ import annotations

from jarvis_core.config import Config


class ProgramLimits(Config, frozen=True):
    """Limits of one program's process. Its own time is what passes while no tool works for it.

    Attributes:
        own_s: own time in all.
        silence_s: own time between two calls.
        start_s: from the start of its process until it is ready.
        cpu_s: time of the processor.
        memory_mb: address space.
        scratch_mb: size of its /tmp, which is in memory.
        open_files: file descriptors.
        output_kb: printed text after which it is ended; ``kept_output_kb`` of it are kept.
        message_kb: size of one call's arguments.
    """

    own_s: float
    silence_s: float
    start_s: float
    cpu_s: int
    memory_mb: int
    scratch_mb: int
    open_files: int
    output_kb: int
    kept_output_kb: int
    message_kb: int


class ServerConfig(Config, frozen=True):
    """A door behind a server: where it listens, and after how many seconds without a call the episode ends."""

    host: str
    port: int
    idle_s: float


class AgentConfig(Config, frozen=True):
    """Everything about agents.

    Attributes:
        max_calls: of the tool layers, whatever they do.
        max_rounds: programs or decisions of an agent that works in steps.
        imports: top-level modules that a program may import.
        mcp, page: the doors for clients of the Model Context Protocol, and for people with a browser.
    """

    max_calls: int
    max_rounds: int
    program: ProgramLimits
    imports: tuple[str, ...]
    mcp: ServerConfig
    page: ServerConfig
