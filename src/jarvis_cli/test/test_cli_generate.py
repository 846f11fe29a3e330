"""Models made by chance, from the command line."""

import re
from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from jarvis_cli.limits import cell_limits
from jarvis_core.config import load_default
from jarvis_tasks.generator.config import GeneratorConfig
from PIL import Image

SMALL = ("tasks", "generate", "--families", "rocket,boat", "--sizes", "small", "--count", "3", "--seed", "7")


def test_models_a_table_and_a_sheet_are_written_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, sheet = tmp_path / "models", tmp_path / "sheet.png"
    assert main([*SMALL, "--out", str(out), "--sheet", str(sheet)]) == 0
    told = capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == [
        "boat-small-70000.mpd",
        "rocket-small-70000.mpd",
        "rocket-small-70001.mpd",
    ]
    assert re.search(r"^rocket +2 +\d+-\d+ .* 100\.0 %$", told, re.MULTILINE)
    assert re.search(r"^all +3 ", told, re.MULTILINE)
    assert "3 models in" in told
    assert "0 of them were there" in told
    assert Image.open(sheet).width > 600
    times = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert main([*SMALL, "--out", str(out), "--no-check"]) == 0
    assert "3 of them were there" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == times


def test_a_file_that_holds_something_else_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "rocket-small-70000.mpd"
    mine.write_text("0 Mine\n")
    assert main([*SMALL, "--out", str(tmp_path), "--no-check"]) == 2
    assert "rocket-small-70000.mpd: holds another model" in capsys.readouterr().err
    assert mine.read_text() == "0 Mine\n"


def test_unknown_families_are_told_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "generate", "--families", "house,hovel"]) == 2
    assert "'hovel' is not known" in capsys.readouterr().err


def test_generated_models_leave_room_for_the_configured_gripper() -> None:
    _, limits = cell_limits()
    promised, hand = load_default("generator", GeneratorConfig).fingers, limits.fingers
    assert hand.max_width_m >= promised.max_width_m
    assert hand.thickness_m <= promised.thickness_m
    assert hand.width_m <= promised.width_m
    assert hand.upper_thickness_m <= promised.upper_thickness_m
    assert hand.length_m >= promised.length_m
    assert hand.upper_above_tip_m >= promised.upper_above_tip_m
    assert max(hand.hand_size_m) <= max(promised.hand_size_m)
    assert hand.slack_m <= promised.slack_m
    assert hand.min_depth_m <= promised.min_depth_m
