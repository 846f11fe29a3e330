"""Pages are looked at by their pixels: what is where, in which colour."""

import io
import re

import msgspec
import numpy as np
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.colours import builtin_colours
from jarvis_bricks.parametric import PARTS
from jarvis_core.errors import BadInputError
from jarvis_render.layout import axes_text, count_parts, plan_pages
from jarvis_render.pages import render_manual, render_pages, render_part
from jarvis_render.paint import MIN_EDGE_CONTRAST, Palette, contrasting_edge, luminance
from PIL import Image

from jarvis_render import figures

COLOURS = builtin_colours()
STUD = 0.008


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def at(image, layout, point):
    u, v = np.round(layout.view.project([point])[0]).astype(int)
    return image[v, u]


def like(image, rgb, tolerance=12):
    return (np.abs(image - np.array(rgb)) <= tolerance).all(axis=-1)


@pytest.fixture
def layout_of(parts, plate, config):
    return lambda steps: plan_pages(steps, plate.studs, plate.thickness_m, parts, config)


@pytest.fixture
def draw(parts, plate, config, gl):
    def drawn(steps, **changes):
        style = msgspec.structs.replace(config, **changes)
        return [pixels(page.png) for page in render_pages(steps, plate, parts, COLOURS, style, gl)]

    return drawn


def test_a_page_for_the_start_and_one_per_step_the_same_bytes_each_time(put, parts, plate, config, gl):
    steps = [[put("3001", 4, 0, 0)], [put("3003", 1, 0, 0, 2)], [put("3005", 36, 3.5, 0.5)]]
    first = render_manual(steps, plate, parts, COLOURS, config, gl)
    assert [page.step for page in first.pages] == [0, 1, 2]
    assert pixels(first.pages[0].png).shape == (config.height, config.width, 3)
    assert render_manual(steps, plate, parts, COLOURS, config, gl) == first


def test_new_bricks_have_full_colour_earlier_ones_are_faded(put, draw, layout_of, config):
    steps = [[], [put("3001", 4, 0, 0)], [put("3005", 15, 6.5, 0.5)]]
    front = (0.0, -STUD, 0.0048)  # the middle of the long face that is seen
    _, new, later = draw(steps)
    layout = layout_of(steps)
    fresh, faded = at(new, layout, front), at(later, layout, front)
    assert fresh[0] > 90
    assert fresh[1:].max() < 20
    np.testing.assert_allclose(faded, fresh * (1 - config.fade) + 255 * config.fade, atol=2)


def test_only_new_bricks_are_outlined(put, draw, layout_of, config):
    steps = [[put("3001", 4, -3, 0)], [put("3003", 1, 4, 0)]]
    start, step = draw(steps)
    assert not like(start, config.accent_rgb).any()
    v, u = np.nonzero(like(step, config.accent_rgb))
    assert len(u) > 100
    brick = layout_of(steps).view.project(
        [[x, y, z] for x in (3 * STUD, 5 * STUD) for y in (-STUD, STUD) for z in (0, 0.0112)]
    )
    slack = config.accent_px + 2
    assert (np.stack([u, v], 1) >= brick.min(axis=0) - slack).all()
    assert (np.stack([u, v], 1) <= brick.max(axis=0) + slack).all()


def test_the_outline_stays_outside_a_transparent_brick(put, draw, layout_of, config):
    steps = [[], [put("3001", 47, 0, 0)]]
    page = draw(steps)[1]
    layout = layout_of(steps)
    inside = [(x * STUD, -STUD, z) for x in np.linspace(-1.5, 1.5, 40) for z in np.linspace(0.003, 0.007, 10)]
    assert not any(like(at(page, layout, point), config.accent_rgb, 40) for point in inside)


def test_what_is_behind_shows_through_transparent_bricks_only(put, draw, layout_of):
    point = (
        0.0,
        -STUD,
        0.0144,
    )  # on a thin wall in mid-air; the line of sight then meets the brick behind it
    seen = []
    for colour in (47, 15):
        for behind in (4, 2):
            steps = [[put("3001", behind, 0, 1), put("3008", colour, 0, -0.5, 2)]]
            seen.append(at(draw(steps)[0], layout_of(steps), point))
    clear_red, clear_green, white_red, white_green = seen
    assert np.abs(clear_red - clear_green).max() > 30
    np.testing.assert_array_equal(white_red, white_green)


def test_every_page_shows_the_same_piece_of_plate(put, draw, layout_of, config):
    steps = [[put("3001", 4, 0, 0)], [put("3003", 1, 0, 0, 2)], [put("3003", 2, 0, 0, 3)]]
    pages = draw(steps)
    layout = layout_of(steps)
    corner = np.array([layout.span.x1 - 0.5, layout.span.y0 + 0.5, 0]) * STUD
    u, v = np.round(layout.view.project([corner])[0]).astype(int)
    patches = [page[v - 8 : v + 9, u - 8 : u + 9] for page in pages]
    assert patches[0].std() > 5  # a stud, not white paper
    np.testing.assert_array_equal(patches[0], patches[1])
    np.testing.assert_array_equal(patches[0], patches[2])


def test_the_order_within_a_step_does_not_matter(put, draw):
    bricks = [put("3001", 4, 0, 0), put("3003", 36, 1, 3), put("3003", 47, 0, 0, 2), put("3004", 0, -3, 0.5)]
    np.testing.assert_array_equal(draw([bricks])[0], draw([bricks[::-1]])[0])


def test_a_hidden_new_brick_is_marked_through_what_hides_it(put, draw, layout_of, config):
    wall = [put("3008", 7, 0, -1.5, level) for level in (1, 2, 3)]
    steps = [wall, [put("3005", 4, -0.5, 0.5)]]
    marked = draw(steps)[1]
    plain = draw(steps, ghost_below=0.0)[1]
    u, v = np.round(layout_of(steps).view.project([[-0.5 * STUD, 0.5 * STUD, 0.0048]])[0]).astype(int)
    window = (slice(v - 30, v + 31), slice(u - 30, u + 31))
    assert like(marked[window], config.accent_rgb, 60).sum() > 30
    assert not like(plain[window], config.accent_rgb, 60).any()


def test_black_bricks_have_visible_edges(put, draw, layout_of):
    steps = [[put("3001", 0, 0, 0)]]
    page, layout = draw(steps)[0], layout_of(steps)
    along = np.array(
        [at(page, layout, (2 * STUD, y, 0.0048)).mean() for y in np.linspace(-2 * STUD, STUD, 200)]
    )
    inside = np.array(
        [at(page, layout, (1.9 * STUD, -STUD, z)).mean() for z in np.linspace(0.002, 0.008, 50)]
    )
    assert inside.max() < 60
    assert along.max() > 90


@pytest.mark.parametrize("code", sorted(COLOURS.colours))
def test_edges_contrast_with_faces_in_every_colour(code):
    paint = Palette(COLOURS).paint(code)
    assert abs(luminance(paint.face) - luminance(paint.edge)) >= MIN_EDGE_CONTRAST - 1e-9
    assert all(0 <= channel <= 1 for channel in paint.edge)


def test_an_edge_colour_that_is_clear_enough_is_kept():
    assert contrasting_edge((1.0, 1.0, 1.0), (0.2, 0.1, 0.3)) == (0.2, 0.1, 0.3)


def test_lines_and_text_scale_with_the_page(put, draw, config):
    steps = [[put("3001", 15, 0, 0)], [put("3003", 1, 0, 0, 2)]]
    small = draw(steps)[1]
    large = draw(steps, width=1024, height=1024)[1]
    areas = [like(page, config.accent_rgb, 90).sum() for page in (small, large)]
    assert areas[1] / areas[0] == pytest.approx(4, rel=0.12)
    halved = np.asarray(Image.fromarray(large.astype(np.uint8)).reduce(2)).astype(int)
    assert np.abs(halved - small).mean() < 4


def test_a_long_parts_list_shrinks_to_its_share_of_the_page(put, parts, plate, config):
    colours = [code for code in COLOURS.colours if code not in (16, 24)][:60]
    steps = [[], [put("3005", code, i % 20 - 10.5, i // 20 + 0.5) for i, code in enumerate(colours)]]
    layout = plan_pages(steps, plate.studs, plate.thickness_m, parts, config)
    grid = layout.grids[1]
    assert grid.rows * grid.cell_px <= config.max_header * config.height
    assert grid.columns * grid.rows >= 60
    assert grid.cell_px < layout.grids[0].cell_px


def test_the_words_about_the_axes_say_where_points_are(put, parts, plate, config):
    steps = [[put("3001", 4, 3, -2)], [put("3003", 1, 3, -2, 2)]]
    layout = plan_pages(steps, plate.studs, plate.thickness_m, parts, config)
    words = axes_text(layout, config)
    number = r"([+-]? ?\d+\.\d+)"
    u_form = re.search(rf"u = {number} {number}\*x/0.008 {number}\*y/0.008,", words)
    v_form = re.search(rf"v = {number} {number}\*x/0.008 {number}\*y/0.008 {number}\*z/0.0096", words)
    u = [float(g.replace(" ", "")) for g in u_form.groups()]
    v = [float(g.replace(" ", "")) for g in v_form.groups()]
    for x, y, z in np.random.default_rng(3).uniform(-0.1, 0.1, (10, 3)):
        told_u = u[0] + u[1] * x / 0.008 + u[2] * y / 0.008
        told_v = v[0] + v[1] * x / 0.008 + v[2] * y / 0.008 + v[3] * z / 0.0096
        np.testing.assert_allclose((told_u, told_v), layout.view.project([[x, y, z]])[0], atol=0.05)
    assert f"x = {layout.span.x0} to {layout.span.x1} studs" in words


def test_the_crop_keeps_a_margin_and_stays_on_the_plate(put, layout_of, config):
    span = layout_of([[put("3001", 4, 0, 0)]]).span
    assert (span.x0, span.x1, span.y0, span.y1) == (-5, 5, -4, 4)
    span = layout_of([[put("3001", 4, 14, 15)]]).span
    assert (span.x1, span.y1) == (16, 16)


def test_the_manual_counts_loose_parts_but_not_the_start(put, parts, plate, config, gl):
    steps = [[put("3001", 4, 0, 0)], [put("3003", 1, 0, 0, 2), put("3003", 1, 4, 0)], [put("3003", 4, 8, 0)]]
    manual = render_manual(steps, plate, parts, COLOURS, config, gl)
    assert [(p.part, p.colour, p.colour_name, p.count) for p in manual.parts] == [
        ("3003", 1, "Blue", 2),
        ("3003", 4, "Red", 1),
    ]
    assert count_parts(steps[0]) == {("3001", 4): 1}


def test_a_part_picture_fills_its_square(parts, config, gl):
    picture = pixels(render_part("3001", 14, 96, parts, COLOURS, config, gl))
    assert picture.shape == (96, 96, 3)
    drawn = np.argwhere(~like(picture, config.background_rgb, 3))
    assert np.ptp(drawn[:, 1]) > 85


@pytest.mark.parametrize("part", sorted(PARTS))
def test_leaving_out_the_inside_of_bricks_changes_no_picture(part, config, gl, monkeypatch):
    catalogue = PartCatalogue(None)
    quick = pixels(render_part(part, 14, 128, catalogue, COLOURS, config, gl))
    monkeypatch.setattr(figures, "inside_body", lambda shapes, geometry: np.zeros(len(shapes), dtype=bool))
    whole = pixels(render_part(part, 14, 128, catalogue, COLOURS, config, gl))
    assert (np.abs(quick - whole).max(axis=-1) > 40).sum() <= 4


def test_no_brick_at_all_and_unknown_colours_are_told(put, parts, plate, config, gl):
    with pytest.raises(BadInputError, match="at least one brick"):
        render_pages([[], []], plate, parts, COLOURS, config, gl)
    with pytest.raises(BadInputError, match="unknown colour 999"):
        render_pages([[put("3001", 999, 0, 0)]], plate, parts, COLOURS, config, gl)
    # The failure left nothing bound: the next manual is drawn as ever.
    assert render_pages([[put("3001", 4, 0, 0)]], plate, parts, COLOURS, config, gl)
