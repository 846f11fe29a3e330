"""One task through every door of an agent, by one plan that knows where each brick belongs. Prints a table.

./jarvis shell -c 'python benchmarks/bench_doors.py'
./jarvis shell -c 'python benchmarks/bench_doors.py --task tasks/house-s01-s01 --sees true --doors program mcp-http'

Each door is used as its users do: commands in processes of their own, a client of the official SDK for the Model
Context Protocol, the requests of the page for browsers, ros2 launch. The exit status is 0 when every door has the same
score (to a tenth; over ROS motions end at other instants, so its poses differ by micrometres).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_cli.run import play_policy
from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task, write_task
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.ports import Tools
from jarvis_core.pose import Pose
from jarvis_episode.recording.folder import finished, read_score
from jarvis_tasks.store import load_task
from jarvis_tasks.targets import target_objects
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from rich.console import Console
from rich.table import Table

#: The demo's task: six bricks.
MODEL, STEPS = "house", (8, 11)
JARVIS = [sys.executable, "-m", "jarvis_cli"]
TIMEOUT_S = 900.0
TOKEN = "a-token-of-this-benchmark"

#: A brick to find (part, colour), and where it belongs: [x, y, z, qx, qy, qz, qw] in world.
Goal = tuple[str, str, list[float]]

PROGRAM = """goals = {goals!r}
for part, colour, pose in goals:
    for brick in find_brick(part, colour).bricks[:1]:
        done = pick_and_place(brick.id, pose)
        print(part, done.ok, done.reason)

home()
finish("built")
"""


@dataclass(frozen=True)
class Plan:
    """What every door is given."""

    task: Path
    goals: list[Goal]
    sees: str

    @property
    def program(self) -> str:
        return PROGRAM.format(goals=self.goals)

    def words(self, action: str, out: Path, *more: str) -> list[str]:
        """A command of ``jarvis agent``."""
        return [*JARVIS, "agent", action, str(self.task), "--out", str(out), "--sees", self.sees, *more]


class InProcess:
    """A policy class: it has the tools themselves, not the calls of a layer."""

    name = "in-process"
    privileged = False

    def __init__(self, goals: list[Goal]) -> None:
        self._goals = goals

    def run(self, tools: Tools) -> None:
        placed: list[list[float]] = []
        for part, colour, numbers in self._goals:
            alike = [o for o in tools.scene().objects if (o.kind, str(o.colour)) == (part, colour)]
            pose = Pose.from_list(numbers)
            free = [o for o in alike if all(o.pose.distance_to(Pose.from_list(p)) > 0.004 for p in placed)]
            if free and tools.pick_and_place(free[0].id, pose).ok:
                placed.append(numbers)
        tools.home()


def in_process(plan: Plan, out: Path) -> None:
    catalogue = PartCatalogue(LDrawLibrary.find(None))
    play_policy(plan.task, InProcess(plan.goals), 0, out, catalogue, sees=plan.sees, quiet=True)


def program(plan: Plan, out: Path) -> None:
    file = out / "plan.py"
    file.write_text(plan.program)
    run(plan.words("run", out, "--program", str(file)))


def prompt(plan: Plan, out: Path) -> None:
    file = out / "lines.txt"
    file.write_text(plan.program)
    run(plan.words("play", out, "--script", str(file)))


def steps(plan: Plan, out: Path) -> None:
    """Lines of JSON: the program first, then ``continue`` after each placement."""
    command = plan.words("run", out, "--program", "-", "--steps")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"program": plan.program}) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            feedback = json.loads(line)
            assert feedback["look"]["image"]["png_base64"]
            process.stdin.write('{"decision": "continue"}\n')
            process.stdin.flush()


def mcp_stdio(plan: Plan, out: Path) -> None:
    command = plan.words("mcp", out)
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))

    async def drive() -> None:
        async with Client(server, read_timeout_seconds=TIMEOUT_S) as client:
            await build(client, plan.goals)

    asyncio.run(drive())
    # The client leaves when it has its answer; the server still writes its page.
    wait_until(lambda: bool(finished(out)))


def mcp_http(plan: Plan, out: Path) -> None:
    token = out / "token"
    token.write_text(TOKEN)
    words = plan.words("mcp", out, "--http", "--port", "0", "--token-file", str(token))

    async def drive(address: str) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_S) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            await build(client, plan.goals)

    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        asyncio.run(drive(address_of(process)))
        process.communicate()


async def build(client: Client, goals: list[Goal]) -> None:
    """As the program does."""
    for part, colour, pose in goals:
        found = await asked(client, "find_brick", part=part, colour=colour)
        for brick in found["bricks"][:1]:
            await asked(client, "pick_and_place", brick_id=brick["id"], pose=pose)
    await asked(client, "home")
    await asked(client, "finish", message="built")


async def asked(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(name, arguments)
    text = next(block.text for block in answer.content if isinstance(block, TextContent))
    if answer.is_error:
        raise RuntimeError(f"{name}: {text}")
    return dict(json.loads(text))


def page(plan: Plan, out: Path) -> None:
    """What the page in a browser asks for."""
    with subprocess.Popen(plan.words("play", out, "--page"), stderr=subprocess.PIPE, text=True) as process:
        address = urlsplit(address_of(process))
        with httpx2.Client(base_url=f"http://{address.netloc}", timeout=TIMEOUT_S) as http:

            def ask(name: str, **arguments: Any) -> dict[str, Any]:
                call = {"call": name, "arguments": arguments}
                told = http.post(f"/call?{address.query}", json=call).json()
                if "error" in told:
                    raise RuntimeError(f"{name}: {told['error']}")
                return dict(told["answer"])

            for part, colour, pose in plan.goals:
                for brick in ask("find_brick", part=part, colour=colour)["bricks"][:1]:
                    ask("pick_and_place", brick_id=brick["id"], pose=pose)
            ask("home")
            ask("finish", message="built")
        process.communicate()


def over_ros(plan: Plan, out: Path) -> None:
    """In a ROS domain of its own."""
    file = out / "plan.py"
    file.write_text(plan.program)
    seeing = {"perceived": "perception:=true", "true": "true_scene:=true"}
    words = [
        "ros2",
        "launch",
        "jarvis_bringup",
        "episode.launch.py",
        f"task:={plan.task}",
        f"program:={file}",
        f"results:={out}",
        seeing[plan.sees],
    ]
    run(words, ROS_DOMAIN_ID=os.environ.get("ROS_DOMAIN_ID", str(1 + os.getpid() % 100)))


DOORS: dict[str, Callable[[Plan, Path], None]] = {
    "in-process": in_process,
    "program": program,
    "steps": steps,
    "prompt": prompt,
    "mcp-stdio": mcp_stdio,
    "mcp-http": mcp_http,
    "page": page,
    "ros": over_ros,
}


def run(words: list[str], **env: str) -> None:
    """A command to its end; its output is shown where it fails."""
    done = subprocess.run(
        words, env=os.environ | env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"status {done.returncode} of {' '.join(words)}\n{done.stdout}\n{done.stderr}")


def address_of(process: subprocess.Popen[str]) -> str:
    """What a server says it serves at, on its error stream."""
    assert process.stderr is not None
    told = []
    for line in process.stderr:
        told.append(line)
        if "http://" in line:
            return line[line.index("http://") :].strip()
    raise RuntimeError("".join(told))


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError("no record was written")
        time.sleep(0.1)


def make_plan(task: Path | None, sees: str, folder: Path) -> Plan:
    if task is None:
        model = read_model(MODEL, None)
        task = write_task(one_task(model, *STEPS), model, folder / "tasks")
    found = load_task(task)
    cell, catalogue = load_default("cell", CellConfig), PartCatalogue(LDrawLibrary.find(None))
    targets = [t.object for t in target_objects(found, catalogue, cell.plate.pose)]
    return Plan(task, [(t.kind, str(t.colour), t.pose.to_list()) for t in targets], sees)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", type=Path, help="task folder (default: the demo's task, made anew)")
    parser.add_argument("--sees", choices=("perceived", "true"), default="perceived")
    parser.add_argument("--doors", nargs="*", choices=DOORS, default=list(DOORS))
    options = parser.parse_args()
    table = Table(title="one plan through every door")
    for column in ("door", "score", "exact", "calls", "failed", "simulated s", "wall s"):
        table.add_column(column, justify="left" if column == "door" else "right")
    scores: set[float] = set()
    with tempfile.TemporaryDirectory() as folder:
        plan = make_plan(options.task, options.sees, Path(folder))
        for door in options.doors:
            if door == "ros" and shutil.which("ros2") is None:
                table.add_row(door, "no ros2 here: see ./jarvis doctor")
                continue
            out = Path(folder) / door
            out.mkdir()
            began = time.monotonic()
            DOORS[door](plan, out)
            wall_s, score = time.monotonic() - began, read_score(finished(out)[0])
            scores.add(round(score.score, 1))
            cells = [f"{score.score:.4f}", f"{score.s_exact:.0%}", str(score.calls), str(score.failed_calls)]
            table.add_row(door, *cells, f"{score.time_s:.2f}", f"{wall_s:.0f}")
            print(door, *cells, file=sys.stderr, flush=True)
    Console().print(table)
    return 0 if len(scores) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
