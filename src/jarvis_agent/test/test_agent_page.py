"""The page for people, by HTTP as a browser asks: what it shows, what it refuses, and an episode to its end."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_bench import PNG, fake_tools
from jarvis_agent.api.primitives import Primitives
from jarvis_agent.page.policy import PagePolicy
from jarvis_agent.page.server import MAX_BODY
from jarvis_agent.report import AgentReport
from jarvis_agent.toolbox import Layer
from jarvis_core.errors import RefusedError
from jarvis_core.files import read_json

TIMEOUT_S = 60


class Browser:
    """Asks as the page does."""

    def __init__(self, address: str) -> None:
        asked = urlsplit(address)
        self.base, self.token = f"http://{asked.netloc}", asked.query.removeprefix("token=")
        self.http = httpx2.Client(timeout=TIMEOUT_S)

    def get(self, path: str, token: str | None = None) -> Any:
        return self.http.get(self.base + path, params={"token": self.token if token is None else token})

    def post(self, body: bytes, path: str = "/call") -> Any:
        return self.http.post(self.base + path, params={"token": self.token}, content=body)

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return dict(self.post(json.dumps({"call": name, "arguments": arguments}).encode()).json())


@pytest.fixture
def episode(tmp_path: Path) -> Any:
    """A browser, and the episode's thread, of one on stand-ins."""
    addresses: list[str] = []
    with PagePolicy("person", Layer.PRIMITIVES, ready=addresses.append) as policy:
        policy.keep_in(tmp_path)
        tools = fake_tools()
        policy.open(tools.brief())
        thread = threading.Thread(target=policy.run, args=(tools,))
        thread.start()
        yield Browser(addresses[0]), thread, policy
        policy.close("the test has ended")
        thread.join(TIMEOUT_S)


def test_a_person_plays_an_episode(episode: Any, tmp_path: Path) -> None:
    browser, thread, policy = episode
    look = browser.call("look")["answer"]
    assert look["image"]["image"].startswith("data:image/jpeg;base64,")
    found = browser.call("find_brick", where="any")["answer"]["bricks"]
    assert {brick["id"] for brick in found} == {"red", "blue", "base"}
    target = browser.call("pose_on", brick_id="red", x_studs=2, y_studs=2)["answer"]
    assert browser.call("pick_and_place", brick_id="red", pose=target["pose"])["answer"]["ok"]
    last: list[dict[str, Any]] = []
    leaving = threading.Thread(target=lambda: last.append(browser.call("finish", message="done")))
    leaving.start()
    thread.join(TIMEOUT_S)
    assert not thread.is_alive()
    assert browser.call("look") == {"error": "the episode is over", "over": "the episode is over"}
    policy.close()
    leaving.join(TIMEOUT_S)
    assert last[0]["answer"]["reason"] == "the episode is over and recorded"
    report = read_json(tmp_path / "report.json", AgentReport)
    assert (report.door, report.message, report.isolation) == ("page", "done", "none")
    assert report.usage.by_name["pick_and_place"] == 1


def test_the_page_is_whole_and_tells_no_more_than_the_calls(episode: Any) -> None:
    browser, _, _ = episode
    answer = browser.get("/")
    page = answer.text
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert browser.token not in page
    assert not [word for word in ("https://", '<link rel="stylesheet"', "<script src") if word in page]
    told = json.loads(page.split("const episode = ", 1)[1].split(";\n", 1)[0])
    assert [call["name"] for call in told["calls"]][-1] == "check_step"
    assert set(told) == {"task", "bricks", "steps", "budget_s", "colours", "calls"}
    assert {call["doc"] for call in told["calls"]} >= {Primitives.look.__doc__}
    assert browser.get("/manual/1").content == PNG
    assert browser.get("/manual/7").status_code == 404


def test_strangers_and_nonsense_are_refused_and_the_episode_lives_on(episode: Any) -> None:
    browser, _, _ = episode
    for path in ("/", "/manual/1", "/call", "/nothing"):
        assert browser.get(path, token="guessed").status_code == 403
        assert browser.http.post(browser.base + path, content=b"{}").status_code == 403
    assert browser.post(b"{}", "/elsewhere").status_code == 404
    for body in (b"", b"[]", b'{"call": 1, "arguments": {}}', b'{"call": "look"}', b"\xff"):
        assert 'is not {"call"' in browser.post(body).json()["error"]
    assert "at most" in browser.post(b" " * (MAX_BODY + 1)).json()["error"]
    assert "there is no call 'fly'" in browser.call("fly")["error"]
    assert not browser.call("pick", brick_id="nobody")["answer"]["ok"]
    assert browser.call("budget")["answer"]["calls"] == 3


def test_a_port_that_is_taken_is_told_in_one_line(episode: Any) -> None:
    browser, _, policy = episode
    taken = PagePolicy("second", Layer.GENERIC, _listening(policy, urlsplit(browser.base).port))
    with pytest.raises(RefusedError, match="can't listen on"):
        taken.open(fake_tools().brief())


def _listening(policy: PagePolicy, port: int | None) -> Any:
    page = msgspec.structs.replace(policy.config.page, port=port)
    return msgspec.structs.replace(policy.config, page=page)
