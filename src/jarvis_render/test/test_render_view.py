import numpy as np
import pytest
from jarvis_render.figures import conditional_shown
from jarvis_render.view import Direction, OrthoView, fit_view, view_axes


@pytest.mark.parametrize(("latitude", "longitude"), [(30, 45), (10, -120), (80, 200)])
def test_the_axes_are_a_right_handed_frame(latitude, longitude):
    axes = view_axes(latitude, longitude)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_from_the_front_right_x_runs_right_and_down_y_right_and_up():
    view = fit_view([[0, 0, 0], [0.1, 0.1, 0.1]], (512, 512), (0, 0, 512, 512), Direction(30, 45))
    du, dv = view.step_px([1, 0, 0])
    assert du > 0
    assert dv > 0
    du, dv = view.step_px([0, 1, 0])
    assert du > 0
    assert dv < 0
    du, dv = view.step_px([0, 0, 1])
    assert du == pytest.approx(0, abs=1e-9)
    assert dv < 0


def test_what_the_gpu_sees_is_what_project_says():
    view = OrthoView(640, 480, 25.0, 60.0, 1800.0, (0.01, -0.02, 0.03), (300.25, 250.5))
    points = np.random.default_rng(1).uniform(-0.1, 0.1, (20, 3))
    clip = np.hstack([points, np.ones((20, 1))]) @ view.clip_matrix().T.astype(np.float64)
    u = (clip[:, 0] + 1) / 2 * 640 - 0.5
    v = (1 - clip[:, 1]) / 2 * 480 - 0.5
    np.testing.assert_allclose(np.stack([u, v], axis=1), view.project(points), atol=1e-3)
    nearer = points + 0.01 * view.axes[2]
    depth = np.hstack([nearer, np.ones((20, 1))]) @ view.clip_matrix().T.astype(np.float64)
    assert (depth[:, 2] < clip[:, 2]).all()


def test_a_fitted_view_fills_the_area_and_no_more():
    points = np.random.default_rng(2).uniform(-0.1, 0.1, (50, 3))
    view = fit_view(points, (512, 400), (20, 100, 492, 380), Direction(30, 45))
    pixels = view.project(points) + 0.5
    assert (pixels >= [20 - 1e-6, 100 - 1e-6]).all()
    assert (pixels <= [492 + 1e-6, 380 + 1e-6]).all()
    spare = np.minimum(pixels.min(axis=0) - [20, 100], [492, 380] - pixels.max(axis=0))
    assert spare.min() == pytest.approx(0, abs=1e-6)
    limited = fit_view(points, (512, 400), (20, 100, 492, 380), Direction(30, 45), max_px_per_m=100.0)
    assert limited.px_per_m == 100.0


def test_nothing_to_fit_is_an_error():
    with pytest.raises(ValueError, match="nothing to fit"):
        fit_view(np.zeros((0, 3)), (10, 10), (0, 0, 10, 10), Direction(30, 45))


def test_of_a_cylinders_conditional_lines_only_the_silhouette_shows():
    sides = 16
    angles = np.arange(sides) * 2 * np.pi / sides
    ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(sides)], axis=1)
    up = np.array([0, 0, 1.0])
    lines = [[ring[i], ring[i] + up, ring[i - 1], ring[(i + 1) % sides]] for i in range(sides)]
    # Off the facets' middles, so that no facet is seen exactly edge on.
    direction = np.array([np.cos(0.1), np.sin(0.1), 0.3])
    shown = np.flatnonzero(conditional_shown(np.array(lines, dtype=np.float32), direction))
    assert len(shown) == 2
    assert abs(ring[shown] @ direction).max() < 0.4
