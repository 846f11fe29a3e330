"""Linters run beside the tests; what they found is told at the end, and none outlives an interruption."""

import contextlib
import os
import time
from pathlib import Path

import pytest

from bootstrap import testing
from bootstrap.paths import Layout
from bootstrap.prepare import Ready
from bootstrap.ros_choice import RosChoice, RosWay

READY = Ready(RosChoice(RosWay.NONE, ""), {"PATH": os.environ["PATH"], "PYTHONPATH": "/ros", "WORD": "ouch"})


def lint_with(monkeypatch: pytest.MonkeyPatch, **scripts: str) -> None:
    commands = {name: ["sh", "-c", script] for name, script in scripts.items()}
    monkeypatch.setattr(testing, "lint_commands", lambda _layout: commands)


def test_those_that_found_something_are_named_with_what_they_found(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lint_with(monkeypatch, good="echo nothing", bad="echo $WORD in $PWD; exit 1", ros="[ -z $PYTHONPATH ]")
    with testing.linters_beside(layout, READY) as failed:
        assert not failed
    assert failed == ["bad"]
    out, err = capfd.readouterr()
    assert out == f"ouch in {layout.root}\n\n"
    assert err.splitlines() == ["[jarvis] good: ok", "[jarvis] bad: FAILED", "[jarvis] ros: ok"]


def test_an_interruption_ends_them(layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    lint_with(monkeypatch, slow=f"echo $$ > {marker}; exec sleep 600")
    with contextlib.suppress(KeyboardInterrupt), testing.linters_beside(layout, READY):
        while not (marker.exists() and marker.read_text().strip()):
            time.sleep(0.01)
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)
