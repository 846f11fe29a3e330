"""Collections of model files."""

import pytest
from jarvis_core.errors import BadInputError
from jarvis_tasks.dataset.sources import collect

BRICK = "1 4 0 {y} 0 1 0 0 0 1 0 0 0 1 3001.dat\n"


ONE = BRICK.format(y=0)


def write(path, text=ONE):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_folders_with_all_their_kinds_of_files(tmp_path):
    write(tmp_path / "b/house.ldr")
    write(tmp_path / "a/deep/Über house.MPD", BRICK.format(y=1))
    write(tmp_path / "bricks.txt", "2x4 (0,0,0)\n")
    write(tmp_path / "README.txt", "Read me\n")
    write(tmp_path / "picture.png")
    found = collect([tmp_path])
    assert [s.name for s in found.sources] == ["bricks", "house", "Über_house"]
    assert [p.name for p in found.other_texts] == ["README.txt"]
    # Named itself, a text is looked at: the reader says what is wrong with it.
    assert [s.name for s in collect([tmp_path / "README.txt"]).sources] == ["README"]


def test_two_files_of_one_name_keep_it_apart(tmp_path):
    write(tmp_path / "a/house.ldr", BRICK.format(y=1))
    write(tmp_path / "b/House.mpd", BRICK.format(y=2))
    names = [s.name for s in collect([tmp_path]).sources]
    assert len(set(names)) == 2
    assert all(name.lower().startswith("house-") for name in names)
    # Whatever else is there, and in whatever order they are named.
    write(tmp_path / "c/tree.ldr", BRICK.format(y=3))
    again = collect([tmp_path / "c", tmp_path / "b", tmp_path / "a"])
    assert set(names) < {s.name for s in again.sources}


def test_the_same_bytes_are_used_once(tmp_path):
    write(tmp_path / "a.ldr")
    write(tmp_path / "b.ldr")
    found = collect([tmp_path, tmp_path / "a.ldr"])
    assert [s.name for s in found.sources] == ["a"]
    assert [(c.source, c.same_as) for c in found.copies] == [(str(tmp_path / "b.ldr"), "a.ldr")]


def test_a_file_beside_it_counts_for_a_models_hash(tmp_path):
    main = write(tmp_path / "main.ldr", "1 4 0 0 0 1 0 0 0 1 0 0 0 1 Wing.ldr\n")
    before = collect([main]).sources[0].digest
    wing = write(tmp_path / "wing.LDR")
    whole = collect([main]).sources[0].digest
    write(tmp_path / "stranger.ldr", BRICK.format(y=5))
    assert collect([main]).sources[0].digest == whole != before
    write(wing, BRICK.format(y=8))
    assert collect([main]).sources[0].digest != whole


@pytest.mark.parametrize(
    ("name", "words"), [("nothing.ldr", "no such model"), ("a.png", "is no model file"), ("empty", "no .ldr")]
)
def test_what_can_not_be_collected(tmp_path, name, words):
    write(tmp_path / "a.png")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match=words):
        collect([tmp_path / name])
