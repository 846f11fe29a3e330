import numpy as np
import pytest
from jarvis_bricks.colours import builtin_colours
from jarvis_core.cell import CameraConfig
from jarvis_core.errors import BadInputError
from jarvis_render.hypotheses import HypothesisRenderer, Light
from jarvis_render.view import PerspectiveView

COLOURS = builtin_colours()
STUD = 0.008
CAMERA = CameraConfig(
    width=160, height=120, fov_y_deg=20.0, eye=(0.0, -0.2, 0.4), target=(0.0, 0.0, 0.0), up=(0.0, 0.0, 1.0)
)


@pytest.fixture
def renderer(parts, gl):
    with HypothesisRenderer(parts, COLOURS, CAMERA.intrinsics(), (0.2, 0.4, 0.6), gl) as made:
        yield made


def test_colour_depth_and_number_are_those_of_the_brick_in_front(renderer, put):
    bricks = [put("3001", 4, 0, 0), put("3003", 2, 0, 0, 2)]
    seen = renderer.draw(bricks, CAMERA.pose())
    view = PerspectiveView(CAMERA.intrinsics(), CAMERA.pose(), 1.0)
    top = np.array([0.5 * STUD - 0.004, 0.0, 2 * 0.0096])  # between the studs of the upper brick
    u, v = np.round(view.project([top])[0]).astype(int)
    assert seen.numbers[v, u] == 2
    assert seen.rgb[v, u, 1] > seen.rgb[v, u, 0]
    depth = (CAMERA.pose().inverse() @ top)[2]
    assert seen.depth_m[v, u] == pytest.approx(depth, abs=2e-3)
    assert set(np.unique(seen.numbers)) == {0, 1, 2}


def test_where_nothing_is_there_is_background(renderer, put):
    seen = renderer.draw([put("3005", 4, 0, 0)], CAMERA.pose())
    assert seen.rgb.shape == (120, 160, 3)
    assert seen.rgb[0, 0].tolist() == [51, 102, 153]
    assert seen.depth_m[0, 0] == 0
    assert (seen.numbers > 0).sum() == (seen.depth_m > 0).sum()
    nothing = renderer.draw([], CAMERA.pose())
    assert not nothing.numbers.any()


def test_light_comes_from_where_it_is_said(renderer, put):
    brick = [put("3001", 15, 0, 0)]
    above = renderer.draw(brick, CAMERA.pose(), Light((0.0, 0.0, 1.0), 0.2, 0.7))
    below = renderer.draw(brick, CAMERA.pose(), Light((0.0, 0.0, -1.0), 0.2, 0.7))
    inside = above.numbers > 0
    assert above.rgb[inside].mean() > below.rgb[inside].mean() + 60


def test_unknown_colours_are_told(renderer, put):
    with pytest.raises(BadInputError, match="unknown colour"):
        renderer.draw([put("3001", 999, 0, 0)], CAMERA.pose())
