"""jarvis manual: files as asked for, one line for mistakes, nothing half-written."""

import io
import os

import pytest
from jarvis_cli.__main__ import main
from jarvis_core.errors import MissingCapabilityError
from jarvis_render.gl import shared_context
from PIL import Image


@pytest.fixture(autouse=True)
def _drawing():
    try:
        shared_context()
    except MissingCapabilityError as error:
        pytest.skip(error.line())


def test_a_model_becomes_pages_a_book_and_a_sheet(tmp_path, capsys):
    assert main(["manual", "render", "house", "--size", "160x128", "--out", str(tmp_path)]) == 0
    folder = tmp_path / "house-classic"
    assert capsys.readouterr().out.strip() == str(folder)
    pages = sorted(folder.glob("page-*.png"))
    assert len(pages) == 11
    assert Image.open(pages[0]).size == (160, 128)
    assert (folder / "house.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "sheet.png").is_file()
    assert "u = " in (folder / "axes.txt").read_text()


def test_the_same_seed_gives_the_same_files(tmp_path):
    for name in ("a", "b"):
        command = ["manual", "render", "duck", "--style", "scan", "--seed", "4", "--size", "96"]
        assert main([*command, "--out", str(tmp_path / name)]) == 0
    files = sorted(p.name for p in (tmp_path / "a" / "duck-scan").iterdir())
    assert len(files) > 5
    for name in files:
        first, second = (tmp_path / side / "duck-scan" / name for side in ("a", "b"))
        assert first.read_bytes() == second.read_bytes(), name


def test_several_processes_draw_what_one_draws(tmp_path, monkeypatch):
    from jarvis_cli import manual

    monkeypatch.setattr(manual, "_WORTH_SHARING", 2)
    for jobs in ("1", "2"):
        command = ["manual", "render", "duck", "--size", "96", "--format", "png", "--jobs", jobs]
        assert main([*command, "--out", str(tmp_path / jobs)]) == 0
    pages = sorted((tmp_path / "1" / "duck-classic").glob("*.png"))
    assert len(pages) == 9
    for page in pages:
        assert page.read_bytes() == (tmp_path / "2" / "duck-classic" / page.name).read_bytes()


def test_a_task_is_drawn_in_another_style(tmp_path):
    assert main(["tasks", "cut", "house", "--steps", "2-3", "--out", str(tmp_path / "tasks")]) == 0
    task = tmp_path / "tasks" / "house-s02-s03"
    assert (
        main(["manual", "render", str(task), "--style", "faded", "--size", "96", "--out", str(tmp_path)]) == 0
    )
    assert len(list((tmp_path / "house-s02-s03-faded").glob("page-*.png"))) == 3


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (["--size", "8"], "64 to 4096"),
        (["--size", "100000"], "64 to 4096"),
        (["--size", "big"], "no size"),
        (["--style", "cubist"], "one of classic"),
        (["--format", "gif"], "unknown format"),
        (["--steps", "77"], "pages 1-11"),
        (["--perspective", "200"], "perspective_deg"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(mistake, words, tmp_path, capsys):
    assert main(["manual", "render", "house", "--out", str(tmp_path / "out"), *mistake]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_of_someone_else_is_not_written_over(tmp_path, capsys):
    folder = tmp_path / "house-classic"
    folder.mkdir()
    (folder / "mine.txt").write_text("x")
    assert main(["manual", "render", "house", "--size", "64", "--out", str(tmp_path)]) == 2
    assert "holds something else" in capsys.readouterr().err
    assert [p.name for p in tmp_path.rglob("*")] == ["house-classic", "mine.txt"]


def test_a_failure_while_writing_keeps_the_old_manual(tmp_path, monkeypatch, capsys):
    from jarvis_cli import manual

    command = ["manual", "render", "house", "--size", "64", "--format", "png", "--out", str(tmp_path)]
    assert main(command) == 0
    before = sorted(p.name for p in tmp_path.rglob("*"))

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(manual, "write_text", full)
    assert main(command) == 2
    assert "no space" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.rglob("*")) == before


def test_part_and_colours(tmp_path):
    part = tmp_path / "brick.png"
    assert main(["manual", "part", "3001", "--size", "64", "--out", str(part)]) == 0
    assert Image.open(io.BytesIO(part.read_bytes())).size == (64, 64)
    assert main(["manual", "part", "nosuch", "--out", str(tmp_path / "no.png")]) == 2
    assert not (tmp_path / "no.png").exists()
    assert main(["manual", "colours", "--out", str(tmp_path / "chart.png")]) == 0


def test_a_process_that_dies_is_told_in_one_line(tmp_path, monkeypatch, capsys):
    from jarvis_cli import manual

    monkeypatch.setattr(manual, "_WORTH_SHARING", 2)
    monkeypatch.setattr(manual, "_start_worker", os.abort)
    command = ["manual", "render", "duck", "--size", "64", "--jobs", "2", "--out", str(tmp_path / "out")]
    assert main(command) == 2
    assert "--jobs 1" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
