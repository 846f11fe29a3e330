from bootstrap.paths import Layout
from bootstrap.stamps import Stamp, digest, write_atomically


def test_a_step_never_finished_has_no_current_stamp(layout: Layout) -> None:
    assert not Stamp(layout, "venv").is_current("anything")


def test_a_written_stamp_is_current_until_what_it_was_made_from_changes(layout: Layout) -> None:
    stamp = Stamp(layout, "venv")
    stamp.write("one")
    assert stamp.is_current("one")
    assert not stamp.is_current("two")


def test_a_step_killed_after_it_began_is_done_again(layout: Layout) -> None:
    stamp = Stamp(layout, "venv")
    stamp.write("one")
    stamp.clear()
    assert not stamp.is_current("one")


def test_borders_between_parts_count_in_a_digest() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
    assert digest(["a", b"b"]) == digest([b"a", "b"])


def test_an_atomic_write_leaves_no_temporary_file(layout: Layout) -> None:
    write_atomically(layout.state / "x", "one")
    write_atomically(layout.state / "x", "two")
    assert [path.name for path in layout.state.iterdir()] == ["x"]
    assert (layout.state / "x").read_text() == "two"
