"""Trajectories refuse nonsense and are sampled smoothly; random streams are independent."""

from __future__ import annotations

import numpy as np
import pytest
from jarvis_core.motion import JointTrajectory
from jarvis_core.seeds import generator


def quadratic() -> JointTrajectory:
    times = np.linspace(0, 2, 5)
    column = times[:, None]
    return JointTrajectory(("a",), times, column**2, 2 * column, np.full_like(column, 2.0))


def test_sampling_follows_position_and_velocity() -> None:
    trajectory = quadratic()
    for t in np.linspace(0, 2, 41):
        # the cubic Hermite reproduces a parabola exactly
        assert trajectory.sample(float(t))[0] == pytest.approx(t**2, abs=1e-12)
    assert trajectory.sample(-1.0)[0] == 0.0
    assert trajectory.sample(9.0)[0] == 4.0


@pytest.mark.parametrize(
    ("times", "rows", "message"),
    [
        ([0.0, 0.0], 2, "increase"),
        ([0.0, 1.0], 3, "shape"),
        ([0.0, float("nan")], 2, "finite"),
        ([], 0, "one point"),
    ],
)
def test_nonsense_is_refused(times: list[float], rows: int, message: str) -> None:
    zeros = np.zeros((rows, 1))
    with pytest.raises(ValueError, match=message):
        JointTrajectory(("a",), np.array(times), zeros, zeros, zeros)


def test_streams_depend_on_seed_and_name_only() -> None:
    first = generator(3, "supply").random(4)
    generator(3, "light").random(100)
    assert (generator(3, "supply").random(4) == first).all()
    assert (generator(4, "supply").random(4) != first).any()
    assert (generator(3, "light").random(4) != first).any()
