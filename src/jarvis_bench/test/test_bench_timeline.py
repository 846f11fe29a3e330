"""Where things lie on the timeline."""

from __future__ import annotations

import msgspec
import pytest
from episode_factory import make_record
from jarvis_bench.timeline import AXIS, LEFT, RIGHT, SNAPS_HEIGHT, timeline
from jarvis_core.objects import ConnectionEvent
from jarvis_core.skills import HomeGoal, SkillResult
from jarvis_core.status import Status


def test_bars_lie_at_their_times() -> None:
    record = make_record(time_s=100.0)
    drawn = timeline(record)
    scale = (RIGHT - LEFT) / 100.0
    for bar, call in zip(drawn.bars, record.calls, strict=True):
        assert bar.x == pytest.approx(LEFT + call.start_s * scale)
        assert bar.width == pytest.approx((call.end_s - call.start_s) * scale)
    assert [bar.kind for bar in drawn.bars] == ["good", "good", "bad", "good", "good"]
    assert drawn.bars[0].label == "pick and place b1"
    # 2.5 s are 25 units: too narrow for the whole name.
    assert drawn.bars[2].label == "b3"
    assert "no grasp without a collision" in drawn.bars[2].title


def test_times_count_from_the_start_of_the_episode() -> None:
    record = make_record(time_s=100.0)
    late = msgspec.structs.replace(
        record,
        initial=msgspec.structs.replace(record.initial, time_s=500.0),
        calls=tuple(
            msgspec.structs.replace(c, start_s=c.start_s + 500, end_s=c.end_s + 500) for c in record.calls
        ),
        events=tuple(msgspec.structs.replace(e, time_s=e.time_s + 500) for e in record.events),
    )
    assert [b.x for b in timeline(late).bars] == pytest.approx([b.x for b in timeline(record).bars])
    assert [s.x for s in timeline(late).snaps] == pytest.approx([s.x for s in timeline(record).snaps])


def test_snaps_are_as_high_as_their_error() -> None:
    def event(error: float, kind: str = "engaged") -> ConnectionEvent:
        return ConnectionEvent(50.0, kind, "b1", "plate", error, 0.0, 0.01, 9.0, 1)

    events = (event(0.0), event(0.00075), event(0.0015), event(0.1), event(0.0, "released"))
    snaps = timeline(make_record(time_s=100.0, events=events)).snaps
    heights = [AXIS - s.y for s in snaps]
    assert heights == pytest.approx([0, SNAPS_HEIGHT / 2, SNAPS_HEIGHT, SNAPS_HEIGHT, 0])
    assert [s.engaged for s in snaps] == [True, True, True, True, False]
    assert "0.75 mm" in snaps[1].title
    assert "the plate, 1 stud," in snaps[1].title
    assert "came off the plate" in snaps[4].title


def test_budget_is_marked_only_where_it_is_reached() -> None:
    assert timeline(make_record(time_s=100.0, budget_s=240.0)).budget_x is None
    assert timeline(make_record(time_s=480.0, budget_s=240.0)).budget_x == pytest.approx((LEFT + RIGHT) / 2)


@pytest.mark.parametrize("span", [0.0, 0.4, 7.0, 86.0, 700.0, 40000.0])
def test_ticks_stay_few_and_inside(span: float) -> None:
    ticks = timeline(make_record(time_s=span, calls=(), events=())).ticks
    assert 1 <= len(ticks) <= 12
    assert all(LEFT <= t.x <= RIGHT for t in ticks)


def test_a_call_that_took_no_time_is_still_seen() -> None:
    record = make_record()
    call = msgspec.structs.replace(
        record.calls[0],
        goal=HomeGoal(),
        start_s=5.0,
        end_s=5.0,
        result=SkillResult(Status.CANCELED, "cancelled", {}),
    )
    (bar,) = timeline(make_record(calls=(call,))).bars
    assert bar.width > 1
    assert (bar.kind, bar.label) == ("neutral", "")
    assert "home: canceled" in bar.title
