"""Finding files in a parts library, folder or archive."""

import zipfile
from pathlib import Path

import pytest
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError

FILES = {
    "LDConfig.ldr": "0 !COLOUR Red CODE 4 VALUE #B40000 EDGE #333333\n",
    "PARTS/Brick.DAT": "0 Brick\n1 16 0 0 0 1 0 0 0 1 0 0 0 1 s\\brick1.dat\n",
    "PARTS/S/Brick1.dat": "0 ~Subpart\n3 16 0 0 0 1 0 0 0 1 0\n",
    "PARTS/old.dat": "0 ~Moved to brick\n1 16 0 0 0 1 0 0 0 1 0 0 0 1 brick.dat\n",
    "PARTS/ring1.dat": "0 ~Moved to ring2\n",
    "PARTS/ring2.dat": "0 ~Moved to ring1\n",
    "p/edge.dat": "0 Edge\n2 24 0 0 0 1 0 0\n",
    "p/8/edge.dat": "0 Edge 8\n2 24 0 0 0 1 0 0\n",
    "p/48/edge.dat": "0 Edge 48\n2 24 0 0 0 1 0 0\n",
    "UnOfficial/parts/new.dat": "0 New\n3 16 0 0 0 1 0 0 0 1 0\n",
}


@pytest.fixture(params=["folder", "zip"])
def tiny(request: pytest.FixtureRequest, tmp_path: Path) -> LDrawLibrary:
    if request.param == "zip":
        path = tmp_path / "complete.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in FILES.items():
                archive.writestr(f"ldraw/{name}", text)
        return LDrawLibrary(path)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return LDrawLibrary(tmp_path)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("BRICK.dat", "Brick"),
        ("S\\BRICK1.DAT", "~Subpart"),
        ("edge.dat", "Edge"),
        ("48\\edge.dat", "Edge 48"),
        ("8/edge.dat", "Edge 8"),
        ("new.dat", "New"),
    ],
)
def test_lookup(tiny: LDrawLibrary, name: str, title: str) -> None:
    section = tiny.section(name)
    assert section is not None
    assert section.title == title


def test_absent_files_are_none(tiny: LDrawLibrary) -> None:
    assert tiny.section("nothing.dat") is None
    assert tiny.resolve("nothing.dat") is None
    assert tiny.text("nothing.txt") is None


def test_moved_files_are_followed(tiny: LDrawLibrary) -> None:
    section = tiny.resolve("old.dat")
    assert section is not None
    assert section.name == "brick.dat"
    with pytest.raises(BadInputError, match=r"ring1\.dat -> ring2\.dat"):
        tiny.resolve("ring1.dat")


def test_low_resolution_primitives(tiny: LDrawLibrary) -> None:
    section = tiny.low_resolution("edge.dat")
    assert section is not None
    assert section.title == "Edge 8"
    assert tiny.low_resolution("brick.dat") is None


def test_other_files_and_part_names(tiny: LDrawLibrary) -> None:
    assert tiny.text("ldconfig.LDR") == FILES["LDConfig.ldr"].encode()
    assert tiny.part_names() == ["brick", "old", "ring1", "ring2"]


def test_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "parts").mkdir(parents=True)
        (tmp_path / name / "parts" / "a.dat").write_text("0 A\n")
    monkeypatch.setenv("LDRAWDIR", str(tmp_path / "one"))
    found = LDrawLibrary.find(tmp_path / "two")
    assert found is not None
    assert found.root == tmp_path / "two"
    by_variable = LDrawLibrary.find(None)
    assert by_variable is not None
    assert by_variable.root == tmp_path / "one"
    monkeypatch.delenv("LDRAWDIR")
    monkeypatch.setattr("jarvis_bricks.library.USUAL_FOLDERS", (tmp_path / "none", tmp_path / "two"))
    usual = LDrawLibrary.find(None)
    assert usual is not None
    assert usual.root == tmp_path / "two"
    monkeypatch.setattr("jarvis_bricks.library.USUAL_FOLDERS", ())
    assert LDrawLibrary.find(None) is None


def test_a_named_folder_without_parts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no LDraw library"):
        LDrawLibrary.find(tmp_path)
