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
from jarvis_sim.config import LayoutConfig, SimConfig
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


def kind(name: str, **more: object) -> LayoutConfig:
    return msgspec.structs.replace(LAYOUT, kind=name, **more)


@pytest.mark.parametrize("name", ["sorted", "cluttered", "hard"])
@settings(max_examples=25, deadline=None)
@given(st.lists(sizes, min_size=1, max_size=10), st.integers(0, 10**6))
def test_every_kind_keeps_bricks_apart_and_on_the_table(
    name: str, shapes: list[tuple[int, int, bool]], seed: int
) -> None:
    items = [item(f"b{i}", shape) for i, shape in enumerate(shapes)]
    poses = lay_out(items, np.zeros((0, 2)), SUPPLY, kind(name), generator(seed, "layout"))
    boxes = []
    for thing in items:
        corners = np.array(np.meshgrid(*thing.bounds.T)).reshape(3, -1).T
        world = poses[thing.id] @ corners
        assert world[:, 2].min() == pytest.approx(0.0, abs=1e-6)
        assert all(SUPPLY.region.contains(x, y, -1e-6) for x, y, _ in world.tolist())
        boxes.append(world)
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            if name == "sorted":  # rectangles
                gap = np.maximum(one.min(axis=0) - other.max(axis=0), other.min(axis=0) - one.max(axis=0))
                assert gap[:2].max() >= SUPPLY.clearance_m - 1e-5
            else:  # circles
                middles = [w.mean(axis=0)[:2] for w in (one, other)]
                radii = [
                    np.linalg.norm(w[:, :2] - m, axis=1).max()
                    for w, m in zip((one, other), middles, strict=True)
                ]
                clearance = LAYOUT.clutter_clearance_m if name == "cluttered" else SUPPLY.clearance_m
                assert np.linalg.norm(middles[0] - middles[1]) >= sum(radii) + clearance - 2e-5


def test_hard_lies_on_all_faces_and_the_others_upright() -> None:
    items = [item(f"b{i}", (1, 2, False)) for i in range(20)]
    up = [
        round(float(pose.rotation[2, 2]))
        for seed in range(5)
        for pose in lay_out(
            items, np.zeros((0, 2)), SUPPLY, kind("hard", hard_share=0.7), generator(seed, "layout")
        ).values()
    ]
    assert {-1, 0, 1} == set(up)
    assert 0.15 < up.count(1) / len(up) < 0.45


def test_cluttered_needs_less_room_and_leaves_less() -> None:
    items = [item(f"b{i}", (2, 4, False)) for i in range(8)]
    spread = {}
    for name in ("random", "cluttered"):
        poses = lay_out(items, np.zeros((0, 2)), SUPPLY, kind(name), generator(2, "layout"))
        spread[name] = np.std([pose.position[:2] for pose in poses.values()], axis=0).max()
    assert spread["cluttered"] < 0.8 * spread["random"]
