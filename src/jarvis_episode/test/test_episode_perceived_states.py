"""The task's bricks by name from what perception sees: named, followed, lost, found again, joined, scored."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_core.objects import RigidObject, TargetObject
from jarvis_core.pose import Pose
from jarvis_core.seen import ColourGuess, PartGuess, SeenBrick, SeenScene, SeenStructure, SideUp
from jarvis_episode.perceived_states import PerceivedStates
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.inputs import ScoreInput
from jarvis_tasks.targets import scene_objects, target_objects

CELL = load_default("cell", CellConfig)
CATALOGUE = PartCatalogue(None)
TASK = one_task(read_model("house", None), 2, 3)
TARGETS = target_objects(TASK, CATALOGUE, CELL.plate.pose)
STRUCTURE = scene_objects(TASK, CATALOGUE, CELL.plate.pose)
BARE = SeenStructure(((0,) * CELL.plate.studs[1],) * CELL.plate.studs[0], (), ())


def seen_brick(own: str, thing: RigidObject, pose: Pose, *, part: str = "", **changes: object) -> SeenBrick:
    brick = SeenBrick(
        id=own,
        colour=ColourGuess(thing.colour, "", 1.0),
        size_studs=(2.0, 2.0),
        height_plates=3.0,
        candidates=(PartGuess(part or thing.kind, 0.9),),
        pose=pose,
        covariance=(0.0,) * 36,
        side_up=SideUp.STUDS,
        studs=4,
        boxes=thing.boxes,
        graspable=True,
        reason="",
        fit_m=0.0,
    )
    return msgspec.structs.replace(brick, **changes)


def on_table(number: int) -> Pose:
    return Pose((0.3, -0.3 + 0.05 * number, 0.0))


def look(*bricks: SeenBrick, time_s: float = 0.0) -> SeenScene:
    return SeenScene(time_s, bricks, BARE)


def laid_out() -> list[SeenBrick]:
    """The targets' bricks in another order than the task has them."""
    return [seen_brick(f"seen-{k}", target.object, on_table(k)) for k, target in enumerate(reversed(TARGETS))]


def begun() -> PerceivedStates:
    states = PerceivedStates(TARGETS, STRUCTURE, CATALOGUE, CELL)
    states.begin(look(*laid_out()))
    return states


def built(noise: np.ndarray) -> list[SeenBrick]:
    """Every brick at its target, each (x, y, z) off by a row of ``noise`` in metres."""
    names = {brick.pose: brick.id for brick in laid_out()}
    at = {
        thing.id: names[next(o.pose for o in begun().objects if o.id == thing.id)]
        for thing in (t.object for t in TARGETS)
    }
    return [
        seen_brick(at[t.object.id], t.object, Pose(t.object.pose.position + off, t.object.pose.quaternion))
        for t, off in zip(TARGETS, noise, strict=True)
    ]


def scored(states: PerceivedStates, targets: tuple[TargetObject, ...] = TARGETS):
    start = begun()
    given_ = ScoreInput(
        objects=start.objects,
        targets=targets,
        initial=start.state(0.0),
        final=states.state(9.0),
        time_s=9.0,
        budget_s=100.0,
        table=CELL.table,
        states="perceived",
    )
    return score(given_, load_default("score", ScoreConfig))


def test_every_brick_gets_the_name_of_one_of_its_kind() -> None:
    state = begun().state(4.0)
    assert state.time_s == 4.0
    assert {o.id for o in state.objects} == {t.object.id for t in TARGETS} | {o.id for o in STRUCTURE}
    kinds = {brick.pose: (brick.part, brick.colour.code) for brick in laid_out()}
    by_id = {o.id: o.pose for o in state.objects}
    assert all(kinds[by_id[t.object.id]] == (t.object.kind, t.object.colour) for t in TARGETS)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-0.0003, 0.0003), min_size=3 * len(TARGETS), max_size=3 * len(TARGETS)))
def test_a_build_seen_with_the_noise_of_a_camera_is_exact_and_its_score_is_named(noise: list[float]) -> None:
    states = begun()
    states.update(look(*built(np.reshape(noise, (-1, 3)))))
    result = scored(states)
    assert result.s_exact == 1.0, result
    assert result.protocol.endswith("(perceived)")


def test_a_brick_one_stud_off_or_in_the_hand_is_not_joined() -> None:
    noise = np.zeros((len(TARGETS), 3))
    noise[-1, 0] = 0.004
    states = begun()
    states.update(look(*built(noise)))
    assert scored(states).s_exact < 1.0
    bricks = built(np.zeros((len(TARGETS), 3)))
    held = msgspec.structs.replace(bricks[-1], held=True)
    states.update(look(*bricks[:-1], held))
    assert scored(states).s_exact < 1.0
    assert [o.held for o in states.state(0.0).objects].count(True) == 1


def test_names_follow_perceptions_own_and_a_lost_brick_is_missing_until_it_is_found() -> None:
    states = begun()
    first = laid_out()
    name = next(o.id for o in states.state(0.0).objects if o.pose == first[0].pose)
    moved = msgspec.structs.replace(first[0], pose=Pose((0.35, 0.2, 0.0)))
    states.update(look(moved, *first[1:]))
    assert {o.id: o.pose for o in states.state(1.0).objects}[name] == moved.pose
    states.update(look(*first[1:]))
    assert name not in {o.id for o in states.state(2.0).objects}
    states.update(look(msgspec.structs.replace(moved, id="seen-99"), *first[1:]))
    assert {o.id: o.pose for o in states.state(3.0).objects}[name] == moved.pose


def test_an_equal_brick_too_many_is_no_brick_of_the_task() -> None:
    states = begun()
    more = seen_brick("seen-more", TARGETS[0].object, on_table(9))
    states.update(look(*laid_out(), more))
    assert more.pose not in {o.pose for o in states.state(0.0).objects}


@pytest.mark.parametrize("changes", [{"part": "3005"}, {"colour": ColourGuess(71, "", 1.0)}, None])
def test_what_is_not_laid_out_is_named(changes: dict[str, object] | None) -> None:
    first, *others = laid_out()
    thing = TARGETS[-1].object
    wrong = [] if changes is None else [seen_brick("seen-0", thing, first.pose, **changes)]
    states = PerceivedStates(TARGETS, STRUCTURE, CATALOGUE, CELL)
    with pytest.raises(RefusedError, match=rf"1 x {thing.kind} .*lay them where the camera sees them"):
        states.begin(look(*others, *wrong))


def test_cells_that_are_not_as_the_task_has_them_are_told() -> None:
    odd = begun().odd_cells(BARE)
    assert odd
    assert all(seen == 0 and expected > 1 for *_, expected, seen in odd)
    heights = np.zeros(CELL.plate.studs, int)
    for i, j, expected, _ in odd:
        heights[i, j] = expected
    right = SeenStructure(tuple(map(tuple, heights.tolist())), (), ())
    assert begun().odd_cells(right) == ()
