"""States read in a hurry say the same as those read whole, and what differs is read whole."""

from __future__ import annotations

import math
import struct
from functools import cache
from itertools import pairwise

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.objects import ObjectState, WorldState
from jarvis_core.pose import Pose
from jarvis_episode.recording.messages import OBJECT_STATES_TYPE, Messages
from jarvis_episode.recording.states import StateHead, StateSkimmer

messages = cache(Messages)
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=9)
NUMBERS = st.floats(-1.0, 1.0)
TIMES = st.integers(0, 10**6).map(lambda milliseconds: milliseconds / 1000)


@st.composite
def states(draw: st.DrawFn) -> WorldState:
    names = draw(st.lists(NAMES, max_size=6, unique=True))
    poses = [Pose(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS))) for _ in names]
    pairs = tuple(pairwise(names)) if draw(st.booleans()) else ()
    held = draw(st.booleans())
    objects = tuple(
        ObjectState(name, pose, held and k == 0)
        for k, (name, pose) in enumerate(zip(names, poses, strict=True))
    )
    return WorldState(draw(TIMES), objects, pairs)


def serialized(sequence: int, state: WorldState) -> bytes:
    return bytes(messages().serialized(OBJECT_STATES_TYPE, messages().object_states(sequence, state)))


def shown(data: bytes) -> StateSkimmer:
    skimmer = StateSkimmer()
    skimmer.show(data, messages().types.deserialize_cdr(data, OBJECT_STATES_TYPE))
    return skimmer


@settings(max_examples=40)
@given(states(), TIMES, st.integers(0, 2**64 - 1), NUMBERS)
def test_a_state_like_the_one_before_is_skimmed(
    state: WorldState, time_s: float, sequence: int, x: float
) -> None:
    skimmer = shown(serialized(3, state))
    moved = tuple(msgspec.structs.replace(o, pose=Pose((x, 0.0, 0.0))) for o in state.objects)
    now = serialized(sequence, msgspec.structs.replace(state, time_s=time_s, objects=moved))
    assert skimmer.head(now) == StateHead(sequence, time_s, finite=True)


@settings(max_examples=40)
@given(states(), states())
def test_another_state_is_read_whole(one: WorldState, other: WorldState) -> None:
    names, others = ([o.id for o in s.objects] for s in (one, other))
    held, other_held = ([o.held for o in s.objects] for s in (one, other))
    same = (names, held, one.connections) == (others, other_held, other.connections)
    assert (shown(serialized(0, one)).head(serialized(1, other)) is not None) == same


def test_other_layouts_and_bad_numbers() -> None:
    pair = (ObjectState("a", Pose((0.25, 0.5, 0.75))), ObjectState("bb", Pose()))
    state = WorldState(1.5, pair, ())
    data = serialized(7, state)
    message = messages().types.deserialize_cdr(data, OBJECT_STATES_TYPE)
    skimmer = shown(data)
    assert skimmer.head(data) == StateHead(7, 1.5, finite=True)
    for number in (math.nan, math.inf):
        bad = data.replace(struct.pack("<d", 0.5), struct.pack("<d", number))
        assert skimmer.head(bad) == StateHead(7, 1.5, finite=False)
    big = messages().types.serialize_cdr(message, OBJECT_STATES_TYPE, little_endian=False)
    for other in (bytes(big), data[:-1], data + b"\0", b"", data[:20]):
        assert skimmer.head(other) is None
    skimmer.show(bytes(big), message)
    assert skimmer.head(data) is None
    # What a message says must lie where it is looked for.
    message.sequence = 8
    skimmer.show(data, message)
    assert skimmer.head(data) is None
