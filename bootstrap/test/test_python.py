"""When the virtual environment is made, when it is only brought up to date, and when it is left alone."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bootstrap import python
from bootstrap.paths import Layout
from bootstrap.python import BasePython


@pytest.fixture
def ran(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What set-up did: "venv" for a new environment, "pip" for an installation; nothing is really run."""
    done: list[str] = []

    def run(command: list[str | Path], _log: Path, **_: object) -> None:
        done.append(str(command[2]))
        if command[2] == "venv":
            layout.venv_python.parent.mkdir(parents=True)
            layout.venv_python.touch()

    def run_together(commands: dict[Path, list[str | Path]], **_: object) -> None:
        done.append("pip")
        assert all("pip" in command for command in commands.values())

    monkeypatch.setattr(python, "run_logged", run)
    monkeypatch.setattr(python, "run_logged_together", run_together)
    return done


def test_it_is_made_once(layout: Layout, base: BasePython, ran: list[str]) -> None:
    python.ensure_venv(layout, base)
    python.ensure_venv(layout, base)
    assert ran == ["venv", "pip"]


def test_new_requirements_are_installed_into_the_one_that_stands(
    layout: Layout, base: BasePython, ran: list[str]
) -> None:
    python.ensure_venv(layout, base)
    (layout.requirements / "test.txt").write_text("numpy==2")
    assert not python.stands(layout, base)
    python.ensure_venv(layout, base)
    assert ran == ["venv", "pip", "pip"]


def test_another_python_or_folder_makes_it_anew(
    layout: Layout, base: BasePython, ran: list[str], tmp_path: Path
) -> None:
    python.ensure_venv(layout, base)
    python.ensure_venv(layout, replace(base, executable=Path("/elsewhere/python3.12")))
    assert ran == ["venv", "pip"] * 2
    moved = Layout(layout.root.rename(tmp_path / "moved"))
    assert not python.stands(moved, base)


def test_an_interrupted_installation_starts_from_nothing(
    layout: Layout, base: BasePython, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    python.ensure_venv(layout, base)
    (layout.requirements / "test.txt").write_text("numpy==2")
    working = python.run_logged_together

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(python, "run_logged_together", interrupted)
    with pytest.raises(KeyboardInterrupt):
        python.ensure_venv(layout, base)
    monkeypatch.setattr(python, "run_logged_together", working)
    python.ensure_venv(layout, base)
    assert ran == ["venv", "pip"] * 2


def test_a_python_that_went_away_is_noticed(layout: Layout, base: BasePython, ran: list[str]) -> None:
    python.ensure_venv(layout, base)
    layout.venv_python.unlink()
    assert not python.stands(layout, base)


@given(st.lists(st.from_regex(r"[a-z]+==[0-9]", fullmatch=True)), st.integers(1, 5))
def test_every_pin_of_a_lock_file_is_in_one_share(pins: list[str], parts: int) -> None:
    shares = python.divide_lock("# Locked\n" + "\n".join(f"{pin}  # via something" for pin in pins), parts)
    assert sorted(pin for share in shares for pin in share) == sorted(pins)
    assert all(shares)
    assert len(shares) == min(parts, len(pins))
    assert max(map(len, shares), default=0) - min(map(len, shares), default=0) <= 1
