"""``jarvis bricks``: models as people look at them, good and bad."""

import io
import os
from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from PIL import Image

UNIT = "1 0 0 0 1 0 0 0 1"


def test_show_a_shipped_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "house.png"
    assert main(["bricks", "show", "house", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "bricks    16 of 8 parts in 9 colours, 11 steps" in told
    assert "size      10.0 x 4.0 studs, 80 x 32 x 48 mm" in told
    assert "order     16 of 16 bricks can be placed in turn with stock fingertips" in told
    image = Image.open(io.BytesIO(out.read_bytes())).convert("RGB")
    assert image.size == (1024, 1024)
    # The two red roof pieces: plenty of pixels that are much more red than anything else.
    red = sum(count for count, (r, g, b) in image.getcolors(1 << 24) if r > 120 and g < 60 and b < 60)
    assert red > 5000


def test_problems_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.ldr"
    lines = [
        "0 Odd",
        f"1 4 0 0 0 {UNIT} 3003.dat",
        f"1 4 0 -8 0 {UNIT} 3003.dat",
        f"1 4 400 -240 0 {UNIT} 3003.dat",
    ]
    lines += ["1 4 100 0 0 -1 0 0 0 1 0 0 0 1 3003.dat"]
    path.write_text("\n".join(lines))
    assert main(["bricks", "show", str(path), "--no-picture", "--fingers", "slim"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "loose 2 bricks joined by no stud" in told
    assert "b002 (3003, odd.ldr:3), b003 (3003, odd.ldr:4)" in told
    assert "overlap b001 (3003, odd.ldr:2) and b002 (3003, odd.ldr:3) share 6.4 mm" in told
    assert "mirrored 1 bricks" in told
    assert "with slim fingertips" in told
    assert not list(tmp_path.glob("*.png"))


def test_unknown_fingertips_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bricks", "show", "house", "--no-picture", "--fingers", "long"]) == 2
    assert "no fingertips 'long' - use one of slim, stock" in capsys.readouterr().err


def test_one_bad_model_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "good.ldr").write_text(f"1 4 0 0 0 {UNIT} 3003.dat\n")
    (tmp_path / "deep" / "Tower.TXT").write_text("2x4 (0,0,0)\n2x4 (0,0,1)\n")
    (tmp_path / "broken.ldr").write_text("0 x\n1 4 0 0 0\n")
    (tmp_path / "junk.mpd").write_bytes(b"\x00\x01\x02")
    (tmp_path / "lacking.ldr").write_text(f"1 4 0 0 0 {UNIT} nothing.dat\n")
    (tmp_path / "circle.mpd").write_text(f"0 FILE a.ldr\n1 4 0 0 0 {UNIT} a.ldr\n")
    (tmp_path / "gone.ldr").symlink_to(tmp_path / "nowhere")
    assert main(["bricks", "check", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "2 of 7 models are read" in told
    for words in (
        "broken.ldr:2: a broken line",
        "junk.mpd:1: is no LDraw text",
        "lacking.ldr:1: part nothing.dat is neither",
        "circle.mpd:1: a circle of submodels",
        "gone.ldr: no such file",
    ):
        assert words in told


def test_folders_without_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bricks", "check", str(tmp_path)]) == 2
    assert main(["bricks", "check", str(tmp_path / "none")]) == 2
    assert "is no folder" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    assert main(["bricks", "check", str(tmp_path)]) == 2
    assert "can't be read" in capsys.readouterr().err
