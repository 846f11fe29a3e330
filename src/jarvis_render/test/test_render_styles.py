"""Styles, turned and closer views, perspective: by their pixels and by what the axes text says."""

import io
import re

import numpy as np
import pytest
from jarvis_bricks.colours import ColourTable, builtin_colours
from jarvis_core.errors import BadInputError
from jarvis_render.artist import Callout
from jarvis_render.layout import axes_text, plan_pages
from jarvis_render.pages import PageHints, plan_manual, render_manual, render_pages
from jarvis_render.paint import Palette
from jarvis_render.printed import page_turn
from jarvis_render.view import Direction, project, view_axes
from PIL import Image

COLOURS = builtin_colours()
STUD = 0.008
STYLES = ("classic", "line_art", "photo", "faded", "scan")


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


@pytest.fixture
def house(put):
    return [[put("3001", 4, -2, 0)], [put("3003", 1, 3, 0)], [put("3003", 14, 3, 0, 2)]]


@pytest.mark.parametrize("style", STYLES)
def test_a_style_gives_the_same_bytes_for_the_same_seed(style, house, parts, plate, config, gl):
    styled = config.styled(style).changed("test", width=192, height=192)
    first = render_manual(house, plate, parts, COLOURS, styled, gl)
    assert render_manual(house, plate, parts, COLOURS, styled, gl) == first
    other = render_manual(house, plate, parts, COLOURS, styled.changed("test", seed=5), gl)
    assert (other == first) == (style != "scan")


def test_all_styles_differ(house, parts, plate, config, gl):
    pages = {render_pages(house, plate, parts, COLOURS, config.styled(s), gl)[2].png for s in STYLES}
    assert len(pages) == len(STYLES)


def test_a_page_drawn_alone_is_the_page_of_the_whole_manual(house, parts, plate, config, gl):
    for style in ("classic", "photo"):
        styled = config.styled(style).changed("test", width=128, height=128)
        whole = render_pages(house, plate, parts, COLOURS, styled, gl)
        (alone,) = render_pages(house, plate, parts, COLOURS, styled, gl, numbers=[2])
        assert alone == whole[2]


def test_unknown_styles_and_values_are_told(config):
    with pytest.raises(BadInputError, match="one of classic"):
        config.styled("cubist")
    with pytest.raises(BadInputError, match="width"):
        config.changed("--size", width=5)


def test_line_art_has_no_colours_but_those_of_new_bricks(house, parts, plate, config, gl):
    styled = config.styled("line_art").changed("test", axes_marker=False, grid_studs=0)
    page = pixels(render_pages(house, plate, parts, COLOURS, styled, gl)[0].png)
    assert np.ptp(page, axis=-1).max() < 12


def test_soft_light_casts_a_shadow(put, parts, plate, config, gl):
    styled = config.styled("photo").changed("test", grid_studs=0, axes_marker=False)
    tower = [put("3003", 15, 0, 0, level) for level in range(1, 6)]
    layout = plan_pages([tower], plate.studs, plate.thickness_m, parts, styled)
    page = pixels(render_pages([tower], plate, parts, COLOURS, styled, gl)[0].png)
    # The lamp stands at the front left, so the shadow lies at the back right.
    shadow, lit = (
        page[v - 2 : v + 3, u - 2 : u + 3].mean()
        for u, v in np.round(
            layout.view.project([[2 * STUD, 2 * STUD, 0], [-3 * STUD, -3 * STUD, 0]])
        ).astype(int)
    )
    assert lit - shadow > 25


def test_a_scanned_book_lies_askew_and_the_text_knows(house, parts, plate, config, gl):
    styled = config.styled("scan").changed("test", seed=3, fade=0.0)
    turn = page_turn(styled)
    assert not np.allclose(turn, np.eye(3))
    layout = plan_pages(house, plate.studs, plate.thickness_m, parts, styled)
    words = axes_text(layout, styled)
    number = r"([+-]? ?\d+\.\d+)"
    u_form = re.search(rf"u = {number} {number}\*x/0.008 {number}\*y/0.008 {number}\*z/0.0096,", words)
    told = [float(g.replace(" ", "")) for g in u_form.groups()]
    point = np.array([0.05, 0.02, 0.01])
    flat = np.append(project(layout.view, [point])[0], 1.0)
    u = told[0] + told[1] * point[0] / 0.008 + told[2] * point[1] / 0.008 + told[3] * point[2] / 0.0096
    assert u == pytest.approx((turn @ flat)[0], abs=0.05)
    # Where the text says the red brick's face is, the scan is reddest.
    page = pixels(render_pages(house, plate, parts, COLOURS, styled, gl)[0].png)
    face = turn @ np.append(project(layout.view, [[-2 * STUD, -STUD, 0.0048]])[0], 1.0)
    patch = page[int(face[1]) - 3 : int(face[1]) + 4, int(face[0]) - 3 : int(face[0]) + 4].mean(axis=(0, 1))
    assert patch[0] - patch[1] > 40


def test_the_view_turns_when_new_bricks_would_be_hidden(put, parts, plate, config, gl):
    wall = [put("3008", 7, 0, -1.5, level) for level in (1, 2, 3)]
    steps = [wall, [put("3003", 1, 0, -4)], [put("3005", 4, -0.5, 0.5)]]
    layout = plan_manual(steps, plate, parts, COLOURS, config, gl)
    usual = Direction(config.latitude_deg, config.longitude_deg)
    assert layout.directions[:2] == (usual, usual)
    assert layout.directions[2] != usual
    words = axes_text(layout, config)
    assert "Pages 0-1 (the usual view)" in words
    assert "Page 2 (the camera" in words
    page = pixels(render_pages(steps, plate, parts, COLOURS, config, gl, layout)[2].png)
    u, v = np.round(layout.views[2].project([[-0.5 * STUD, 0.5 * STUD, 0.0112]])[0]).astype(int)
    assert page[v, u, 0] > 100
    assert page[v, u, 1] < 60
    never = plan_manual(steps, plate, parts, COLOURS, config.changed("test", turn_below=0.0), gl)
    assert set(never.directions) == {usual}


def test_what_stands_behind_glass_is_not_hidden(put, parts, plate, config, gl):
    pane = [put("3008", 47, 0, -1.5, level) for level in (1, 2, 3)]
    steps = [[], [*pane, put("3005", 4, -0.5, 0.5)]]
    layout = plan_manual(steps, plate, parts, COLOURS, config, gl)
    assert layout.directions[0] == layout.directions[1]


def test_the_model_file_decides_the_view(house, parts, plate, config, gl):
    upside_down = Direction(30.0, 45.0, (1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0))
    hints = PageHints(turns=(None, None, upside_down))
    layout = plan_manual(house, plate, parts, COLOURS, config, gl, hints)
    assert layout.directions[2] is upside_down
    assert not upside_down.from_above
    page = pixels(render_pages(house, plate, parts, COLOURS, config, gl, layout, hints=hints)[2].png)
    assert (page != page[0, 0]).any(axis=-1).mean() > 0.05
    assert "the model turned as its file says" in axes_text(layout, config)


def test_closer_pages_grow_with_the_construction(put, parts, plate, config):
    steps = [[], [put("3005", 4, 0.5, 0.5)], [put("3001", 1, 10, 8)], [put("3001", 2, -12, -10)]]
    closer = config.changed("test", closer=True, max_stud_px=200)
    scales = [v.px_per_m for v in plan_pages(steps, plate.studs, 0.0032, parts, closer).views]
    assert scales[0] == scales[1] > scales[2] > scales[3]
    same = plan_pages(steps, plate.studs, 0.0032, parts, config)
    assert len(set(same.views)) == 1


def test_perspective_pages_fit_and_their_text_is_right(house, parts, plate, config, gl):
    pinhole = config.changed("test", perspective_deg=40.0)
    layout = plan_pages(house, plate.studs, plate.thickness_m, parts, pinhole)
    corners = layout.span.corners()
    pixels_of = project(layout.view, corners)
    assert (pixels_of > 0).all()
    assert (pixels_of < 512).all()
    sides = np.linalg.norm(pixels_of[[1, 3]] - pixels_of[[0, 2]], axis=1)
    assert abs(sides[0] - sides[1]) > 5  # parallel edges of the plate, one farther away
    number = r"(-?\d+\.\d+) ([+-]) (\d+\.\d+)\*x ([+-]) (\d+\.\d+)\*y ([+-]) (\d+\.\d+)\*z"
    rows = re.findall(number, axes_text(layout, pinhole))
    matrix = np.array(
        [[float(r[1] + r[2]), float(r[3] + r[4]), float(r[5] + r[6]), float(r[0])] for r in rows]
    )
    point = np.array([0.02, -0.03, 0.01, 1.0])
    u, v, w = matrix @ point
    np.testing.assert_allclose((u / w, v / w), project(layout.view, [point[:3]])[0], atol=0.1)
    page = pixels(render_pages(house, plate, parts, COLOURS, pinhole, gl)[1].png)
    u, v = np.round(project(layout.view, [[-2 * STUD, -STUD, 0.0048]])[0]).astype(int)
    assert page[v, u, 0] > page[v, u, 1] + 60


def test_arrows_and_callouts_are_drawn(house, parts, plate, config, gl):
    plain = pixels(render_pages(house, plate, parts, COLOURS, config, gl)[2].png)
    arrows = pixels(
        render_pages(house, plate, parts, COLOURS, config.changed("test", arrows=True), gl)[2].png
    )
    assert 100 < (plain != arrows).any(axis=-1).sum() < 6000
    hints = PageHints(callouts={2: Callout("Tower", 2, tuple(house[1]))})
    boxed = pixels(render_pages(house, plate, parts, COLOURS, config, gl, hints=hints)[2].png)
    changed = np.argwhere((plain != boxed).any(axis=-1))
    assert len(changed) > 10000
    assert changed[:, 1].min() > 256  # at the right


def test_an_empty_step_is_said_to_be_empty(put, parts, plate, config, gl):
    steps = [[], [put("3001", 4, 0, 0)], []]
    pages = render_manual(steps, plate, parts, COLOURS, config, gl).pages
    assert len(pages) == 3
    assert pages[2].png != pages[1].png


@pytest.mark.parametrize("size", [(64, 64), (64, 1024), (1500, 300)])
def test_odd_sizes_are_drawn(size, house, parts, plate, config, gl):
    odd = config.changed("test", width=size[0], height=size[1])
    assert pixels(render_pages(house, plate, parts, COLOURS, odd, gl)[2].png).shape == (size[1], size[0], 3)


def test_a_part_without_geometry_is_told(put, parts, plate, config, gl, monkeypatch):
    from jarvis_bricks.geometry import Mesh

    empty = Mesh(
        np.zeros((0, 3), "f4"), np.zeros((0, 3), "i4"), np.zeros(0, "i4"), np.zeros((0, 2, 3), "f4"),
        np.zeros(0, "i4"), np.zeros((0, 4, 3), "f4"),
    )  # fmt: skip
    whole = parts.geometry
    from dataclasses import replace

    monkeypatch.setattr(parts, "geometry", lambda part: replace(whole(part), mesh=empty, low_poly=empty))
    with pytest.raises(BadInputError, match=r"part 3001 .* has no geometry"):
        render_manual([[put("3001", 4, 0, 0)]], plate, parts, COLOURS, config, gl)


def test_metals_and_grains_look_unlike_plastic():
    table = ColourTable.parse(
        "0 !COLOUR Chrome_Gold CODE 334 VALUE #DFC176 EDGE #333333 CHROME\n"
        "0 !COLOUR Speckle CODE 132 VALUE #000000 EDGE #898788 MATERIAL SPECKLE VALUE #898788 FRACTION 0.4 "
        "MINSIZE 1 MAXSIZE 3\n0 !COLOUR Red CODE 4 VALUE #B40000 EDGE #333333\n",
        where="test",
    )
    palette = Palette(table)
    assert palette.paint(334).finish == 1.0
    assert palette.paint(132).finish < 0
    assert palette.paint(4).finish == 0.0


def test_metal_faces_are_not_even(put, parts, plate, config, gl):
    table = ColourTable([*COLOURS.colours.values(), *ColourTable.parse(
        "0 !COLOUR Chrome_Gold CODE 334 VALUE #DFC176 EDGE #333333 CHROME", where="test"
    ).colours.values()])  # fmt: skip
    spread = []
    for colour in (14, 334):
        steps = [[put("3008", colour, 0, 0)]]
        layout = plan_pages(steps, plate.studs, plate.thickness_m, parts, config)
        page = pixels(render_pages(steps, plate, parts, table, config, gl)[0].png)
        line = [(x * STUD, -STUD / 2, 0.0048) for x in np.linspace(-3.5, 3.5, 60)]
        u, v = np.round(layout.view.project(line)).astype(int).T
        spread.append(np.ptp(page[v, u].mean(axis=-1)))
    assert spread[0] < 6
    assert spread[1] > 30


def test_directions_are_rotations():
    turned = Direction(20.0, 30.0, (0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    np.testing.assert_allclose(turned.axes @ turned.axes.T, np.eye(3), atol=1e-12)
    # Turning the scene by 90 degrees is the same as walking round it by -90.
    np.testing.assert_allclose(turned.axes, view_axes(20.0, -60.0), atol=1e-12)
