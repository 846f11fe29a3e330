"""One task through every door, with the same score; agents that misbehave end in scored, explained records."""

from __future__ import annotations

import asyncio
import base64
import importlib
import io
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "jarvis_episode" / "test"))
sys.path.insert(0, str(Path(__file__).parent))

from agent_bench import PAGES, PNG, best_isolation, config
from episode_bench import catalogue, house, play, settings
from jarvis_agent.cage.isolation import Isolation
from jarvis_agent.config import AgentConfig
from jarvis_agent.mcp_policy import McpPolicy, serve_http
from jarvis_agent.program import Program, ProgramPolicy
from jarvis_agent.registry import make_policy, policy_names
from jarvis_agent.repl import ReplPolicy
from jarvis_agent.report import AgentReport
from jarvis_agent.served import Bridge
from jarvis_agent.template import write_template
from jarvis_agent.toolbox import Layer
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.files import read_json
from jarvis_core.manual import PartCount, TaskBrief
from jarvis_core.ports import Policy
from jarvis_episode.runner import EpisodeResult, run_episode
from jarvis_tasks.targets import target_objects
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def goals() -> dict[str, list[float]]:
    """The answer, known to the test: where every brick belongs."""
    found = target_objects(house(), catalogue(), settings().cell.plate.pose)
    return {target.object.id: target.object.pose.to_list() for target in found}


def program(*lines: str) -> str:
    """A program that knows the answer and builds it, then does what ``lines`` say."""
    build = ["for name, pose in goals.items():", "    done = pick_and_place(name, pose)", "home()"]
    return "\n".join([f"goals = {goals()!r}", *build, *lines])


def episode(policy: Policy, results: Path, sees: str = "nothing") -> EpisodeResult:
    parts = tuple(PartCount(brick.part, "", brick.colour, "", 1) for brick in house().targets)
    pages = msgspec.structs.replace(PAGES, parts=parts)
    return run_episode(house(), pages, policy, 0, settings(), catalogue(), results, sees=sees)


def report(result: EpisodeResult) -> AgentReport:
    return read_json(result.folder / "agent" / "report.json", AgentReport)


def transcript(result: EpisodeResult) -> list[dict[str, Any]]:
    lines = (result.folder / "agent" / "transcript.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def built(result: EpisodeResult) -> None:
    """The whole house, and nothing else."""
    assert result.record.outcome == "finished", result.record.outcome_message
    assert result.score.s_exact == 1.0
    assert round(result.score.score, 3) == 100.0
    assert [call.goal.__class__.__name__ for call in result.record.calls] == [
        "PickAndPlaceGoal",
        "PickAndPlaceGoal",
        "HomeGoal",
    ]


# -- the doors


def test_a_caged_program(tmp_path: Path) -> None:
    policy = ProgramPolicy(
        Program("good", program("print(done.reason)", "finish('all built')")),
        Layer.PRIMITIVES,
        best_isolation(),
    )
    result = episode(policy, tmp_path)
    built(result)
    assert result.record.policy.caged
    assert result.record.policy.sees == "nothing"
    told = report(result)
    assert told.isolation == str(best_isolation())
    assert told.message == "all built"
    assert told.programs[0].output == "pick_and_place succeeded\n"
    assert (told.usage.calls, told.usage.failed, told.usage.bad) == (4, 0, 0)
    assert [line.get("call") for line in transcript(result) if "call" in line][:1] == ["pick_and_place"]


def test_a_script_at_the_prompt(tmp_path: Path) -> None:
    lines = program("", "1 / 0", "finish('by hand')").replace("home()", "\nhome()")
    result = episode(ReplPolicy("person", Layer.PRIMITIVES, io.StringIO(lines + "\n")), tmp_path)
    built(result)
    assert not result.record.policy.caged
    assert report(result).message == "by hand"


def test_a_client_of_the_model_context_protocol(tmp_path: Path) -> None:
    """From the manual to the score over HTTP, by the SDK's own client."""
    seen: dict[str, Any] = {}

    async def drive(address: str, token: str) -> None:
        async with httpx2.AsyncClient() as stranger:
            seen["stranger"] = (await stranger.post(address, json={})).status_code
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
            seen["resources"] = [str(r.uri) for r in (await client.list_resources()).resources]
            seen["api"] = (await client.read_resource("jarvis://api")).contents[0]
            seen["page"] = (await client.read_resource("jarvis://manual/1")).contents[0]
            seen["look"] = (await client.call_tool("look", {})).content
            seen["bad"] = await client.call_tool("pick", {"brick_id": 1})
            for name, pose in goals().items():
                await client.call_tool("pick_and_place", {"brick_id": name, "pose": pose})
            await client.call_tool("home", {})
            seen["end"] = (await client.call_tool("finish", {"message": "done"})).content

    threads: list[threading.Thread] = []

    def ready(address: str, token: str) -> None:
        threads.append(threading.Thread(target=lambda: asyncio.run(drive(address, token))))
        threads[0].start()

    serve = serve_http("127.0.0.1", 0, ready=ready)
    with McpPolicy("client", Layer.PRIMITIVES, serve) as policy:
        result = episode(policy, tmp_path)
    threads[0].join(60)
    built(result)
    assert not result.record.policy.caged
    assert report(result).message == "done"
    assert seen["stranger"] == 401
    assert {"look", "pick_and_place", "finish"} <= set(seen["tools"])
    assert seen["resources"] == ["jarvis://api", "jarvis://task", "jarvis://manual/0", "jarvis://manual/1"]
    assert "### pick_and_place" in seen["api"].text
    assert base64.b64decode(seen["page"].blob) == PNG
    assert [block.type for block in seen["look"]] == ["text", "image"]
    assert seen["bad"].is_error
    assert "recorded" in seen["end"][0].text


def test_calls_that_wait_for_an_episode_are_told_that_there_is_none() -> None:
    bridge = Bridge({}, TaskBrief("none", PAGES, 1, 1.0), "")
    waiting = bridge.ask("home", {})
    bridge.end("the cell can't be built")
    with pytest.raises(BadInputError, match="the cell can't be built"):
        waiting.result(60)
    with pytest.raises(BadInputError, match="the cell can't be built"):
        bridge.ask("home", {})


def test_a_policy_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an installed package declares it."""
    folder = write_template("my_agent", tmp_path)
    info = folder / "my_agent-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-agent\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[jarvis.policies]\nmy_agent = my_agent:MyAgent\n")
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    assert "my_agent" in policy_names()
    policy = make_policy("my_agent")
    monkeypatch.delitem(sys.modules, "my_agent")
    result = play(policy, tmp_path / "results")
    assert result.record.outcome == "finished"
    assert result.record.policy.name == "my_agent"
    assert [call.goal.__class__.__name__ for call in result.record.calls] == ["HomeGoal"]


@pytest.mark.parametrize("name", ["My Agent", "class", "9lives", "../x", ""])
def test_bad_names_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="is no name for a policy"):
        write_template(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_template_is_never_written_over(tmp_path: Path) -> None:
    write_template("mine", tmp_path)
    with pytest.raises(RefusedError, match="is there already"):
        write_template("mine", tmp_path)


# -- agents that misbehave

BAD_AGENTS = {
    "slow": ("while True: pass", {"own_s": 1.0}, "stopped", "its time is used up"),
    "crashing": ("x = 1\nx.y", {}, "crashed", "line 2: AttributeError: 'int' object has no attribute 'y'"),
    "silent": ("import time\ntime.sleep(1000)", {"silence_s": 1.0}, "stopped", "no call for 1 s"),
    "chattering": (
        "while True: print('x' * 1000)",
        {"output_kb": 100},
        "stopped",
        "printed more than 100 KB",
    ),
    "asking": ("while True: budget()", {}, "stopped", "the limit of 30 calls of the tools is reached"),
    "malicious": (
        "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'\\xff' * 100)\n    except OSError: pass\nbudget()",
        {},
        "crashed",
        "through the pipe; ended",
    ),
}


@pytest.mark.parametrize("name", BAD_AGENTS)
def test_bad_agents_end_in_scored_and_explained_records(name: str, tmp_path: Path) -> None:
    source, changed, outcome, words = BAD_AGENTS[name]
    whole = config()
    changed_config = msgspec.structs.replace(
        whole, max_calls=30, program=msgspec.structs.replace(whole.program, **changed)
    )
    policy = ProgramPolicy(
        Program(name, source), Layer.PRIMITIVES, best_isolation(), changed_config, checked=False
    )
    result = episode(policy, tmp_path)
    assert result.record.outcome == outcome
    assert words in result.record.outcome_message
    assert result.score.score == 0.0
    assert (result.folder / "score.json").is_file()
    assert report(result).programs[-1].reason not in ("finished", "")


def test_a_program_that_breaks_the_rules_is_not_run() -> None:
    with pytest.raises(BadInputError, match="line 1: os can't be imported"):
        ProgramPolicy(Program("bad", "import os"), Layer.PRIMITIVES, Isolation.NONE)


def test_limits_are_the_same_for_every_agent() -> None:
    assert isinstance(config(), AgentConfig)
    assert ProgramPolicy(Program("a", ""), Layer.GENERIC, Isolation.NONE).config == config()


# -- seeing


def test_agents_and_skills_see_for_themselves(tmp_path: Path) -> None:
    source = """
found = find_brick()
assert found.source == "perceived", found
assert [b.id[:5] for b in found.bricks] == ["seen-"] * 2, found
assert {b.part for b in found.bricks} == {"3003"}, found
lying = describe_brick(found.bricks[0].id)
assert lying.ok and lying.brick.where == "loose", lying
true_name = pick("b001")
assert not true_name.ok and "seen-" in true_name.reason, true_name
"""
    policy = ProgramPolicy(Program("seeing", source), Layer.PRIMITIVES, best_isolation())
    result = episode(policy, tmp_path, sees="perceived")
    assert result.record.outcome == "finished", result.record.outcome_message
    assert result.record.policy.sees == result.record.scene_source == "perceived"


def test_a_client_over_standard_streams(tmp_path: Path) -> None:
    """The server is a process of its own, as clients start it; its tools are stand-ins, and late."""
    server = (
        "import sys, time; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "from agent_bench import fake_tools\n"
        "from jarvis_agent.mcp_policy import McpPolicy, serve_stdio\n"
        "from jarvis_agent.toolbox import Layer\n"
        "with McpPolicy('stdio', Layer.GENERIC, serve_stdio()) as policy:\n"
        "    tools, own = fake_tools(), Path(sys.argv[2])\n"
        "    policy.open(tools.brief())\n"
        "    while not own.exists(): time.sleep(0.02)\n"
        "    policy.keep_in(own)\n"
        "    policy.run(tools)\n"
    )
    here, own = str(Path(__file__).parent), str(tmp_path / "agent")
    words = StdioServerParameters(
        command=sys.executable, args=["-c", server, here, own], env=dict(os.environ)
    )

    async def drive() -> list[Any]:
        async with Client(words, read_timeout_seconds=60) as client:
            # What is known before there is a cell is answered before there is one.
            assert "cloud" in [tool.name for tool in (await client.list_tools()).tools]
            assert (await client.read_resource("jarvis://manual/1")).contents
            Path(own).mkdir()
            image = await client.call_tool("image", {})
            refused = await client.call_tool("fly", {})
            cloud = await client.call_tool("cloud", {"every": 1})
            end = await client.call_tool("finish", {})
            return [image, refused, cloud, end]

    image, refused, cloud, end = asyncio.run(drive())
    assert [block.type for block in image.content] == ["text", "image"]
    assert refused.is_error
    assert json.loads(cloud.content[0].text)["points"]["rows"] == 23
    assert json.loads(end.content[0].text)["ok"]
    told = read_json(Path(own) / "report.json", AgentReport)
    assert told.usage.by_name == {"image": 1, "?": 1, "cloud": 1, "finish": 1}
