"""The standalone program where there is no Isaac Sim."""

from __future__ import annotations

import sys

import pytest
from jarvis_sim.isaac import run


def test_another_python_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "isaacsim", None)
    assert run.main() == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "no Isaac Sim Python" in said[0]
    assert "python.sh" in said[0]
