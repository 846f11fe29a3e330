from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.cell import CellConfig, Region, SupplyConfig
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_core.seeds import generator
from jarvis_sim.config import SimConfig
from jarvis_sim.layout import LooseItem, lay_out

SUPPLY = load_default("cell", CellConfig).supply
LAYOUT = load_default("sim", SimConfig).layout

sizes = st.tuples(st.integers(1, 2), st.integers(1, 6), st.booleans())


def item(name: str, size: tuple[int, int, bool]) -> LooseItem:
    """A brick of a x b studs; an off-centre one has its origin on its first stud."""
    a, b, off = size
    low = np.array([-0.004, -0.004]) if off else np.array([-a * 0.004, -b * 0.004])
    high = low + [a * 0.008, b * 0.008]
    return LooseItem(name, np.array([[*low, -0.0096], [*high, 0.0]]))


@settings(max_examples=60, deadline=None)
@given(st.lists(sizes, min_size=1, max_size=10), st.integers(0, 10**6), st.floats(-0.03, 0.1))
def test_places_keep_every_rule(shapes: list[tuple[int, int, bool]], seed: int, target_y: float) -> None:
    items = [item(f"b{i}", shape) for i, shape in enumerate(shapes)]
    targets = np.array([[0.5, target_y], [0.4, target_y]])
    poses = lay_out(items, targets, SUPPLY, LAYOUT, generator(seed, "layout"))
    assert set(poses) == {i.id for i in items}
    circles = []
    for thing in items:
        pose = poses[thing.id]
        x, y = (pose @ np.array([*thing.centre, 0.0]))[:2]
        assert SUPPLY.region.contains(x, y, thing.radius)
        assert pose.position[2] == pytest.approx(0.0096)  # its underside on the table
        assert pose.rotation[2, 2] == pytest.approx(1.0)  # upright
        assert np.linalg.norm(pose.position[:2] - targets, axis=1).min() >= SUPPLY.target_distance_m
        circles.append((x, y, thing.radius))
    for i, (x, y, r) in enumerate(circles):
        for u, v, s in circles[:i]:
            assert math.hypot(x - u, y - v) >= r + s + SUPPLY.clearance_m


def test_the_seed_alone_decides() -> None:
    items = [item(f"b{i}", (2, 4, False)) for i in range(8)]
    lists = []
    for seed in (5, 5, 6):
        poses = lay_out(items, np.zeros((0, 2)), SUPPLY, LAYOUT, generator(seed, "layout"))
        lists.append([poses[i.id].to_list() for i in items])
    assert lists[0] == lists[1]
    assert lists[0] != lists[2]


def test_bricks_lie_in_no_order() -> None:
    items = [item(f"b{i}", (2, 4, False)) for i in range(8)]
    poses = lay_out(items, np.zeros((0, 2)), SUPPLY, LAYOUT, generator(3, "layout"))
    xs = [poses[i.id].position[0] for i in items]
    assert xs != sorted(xs)
    assert xs != sorted(xs, reverse=True)
    assert len({round(poses[i.id].yaw, 2) for i in items}) == 8


def test_twenty_bricks_find_room() -> None:
    items = [item(f"b{i}", (2, 4, False)) for i in range(20)]
    assert len(lay_out(items, np.zeros((0, 2)), SUPPLY, LAYOUT, generator(1, "layout"))) == 20


@pytest.mark.parametrize(("count", "reason"), [(60, "can't fit"), (29, "attempts")])
def test_a_full_table_is_refused_with_numbers(count: int, reason: str) -> None:
    items = [item(f"b{i}", (2, 4, False)) for i in range(count)]
    quick = msgspec.structs.replace(LAYOUT, attempts=3, iterations=60)
    with pytest.raises(RefusedError, match=rf"{count} loose bricks.*22 mm.*m2.*{reason}"):
        lay_out(items, np.zeros((0, 2)), SUPPLY, quick, generator(1, "layout"))


def test_a_brick_larger_than_the_area_is_refused_by_name() -> None:
    small = SupplyConfig(region=Region(x=(0.4, 0.43), y=(0.0, 0.5)), clearance_m=0.0, target_distance_m=0.1)
    with pytest.raises(RefusedError, match=r"long alone is 0\.0\d+ m across"):
        lay_out([item("long", (1, 6, False))], np.zeros((0, 2)), small, LAYOUT, generator(1, "layout"))
