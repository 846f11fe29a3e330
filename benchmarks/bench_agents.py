"""What the harness adds to an agent's episode, by door, and whether it grows. Prints a table.

./jarvis shell -c 'python benchmarks/bench_agents.py'
./jarvis shell -c 'python benchmarks/bench_agents.py --episodes 200 --calls 20'

The tools are stand-ins that answer at once, so all that is measured is the harness: process, pipe, checks, transcript,
report, encoding of pictures. Targets on a usual desktop core: under 3 s an episode and 5 ms a call (over HTTP less what
the protocol's own SDK takes, which the last row tells); memory and open files do not grow.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import io
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, cast

import cv2
import httpx2
import mcp_types
import numpy as np
import psutil
from jarvis_agent.cage.isolation import Isolation, find_isolation
from jarvis_agent.mcp_policy import McpPolicy, serve_http
from jarvis_agent.program import Program, ProgramPolicy
from jarvis_agent.repl import ReplPolicy
from jarvis_agent.report import AgentReport
from jarvis_agent.session import Door
from jarvis_agent.toolbox import Layer
from jarvis_core.files import read_json
from jarvis_core.manual import Manual, ManualPage, TaskBrief
from jarvis_core.observation import CameraFrame, CameraIntrinsics, Observation, RobotState
from jarvis_core.ports import Tools
from jarvis_core.pose import Pose
from jarvis_core.skills import SkillResult
from jarvis_core.status import Status
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

SIZE = (480, 640)
#: A count, an action, a picture (which is kept in the transcript).
CALLS = ("budget()", "home()", "look()")
EPISODE_TARGET_S, CALL_TARGET_MS = 3.0, 5.0


def picture() -> NDArray[np.uint8]:
    """(height, width, 3) as a camera sees it: a table, a plate, a few bricks, and noise of two levels."""
    rng = np.random.default_rng(0)
    image = np.full((*SIZE, 3), (226, 214, 196), np.float64)
    image[110:360, 40:290] = (160, 172, 186)
    for row, column in rng.integers((60, 320), (400, 600), (12, 2)):
        image[row : row + 20, column : column + 20] = rng.integers(0, 255, 3)
    return np.clip(image + rng.normal(0.0, 2.0, image.shape), 0, 255).astype(np.uint8)


class StandIns:
    """Answer at once, with pictures of the real size. The rest of ``jarvis_core.ports.Tools`` is not asked for."""

    def __init__(self) -> None:
        page = cv2.imencode(".png", np.zeros((600, 800, 3), np.uint8))[1].tobytes()
        manual = Manual((ManualPage(0, page), ManualPage(1, page)), (), "")
        self._brief = TaskBrief("stand-in", manual, 1, 60.0)
        rgb = picture()
        depth = np.ones(SIZE, np.float32)
        frame = CameraFrame(0.0, rgb, depth, CameraIntrinsics(640, 480, 900, 900, 319.5, 239.5), Pose())
        self._seen = Observation(frame, RobotState(0.0, (0.0,) * 7, 0.08, Pose()))

    def brief(self) -> TaskBrief:
        return self._brief

    def time_s(self) -> float:
        return 0.0

    def observe(self) -> Observation:
        return self._seen

    def home(self) -> SkillResult:
        return SkillResult(Status.SUCCEEDED, "done", {"held": False})


STAND_INS = StandIns()


def tools() -> Tools:
    return cast(Tools, STAND_INS)


def lines(call: str, count: int) -> str:
    """A program that times a call so many times; its last words are the least and the median, in milliseconds."""
    return f"""import time
took = []
for n in range({count}):
    began = time.perf_counter()
    done = {call}
    took.append((time.perf_counter() - began) * 1e3)

took.sort()
finish(f"{{took[0]:.2f}} / {{took[len(took) // 2]:.2f}}")
"""


def doors() -> dict[str, Callable[[str], Door]]:
    def program(isolation: Isolation) -> Callable[[str], Door]:
        return lambda text: ProgramPolicy(Program("bench", text), Layer.PRIMITIVES, isolation)

    return {
        f"program, {find_isolation()}": program(find_isolation()),
        "program, uncaged": program(Isolation.NONE),
        "prompt": lambda text: ReplPolicy("bench", Layer.PRIMITIVES, io.StringIO(text)),
    }


def mcp_row(calls: int) -> tuple[float, list[str]]:
    """Seconds of an empty episode, and least / median ms of each call, of the SDK's client over HTTP."""
    took: dict[str, list[float]] = {name.removesuffix("()"): [] for name in CALLS}

    def ready(address: str, token: str) -> None:
        threading.Thread(target=lambda: asyncio.run(drive(address, token, took, calls))).start()

    with tempfile.TemporaryDirectory() as folder:
        serve = serve_http("127.0.0.1", 0, ready=ready)
        began = time.perf_counter()
        with McpPolicy("bench", Layer.PRIMITIVES, serve) as policy:
            policy.keep_in(Path(folder) / "agent")
            policy.run(tools())
    whole_s = time.perf_counter() - began - sum(map(sum, took.values())) / 1e3
    return whole_s, [least_and_median(times) for times in took.values()]


def bare_mcp(calls: int) -> str:
    """Least / median ms of a call that a server of the SDK answers with two letters: what is not the harness's."""

    async def list_tools(_: Any, __: Any) -> mcp_types.ListToolsResult:
        tool = mcp_types.Tool(name="budget", description="nothing", input_schema={"type": "object"})
        return mcp_types.ListToolsResult(tools=[tool])

    async def call_tool(_: Any, __: Any) -> mcp_types.CallToolResult:
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(text="{}")])

    took: dict[str, list[float]] = {"budget": []}
    told: list[str] = []
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    stop = serve_http("127.0.0.1", 0, ready=lambda *words: told.extend(words))(server, lambda: None)
    asyncio.run(drive(told[0], told[1], took, calls))
    stop()
    return least_and_median(took["budget"])


async def drive(address: str, token: str, took: dict[str, list[float]], calls: int) -> None:
    """Call every tool so often, adding the ms that each call took, and finish."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        for name, times in took.items():
            for _ in range(calls):
                began = time.perf_counter()
                await client.call_tool(name, {})
                times.append((time.perf_counter() - began) * 1e3)
        await client.call_tool("finish", {})


def least_and_median(times: list[float]) -> str:
    return f"{min(times):.2f} / {sorted(times)[len(times) // 2]:.2f}"


def slowness() -> float:
    """How much slower this machine is now than a usual desktop core, by a loop that takes 0.6 s there."""
    began = time.process_time()
    for _ in range(10_000_000):
        pass
    return (time.process_time() - began) / 0.6


def timed(make: Callable[[str], Door], text: str) -> tuple[float, str]:
    """Seconds of one episode on stand-ins, and the program's last words."""
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(io.StringIO()):
        own = Path(folder) / "agent"
        policy = make(text)
        policy.keep_in(own)
        began = time.perf_counter()
        policy.run(tools())
        return time.perf_counter() - began, read_json(own / "report.json", AgentReport).message


def growth(make: Callable[[str], Door], episodes: int, calls: int) -> tuple[float, int, int]:
    """Resident MB, open files and threads gained between the tenth part and the end of so many episodes."""
    me = psutil.Process()
    before = (0, 0, 0)
    for number in range(episodes):
        timed(make, lines("look()", calls))
        if number == episodes // 10:
            gc.collect()
            before = (me.memory_info().rss, me.num_fds(), me.num_threads())
    gc.collect()
    after = (me.memory_info().rss, me.num_fds(), me.num_threads())
    return (after[0] - before[0]) / 2**20, after[1] - before[1], after[2] - before[2]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=20, help="of the caged program, to see what grows")
    parser.add_argument("--calls", type=int, default=100, help="of each episode")
    options = parser.parse_args()
    title = (
        f"targets: {EPISODE_TARGET_S:.0f} s an episode, {CALL_TARGET_MS:.0f} ms a call (least / median ms)"
    )
    table = Table(title=title)
    for column in ("door", "episode s", *CALLS):
        table.add_column(column, justify="left" if column == "door" else "right")
    for name, make in doors().items():
        empty = min(timed(make, "finish()\n")[0] for _ in range(3))
        each = [timed(make, lines(call, options.calls))[1] for call in CALLS]
        table.add_row(name, f"{empty:.2f}", *each)
    whole_s, each = mcp_row(options.calls)
    table.add_row("MCP over HTTP", f"{whole_s:.2f}", *each)
    table.add_row("MCP's SDK alone", "", bare_mcp(options.calls), "", "")
    Console().print(table)
    print(f"this machine: {slowness():.1f} times a usual core's time")
    caged = next(iter(doors().values()))
    megabytes, files, threads = growth(caged, options.episodes, min(options.calls, 20))
    print(
        f"{options.episodes} caged episodes: {megabytes:+.1f} MB, {files:+d} open files, {threads:+d} threads"
    )


if __name__ == "__main__":
    main()
