"""Geometry kept on disk: the same as computed, never stale, safe when shared."""

import multiprocessing
import os
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import PartGeometry
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.part_cache import PartCache

UNIT = "0 0 0 1 0 0 0 1 0 0 0 1"
FACE = "0 BFC CERTIFY CCW\n3 16 0 0 0 {} 0 0 0 10 0\n"


def assert_equal(a: object, b: object) -> None:
    if is_dataclass(a):
        for field in fields(a):
            assert_equal(getattr(a, field.name), getattr(b, field.name))
    elif isinstance(a, np.ndarray):
        assert isinstance(b, np.ndarray)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b)
    else:
        assert a == b


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A library of one part made of one primitive."""
    root = tmp_path / "library"
    (root / "parts").mkdir(parents=True)
    (root / "p").mkdir()
    (root / "parts" / "thing.dat").write_text(f"0 Thing\n0 BFC CERTIFY CCW\n1 16 {UNIT} face.dat\n")
    (root / "p" / "face.dat").write_text("0 Face\n" + FACE.format(20))
    return root


def width(root: Path, cache: PartCache | None) -> float:
    return float(PartCatalogue(LDrawLibrary(root), cache=cache).geometry("thing").bounds[1, 0])


def test_an_entry_is_the_same_as_computed(library: LDrawLibrary, tmp_path: Path) -> None:
    cache = PartCache(tmp_path / "cache")
    for part in ("3001", "4070", "3937", "3062b", "54200"):
        computed = PartCatalogue(library, cache=None).geometry(part)
        PartCatalogue(library, cache=cache).geometry(part)
        loaded = PartCatalogue(library, cache=cache).geometry(part)
        assert isinstance(loaded, PartGeometry)
        assert loaded is not computed
        assert_equal(computed, loaded)
    assert len(list(cache.folder.iterdir())) == 5


def test_it_is_used_until_a_file_changes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = PartCache(tmp_path / "cache")
    assert width(folder, cache) == pytest.approx(0.008)
    with monkeypatch.context() as patched:
        patched.delattr("jarvis_bricks.catalogue.library_geometry")
        assert width(folder, cache) == pytest.approx(0.008)
    (folder / "p" / "face.dat").write_text("0 Face\n" + FACE.format(40))
    assert width(folder, cache) == pytest.approx(0.016)
    assert width(folder, cache) == pytest.approx(0.016)
    # A simpler primitive that was not there before.
    (folder / "p" / "8").mkdir()
    (folder / "p" / "8" / "face.dat").write_text("0 Face\n" + FACE.format(60))
    low = PartCatalogue(LDrawLibrary(folder), cache=cache).geometry("thing").low_poly
    assert float(low.vertices[:, 0].max()) == pytest.approx(0.024)


def test_other_code_makes_other_entries(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = PartCache(tmp_path / "cache")
    width(folder, cache)
    monkeypatch.setattr("jarvis_bricks.part_cache._code_digest", lambda: "other")
    width(folder, cache)
    assert len(list(cache.folder.iterdir())) == 2


@pytest.mark.parametrize("damage", ["empty", "half", "flipped"])
def test_a_damaged_entry_is_made_anew(folder: Path, tmp_path: Path, damage: str) -> None:
    cache = PartCache(tmp_path / "cache")
    width(folder, cache)
    (entry,) = cache.folder.iterdir()
    whole = entry.read_bytes()
    flipped = whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]
    entry.write_bytes({"empty": b"", "half": whole[: len(whole) // 2], "flipped": flipped}[damage])
    assert width(folder, cache) == pytest.approx(0.008)
    assert entry.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_told(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    assert width(folder, PartCache(tmp_path / "file" / "cache")) == pytest.approx(0.008)
    assert "can't be written" in caplog.text


def test_the_oldest_entries_go_first(tmp_path: Path) -> None:
    cache = PartCache(tmp_path)
    for age in range(5):
        path = tmp_path / f"{age}.part"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    assert cache.prune(250) == 200
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.part", "1.part"]


def _mesh_many(root: Path, folder: Path) -> list[float]:
    return [width(root, PartCache(folder)) for _ in range(20)]


def test_processes_share_it(folder: Path, tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        widths = pool.starmap(_mesh_many, [(folder, tmp_path / "cache")] * 3)
    assert {round(w, 6) for found in widths for w in found} == {0.008}
    assert [p.suffix for p in (tmp_path / "cache").iterdir()] == [".part"]


def test_it_can_be_switched_off_and_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    default = PartCache.default()
    assert default is not None
    assert default.folder == tmp_path / "jarvis" / "parts"
    monkeypatch.setenv("JARVIS_PART_CACHE", "off")
    assert PartCache.default() is None
