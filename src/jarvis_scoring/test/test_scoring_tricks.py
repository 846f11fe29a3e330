"""Cheap tricks score what the documentation says; the order and the place of everything are of no importance."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
import score_tricks
from episode_factory import BRICKS, TABLE, make_record, start_pose, target_pose
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.cell import Region
from jarvis_core.episode import EpisodeRecord
from jarvis_core.objects import RigidObject, WorldState
from jarvis_core.pose import Pose
from jarvis_scoring.brick_score import score
from jarvis_scoring.inputs import ScoreInput
from score_tricks import CONFIG

DOCUMENT = Path(__file__).parents[3] / "docs" / "scoring.md"
PROTOCOLS = sorted(CONFIG.protocols)
#: Wide enough that nothing leaves it, however everything is moved.
EVERYWHERE = Region(x=(-9.0, 9.0), y=(-9.0, 9.0))


def test_the_documentation_shows_the_table_as_it_is() -> None:
    assert score_tricks.markdown() in DOCUMENT.read_text(encoding="utf-8")


def test_a_trick_never_reaches_a_build_and_never_counts_as_exact() -> None:
    scores = {row[0]: float(row[1]) for row in score_tricks.rows()}
    exact = {row[0]: float(row[-1]) for row in score_tricks.rows()}
    assert scores["nothing"] == 0.0
    assert scores["every brick nudged by a centimetre"] < 2.0
    for name in ("poured onto the place", "laid in a row beside the place"):
        # What is only near earns completion, half of the score, and little more.
        assert scores[f"every brick {name}"] < 60.0
    assert all(exact[name] == 0.0 for name in exact if "off" in name or "mirror" in name or "every" in name)
    assert scores["built, but one stud off"] < scores["built"] == 100.0


poses = st.builds(
    lambda brick, x, y, z, yaw: target_pose(brick).translated((x, y, z)) @ Pose.from_yaw((0, 0, 0), yaw),
    st.sampled_from(sorted(BRICKS)),
    *[st.floats(-0.06, 0.06)] * 2,
    st.floats(0.0, 0.03),
    st.floats(-3.0, 3.0),
)
finals = st.fixed_dictionaries({}, optional=dict.fromkeys(BRICKS, poses))


def moved(what: ScoreInput, by: Pose) -> ScoreInput:
    def thing(one: RigidObject) -> RigidObject:
        return msgspec.structs.replace(one, pose=by @ one.pose)

    def state(one: WorldState) -> WorldState:
        objects = tuple(msgspec.structs.replace(o, pose=by @ o.pose) for o in one.objects)
        return msgspec.structs.replace(one, objects=objects)

    return msgspec.structs.replace(
        what,
        objects=tuple(map(thing, what.objects)),
        targets=tuple(msgspec.structs.replace(t, object=thing(t.object)) for t in what.targets),
        initial=state(what.initial),
        final=state(what.final),
    )


def state_of(record: EpisodeRecord) -> ScoreInput:
    return msgspec.structs.replace(ScoreInput.from_record(record), table=EVERYWHERE)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=30, deadline=None)
@given(final=finals, x=st.floats(-2, 2), y=st.floats(-2, 2), z=st.floats(-1, 1), yaw=st.floats(-3.2, 3.2))
def test_moving_everything_changes_nothing(
    protocol: str, final: dict[str, Pose], x: float, y: float, z: float, yaw: float
) -> None:
    """Turned about the vertical: errors along z are part of the score."""
    given_ = state_of(make_record(final))
    there = moved(given_, Pose.from_yaw((x, y, z), yaw))
    here, away = score(given_, CONFIG, protocol=protocol), score(there, CONFIG, protocol=protocol)
    assert away.score == pytest.approx(here.score, abs=1e-6)
    assert [b.exact for b in away.bricks] == [b.exact for b in here.bricks]


@settings(max_examples=30, deadline=None)
@given(final=finals, data=st.data())
def test_the_order_of_everything_is_of_no_importance(final: dict[str, Pose], data: st.DataObject) -> None:
    given_ = state_of(make_record(final))

    def mixed[T](items: tuple[T, ...]) -> tuple[T, ...]:
        return tuple(data.draw(st.permutations(items)))

    other = msgspec.structs.replace(
        given_,
        objects=mixed(given_.objects),
        targets=mixed(given_.targets),
        initial=msgspec.structs.replace(given_.initial, objects=mixed(given_.initial.objects)),
        final=msgspec.structs.replace(
            given_.final,
            objects=mixed(given_.final.objects),
            connections=mixed(given_.final.connections),
        ),
    )
    assert score(other, CONFIG).score == pytest.approx(score(given_, CONFIG).score, abs=1e-9)


def test_the_factory_leaves_room_on_its_table() -> None:
    """Else a trick would be judged by the table's edge."""
    reach = [start_pose(b).position for b in BRICKS] + [target_pose(b).position for b in BRICKS]
    assert all(TABLE.x[0] + 0.1 < x < TABLE.x[1] - 0.1 and abs(y) < TABLE.y[1] - 0.1 for x, y, _ in reach)
    assert math.isclose(score(make_record(), CONFIG).score, 100.0)
