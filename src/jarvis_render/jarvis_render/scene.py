"""Drawing bricks with GL: flat-shaded faces, edge lines of constant width, thick outlines.

Geometry goes to the GPU once per part, and all bricks of a part are drawn with one call. A line is a screen-space
quad made from a segment in the vertex shader, with its own anti-aliasing. LDraw's conditional lines (type 5) are
resolved here, once per part and direction of view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import moderngl
import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import PartGeometry
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray, Pose

from jarvis_render.figures import Figure, Float32, Rows, line_rows, part_lines, part_triangles
from jarvis_render.paint import Paint, Palette, Rgb
from jarvis_render.view import View


class Drawable(Protocol):
    """A brick somewhere: any struct with a part, a colour and a pose (metres, frame of the view).

    One that also has a ``stretch`` (nine numbers, row by row, or None) is deformed by it before it is posed.
    """

    @property
    def part(self) -> str: ...
    @property
    def colour(self) -> int: ...
    @property
    def pose(self) -> Pose: ...


class PartSource(Protocol):
    """Where part geometry comes from, e.g. jarvis_bricks' catalogue."""

    def geometry(self, part: str) -> PartGeometry: ...


_INSTANCE = """
in vec4 in_row0;  // the model's placement, three rows of a (4, 4) matrix
in vec4 in_row1;
in vec4 in_row2;
in vec4 in_colour;
in vec4 in_edge;  // rgb and fade
in vec2 in_extra;  // finish and number
vec3 placed(vec3 point) {
    vec4 p = vec4(point, 1.0);
    return vec3(dot(in_row0, p), dot(in_row1, p), dot(in_row2, p));
}
vec3 turned(vec3 v) { return vec3(dot(in_row0.xyz, v), dot(in_row1.xyz, v), dot(in_row2.xyz, v)); }
"""
_FACES_VERTEX = f"""
#version 330 core
uniform mat4 clip;
uniform vec4 eye;  // direction towards the camera and 0, or its position and 1
uniform vec3 light;
uniform vec2 strength;  // of the ambient and of the directed light
in vec3 in_position;
in vec3 in_normal;
in vec4 in_paint;  // rgb; w > 0: the brick's own colour instead
{_INSTANCE}
flat out vec4 shade;
flat out vec2 look;  // finish and fade
flat out float number;
out vec3 place;
out float depth;
void main() {{
    place = placed(in_position);
    vec3 normal = turned(in_normal);
    if (dot(normal, eye.xyz - eye.w * place) < 0.0) normal = -normal;
    vec3 base = mix(in_paint.rgb, in_colour.rgb, in_paint.w);
    shade = vec4(min(base * (strength.x + strength.y * max(dot(normal, light), 0.0)), 1.0), in_colour.a);
    look = vec2(in_extra.x * in_paint.w, in_edge.w);
    number = in_extra.y;
    gl_Position = clip * vec4(place, 1.0);
    depth = gl_Position.w;
}}
"""
_FACES_FRAGMENT = """
#version 330 core
uniform vec3 paper;
flat in vec4 shade;
flat in vec2 look;
flat in float number;
in vec3 place;
in float depth;
layout(location = 0) out vec4 pixel;
layout(location = 1) out vec2 found;
void main() {
    vec3 rgb = shade.rgb;
    // Metals get soft bands of light, glitter and speckles get grains: 16 mm apart and a third of a millimetre.
    if (look.x > 0.0) {
        float band = sin(dot(place, vec3(210.0, -130.0, 330.0)));
        rgb = mix(rgb, vec3(1.0), look.x * 0.55 * pow(max(band, 0.0), 3.0)) * (1.0 + 0.25 * look.x * min(band, 0.0));
    } else if (look.x < 0.0) {
        vec3 cell = floor(place * 1600.0);
        float grain = fract(sin(dot(cell, vec3(12.9898, 78.233, 37.719))) * 43758.5453);
        if (grain > 0.93) rgb = mix(rgb, vec3(1.0), 0.7);
    }
    pixel = vec4(mix(rgb, paper, look.y), shade.a);
    found = vec2(depth, number);
}
"""
_LINES_VERTEX = f"""
#version 330 core
uniform mat4 clip;
uniform vec4 eye;
uniform vec3 paper;
uniform vec2 half_size;  // half the image in pixels
uniform float half_width;  // of the line in pixels
uniform float bias;  // towards the camera, metres
uniform vec4 own;  // w > 0: this colour instead of the lines' own
uniform int corners;  // of one line: 4, or 8 for round ends
in vec3 in_a;
in vec3 in_b;
in vec4 in_paint;  // rgb; w > 0: the brick's own edge colour instead
{_INSTANCE}
flat out vec3 shade;
flat out vec4 ends;  // of the line, pixels
// Which end, offset along the line, offset across it.
const vec3 QUAD[4] = vec3[](vec3(0, -0.6, -1), vec3(0, -0.6, 1), vec3(1, 0.6, -1), vec3(1, 0.6, 1));
const vec3 ROUND[8] = vec3[](
    vec3(0, -1, -0.41), vec3(0, -1, 0.41), vec3(0, -0.41, -1), vec3(0, -0.41, 1),
    vec3(1, 0.41, -1), vec3(1, 0.41, 1), vec3(1, 1, -0.41), vec3(1, 1, 0.41));
vec4 nearer(vec3 point) {{
    vec3 p = placed(point);
    return clip * vec4(p + bias * normalize(eye.xyz - eye.w * p), 1.0);
}}
void main() {{
    vec4 a = nearer(in_a);
    vec4 b = nearer(in_b);
    ends = vec4(a.xy / a.w * half_size + half_size, b.xy / b.w * half_size + half_size);
    vec2 along = ends.zw - ends.xy;
    float span = length(along);
    along = span > 1e-4 ? along / span : vec2(1.0, 0.0);
    vec3 corner = corners == 4 ? QUAD[gl_VertexID & 3] : ROUND[gl_VertexID & 7];
    vec2 offset = (half_width + 0.7) * (along * corner.y + vec2(-along.y, along.x) * corner.z);
    gl_Position = corner.x < 0.5 ? a : b;
    gl_Position.xy += offset / half_size * gl_Position.w;
    vec3 rgb = own.w > 0.5 ? own.rgb : mix(in_paint.rgb, in_edge.rgb, in_paint.w);
    shade = mix(rgb, paper, in_edge.w);
}}
"""
_LINES_FRAGMENT = """
#version 330 core
uniform float half_width;
flat in vec3 shade;
flat in vec4 ends;
out vec4 pixel;
void main() {
    vec2 along = ends.zw - ends.xy;
    float span = length(along);
    vec2 from = gl_FragCoord.xy - ends.xy;
    float across = span > 1e-4 ? abs(along.x * from.y - along.y * from.x) / span : length(from);
    pixel = vec4(shade, clamp(half_width + 0.5 - across, 0.0, 1.0));
}
"""

#: Floats of one placed brick: three rows of its matrix, rgba, edge rgb, fade, finish, number.
INSTANCE_FLOATS = 22
_INSTANCE_FORMAT = "4f 4f 4f 4f 4f 2f/i"
_INSTANCE_NAMES = ("in_row0", "in_row1", "in_row2", "in_colour", "in_edge", "in_extra")
_STRIPS = {4: ((0, 1, 2), (2, 1, 3)), 8: tuple((i, i + 1, i + 2) for i in range(6))}
#: Of the GPU's memory for lines.
_MAX_LINE_BYTES = 20_000_000
#: From the upper left front, so that top, left and right faces get three distinct tones.
PAGE_LIGHT = np.array([-0.10, -0.50, 0.86]) / np.linalg.norm([-0.10, -0.50, 0.86])
PAGE_STRENGTH = (0.58, 0.48)


@dataclass(frozen=True, slots=True)
class Pen:
    """How lines are drawn: width in canvas pixels, and how far in front of where they are, so that the faces
    beside them don't swallow half of them."""

    width_px: float
    bias_m: float


class Canvas:
    """An image with depth that can be copied whole, so that pages share what they have in common."""

    def __init__(self, gl: moderngl.Context, size: tuple[int, int]) -> None:
        self.size = size
        self._buffers = [gl.renderbuffer(size, components=4), gl.depth_renderbuffer(size)]
        self.framebuffer = gl.framebuffer([self._buffers[0]], self._buffers[1])

    def clear(self, rgb: Rgb) -> None:
        self.framebuffer.color_mask = (True, True, True, True)
        self.framebuffer.depth_mask = True
        self.framebuffer.clear(*rgb, 1.0, depth=1.0)

    def release(self) -> None:
        self.framebuffer.release()
        for buffer in self._buffers:
            buffer.release()


class Shape:
    """Vertices of something on the GPU, with room for the places it is drawn at.

    Args:
        rows: one per vertex; names of ``attributes`` without ``in_``.
        indices: of triangles, or None: rows are triangles as they come.
    """

    def __init__(
        self, gl: moderngl.Context, rows: Rows, layout: str, names: tuple[str, ...], indices: Rows | None
    ) -> None:
        self._gl = gl
        self._count = len(rows) if indices is None else indices.size
        self._vertices = gl.buffer(rows.tobytes() or b"\0")
        self._indices = (
            gl.buffer(indices.astype("<u4").tobytes()) if indices is not None and indices.size else None
        )
        self._content = (self._vertices, layout, *names)
        self.n_bytes = self._vertices.size + (self._indices.size if self._indices is not None else 0)
        self._places = gl.buffer(reserve=INSTANCE_FLOATS * 4)
        self._arrays: dict[int, moderngl.VertexArray] = {}

    def draw(self, program: moderngl.Program, places: Float32) -> None:
        """Draw at (n, INSTANCE_FLOATS) places."""
        if self._count == 0 or len(places) == 0:
            return
        # A buffer of just the size needed: earlier ones live on until the GPU has drawn from them.
        self._places.orphan(places.nbytes)
        self._places.write(np.ascontiguousarray(places))
        self._array(program).render(moderngl.TRIANGLES, vertices=self._count, instances=len(places))

    def _array(self, program: moderngl.Program) -> moderngl.VertexArray:
        if program.glo not in self._arrays:
            content = [self._content, (self._places, _INSTANCE_FORMAT, *_INSTANCE_NAMES)]
            self._arrays[program.glo] = self._gl.vertex_array(
                program, content, index_buffer=self._indices, index_element_size=4, skip_errors=True
            )
        return self._arrays[program.glo]

    def release(self) -> None:
        for array in self._arrays.values():
            array.release()
        self._arrays.clear()
        for buffer in (self._vertices, self._indices, self._places):
            if buffer is not None:
                buffer.release()


class Painter:
    """Draws bricks onto canvases. Make it and call it inside ``GlContext.active()``.

    Args:
        gl: the active context; the same at every call.
        parts: geometry of the parts.
        palette: colours.
        paper: what faded bricks are mixed with.
    """

    def __init__(
        self, gl: moderngl.Context, parts: PartSource, palette: Palette, paper: Rgb = (1.0, 1.0, 1.0)
    ) -> None:
        self.gl = gl
        self._parts = parts
        self._palette = palette
        self._shapes: dict[tuple[object, ...], Shape] = {}
        self._faces_program = gl.program(vertex_shader=_FACES_VERTEX, fragment_shader=_FACES_FRAGMENT)
        self._lines_program = gl.program(vertex_shader=_LINES_VERTEX, fragment_shader=_LINES_FRAGMENT)
        for program in (self._faces_program, self._lines_program):
            program["paper"] = paper
        self.light(PAGE_LIGHT, *PAGE_STRENGTH)
        self._query = gl.query(samples=True)
        self._framebuffer: moderngl.Framebuffer | None = None
        self._eye: FloatArray = np.array([0.0, 0.0, 1.0, 0.0])
        self._pen = Pen(1.0, 0.0)

    def canvas(self, size: tuple[int, int]) -> Canvas:
        """A new canvas of (width, height) pixels; the caller releases it."""
        return Canvas(self.gl, size)

    def light(self, towards: npt.ArrayLike, ambient: float, directed: float) -> None:
        """Light from everywhere and from one direction (3,), with their strengths."""
        x, y, z = (float(v) for v in np.asarray(towards, dtype=np.float64))
        self._faces_program["light"] = (x, y, z)
        self._faces_program["strength"] = (ambient, directed)

    def copy(self, source: Canvas, target: Canvas) -> None:
        """Colour and depth of one canvas onto another of the same size."""
        self.gl.copy_framebuffer(target.framebuffer, source.framebuffer)

    def read(self, canvas: Canvas) -> npt.NDArray[np.uint8]:
        """(height, width, 3) uint8, top row first."""
        width, height = canvas.size
        data = canvas.framebuffer.read(components=3, alignment=1)
        return np.flipud(np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)).copy()

    def release(self) -> None:
        """Give the GPU's memory back."""
        for shape in self._shapes.values():
            shape.release()
        self._shapes.clear()
        self._faces_program.release()
        self._lines_program.release()

    def begin(self, canvas: Canvas, view: View, pen: Pen) -> None:
        """Direct what follows onto a canvas, seen through a view of the same proportions."""
        self.begin_on(canvas.framebuffer, view)
        self._pen = pen

    def begin_on(self, framebuffer: moderngl.Framebuffer, view: View) -> None:
        """Direct what follows onto any framebuffer."""
        self._framebuffer, self._eye = framebuffer, np.array(view.eye)
        framebuffer.use()
        self.gl.enable_only(moderngl.DEPTH_TEST)
        self.gl.depth_func = "<="
        clip = np.ascontiguousarray(view.clip_matrix().T).tobytes()
        for program in (self._faces_program, self._lines_program):
            uniform(program, "clip").write(clip)
            program["eye"] = tuple(self._eye.tolist())
        width, height = framebuffer.size
        self._lines_program["half_size"] = (width / 2, height / 2)

    def opaque(self, bricks: Sequence[Drawable], fade: float = 0.0, tint: Rgb | None = None) -> None:
        """Faces and edges of the bricks that are not transparent.

        Args:
            fade: 0 is full colour, 1 is paper.
            tint: a colour for their faces instead of their own.
        """
        # The order of bricks in a step says nothing: lines that cross blend in an order of their own.
        solid = sorted((brick for brick in bricks if not self.is_transparent(brick)), key=_order)
        places = self.places(solid, fade, tint)
        self.faces(solid, places)
        self._edges(solid, places)

    def transparent(self, bricks: Sequence[tuple[Drawable, float]], tint: Rgb | None = None) -> None:
        """The transparent ones, each with its fade, from back to front; of each only its nearest surface."""
        chosen = [item for item in bricks if self.is_transparent(item[0])]
        nearness = [float(item[0].pose.position @ self._towards(item[0].pose.position)) for item in chosen]
        for index in np.argsort(nearness, kind="stable"):
            brick, fade = chosen[index]
            places = self.places([brick], fade, tint)
            self._set_masks(rgb=False, alpha=False, depth=True)
            self.faces([brick], places)
            self._set_masks(rgb=True, alpha=True, depth=True)
            self.gl.enable(moderngl.BLEND)
            self.gl.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
            self.faces([brick], places)
            self.gl.disable(moderngl.BLEND)
            self._edges([brick], places)

    def outline(self, bricks: Sequence[Drawable], rgb: Rgb, pen: Pen) -> None:
        """Thick lines along all edges, which leave no depth behind.

        Drawn before the faces of the same bricks. Only what lies outside the bricks' silhouettes is drawn, those of
        their hidden parts included: the canvas's alpha, which nothing else uses, is the stencil.
        """
        places = self.places(bricks)
        self._set_masks(rgb=False, alpha=True, depth=False)
        self.gl.depth_func = "1"
        clear = places.copy()
        clear[:, 15] = 0.0
        self.faces(bricks, clear)
        self.gl.depth_func = "<="
        self._set_masks(rgb=True, alpha=False, depth=False)
        self.gl.enable(moderngl.BLEND)
        self.gl.blend_func = moderngl.DST_ALPHA, moderngl.ONE_MINUS_DST_ALPHA
        self._set_pen(pen, (*rgb, 1.0), 8)
        for shape, chosen in self._line_shapes(bricks, 8):
            shape.draw(self._lines_program, places[chosen])
        self.gl.disable(moderngl.BLEND)
        self._set_masks(rgb=True, alpha=True, depth=True)

    def overlay(self, segments: FloatArray, rgb: Rgb, pen: Pen) -> None:
        """(n, 2, 3) lines in the frame of the view, in front of everything."""
        shape = self._line_shape(line_rows(segments, (*rgb, 0.0)), 8)
        self.gl.depth_func = "1"
        self._draw_lines([(shape, np.array([0]))], figure_place(), pen, (*rgb, 1.0), 8)
        self.gl.depth_func = "<="
        shape.release()

    def figure(self, figure: Figure) -> None:
        """Something that is no brick, with colours of its own, in the frame of the view."""
        faces = self.figure_shape(figure)
        faces.draw(self._faces_program, figure_place())
        faces.release()
        self.figure_lines(figure)

    def figure_lines(self, figure: Figure, pen: Pen | None = None) -> None:
        """Only its lines, with the pen given to ``begin`` if none is given."""
        lines = self._line_shape(figure.lines, 4)
        self._draw_lines([(lines, np.array([0]))], figure_place(), pen or self._pen, (0.0, 0.0, 0.0, 0.0), 4)
        lines.release()

    def figure_shape(self, figure: Figure) -> Shape:
        """Its triangles; the caller releases it."""
        return self._face_shape(figure.triangles)

    def visible_shares(self, bricks: Sequence[Drawable]) -> list[float]:
        """Of each brick, how much of its surface what was drawn so far leaves visible; about 1 if nothing hides it."""
        self._set_masks(rgb=False, alpha=False, depth=False)
        shares = []
        for brick in bricks:
            places = self.places([brick])
            counts = []
            for test in ("<=", "1"):
                self.gl.depth_func = test
                with self._query:
                    self.faces([brick], places)
                counts.append(int(self._query.samples))
            # Half of a brick's faces look away: by itself it would hide as much again.
            shares.append(min(1.0, 2 * counts[0] / counts[1]) if counts[1] else 1.0)
        self.gl.depth_func = "<="
        self._set_masks(rgb=True, alpha=True, depth=True)
        return shares

    def edges(self, bricks: Sequence[Drawable]) -> None:
        """Only the lines."""
        self._edges(bricks, self.places(bricks))

    def is_transparent(self, brick: Drawable) -> bool:
        return self._palette.paint(brick.colour).alpha < 1.0

    def places(self, bricks: Sequence[Drawable], fade: float = 0.0, tint: Rgb | None = None) -> Float32:
        """(n, INSTANCE_FLOATS) of bricks, numbered from 1."""
        rows = np.zeros((len(bricks), INSTANCE_FLOATS), dtype=np.float32)
        if not bricks:
            return rows
        rows[:, :12] = placements(bricks).reshape(-1, 12)
        paints = [self._palette.paint(brick.colour) for brick in bricks]
        rows[:, 12:20] = [_paint_floats(paint, tint) for paint in paints]
        rows[:, 19] = fade
        rows[:, 20] = [paint.finish for paint in paints]
        rows[:, 21] = np.arange(1, len(bricks) + 1)
        return rows

    def faces(
        self,
        bricks: Sequence[Drawable],
        places: Float32,
        program: moderngl.Program | None = None,
        *,
        simple: bool = False,
    ) -> None:
        """Only the faces; ``simple``: of the low-poly meshes. ``program``: a shader with the same vertex inputs."""
        if not bricks:
            return
        rotation = places[:, :12].reshape(-1, 3, 4)
        towards = self._eye[:3] - self._eye[3] * rotation[:, :, 3]
        above = np.einsum("ni,ni->n", rotation[:, :, 2], towards) > 0
        groups: dict[tuple[str, bool], list[int]] = {}
        for index, (brick, up) in enumerate(zip(bricks, above.tolist(), strict=True)):
            groups.setdefault((brick.part, up), []).append(index)
        for (part, up), chosen in groups.items():
            self._part_shape(part, up, simple).draw(program or self._faces_program, places[chosen])

    def _towards(self, position: FloatArray) -> FloatArray:
        direction: FloatArray = self._eye[:3] - self._eye[3] * position
        return direction / float(np.linalg.norm(direction))

    def _set_masks(self, *, rgb: bool, alpha: bool, depth: bool) -> None:
        if self._framebuffer is None:
            raise RuntimeError("begin() comes before drawing")
        self._framebuffer.color_mask = (rgb, rgb, rgb, alpha)
        self._framebuffer.depth_mask = depth
        # Masks take effect when a framebuffer is bound.
        self._framebuffer.use()

    def _edges(self, bricks: Sequence[Drawable], places: Float32) -> None:
        self._draw_lines(self._line_shapes(bricks, 4), places, self._pen, (0.0, 0.0, 0.0, 0.0), 4)

    def _draw_lines(
        self,
        shapes: Sequence[tuple[Shape, npt.NDArray[np.int_]]],
        places: Float32,
        pen: Pen,
        own: tuple[float, float, float, float],
        corners: int,
    ) -> None:
        """Lines blend at their sides, so they come after the faces and leave no depth."""
        if pen.width_px <= 0:
            return
        self._set_masks(rgb=True, alpha=False, depth=False)
        self.gl.enable(moderngl.BLEND)
        self.gl.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        self._set_pen(pen, own, corners)
        for shape, chosen in shapes:
            shape.draw(self._lines_program, places[chosen])
        self.gl.disable(moderngl.BLEND)
        self._set_masks(rgb=True, alpha=True, depth=True)

    def _set_pen(self, pen: Pen, own: tuple[float, float, float, float], corners: int) -> None:
        self._lines_program["half_width"] = pen.width_px / 2
        self._lines_program["bias"] = pen.bias_m
        self._lines_program["own"] = own
        self._lines_program["corners"] = corners

    def _part_shape(self, part: str, above: bool, simple: bool) -> Shape:
        key = ("faces", part, above, simple)
        if key not in self._shapes:
            geometry = self._parts.geometry(part)
            mesh = geometry.low_poly if simple else geometry.mesh
            if not len(mesh.triangles) and not len(mesh.edges):
                raise BadInputError(
                    f"part {part} ({geometry.description}) has no geometry to draw",
                    fix="leave it out of the model",
                )
            self._shapes[key] = self._face_shape(part_triangles(geometry, mesh, self._palette, above=above))
        return self._shapes[key]

    def _face_shape(self, rows: Rows) -> Shape:
        return Shape(self.gl, rows, "3f 3f 4f1", ("in_position", "in_normal", "in_paint"), None)

    def _line_shapes(
        self, bricks: Sequence[Drawable], corners: int
    ) -> list[tuple[Shape, npt.NDArray[np.int_]]]:
        """Shapes of the bricks' lines, each with the numbers of its bricks."""
        if not bricks:
            return []
        self._forget_lines()
        poses = placements(bricks)
        towards = self._eye[:3] - self._eye[3] * poses[:, :, 3]
        towards /= np.linalg.norm(towards, axis=1, keepdims=True)
        directions = np.einsum("nij,ni->nj", poses[:, :, :3], towards)
        # A pinhole camera sees every brick from elsewhere: directions within two degrees share their lines.
        digits = 5 if self._eye[3] == 0 else 1
        groups: dict[tuple[str, tuple[float, ...]], list[int]] = {}
        keys = map(tuple, np.round(directions, digits).tolist())
        for index, (brick, direction) in enumerate(zip(bricks, keys, strict=True)):
            groups.setdefault((brick.part, direction), []).append(index)
        return [
            (self._part_line_shape(part, directions[chosen[0]], key, corners), np.array(chosen))
            for (part, key), chosen in groups.items()
        ]

    def _forget_lines(self) -> None:
        """Bricks at odd angles have lines of their own: beyond a limit all lines are made anew."""
        lines = [key for key in self._shapes if key[0] == "lines"]
        if sum(self._shapes[key].n_bytes for key in lines) > _MAX_LINE_BYTES:
            for key in lines:
                self._shapes.pop(key).release()

    def _part_line_shape(
        self, part: str, direction: FloatArray, key: tuple[float, ...], corners: int
    ) -> Shape:
        name = ("lines", part, key, corners)
        if name not in self._shapes:
            rows = part_lines(self._parts.geometry(part), self._palette, direction)
            self._shapes[name] = self._line_shape(rows, corners)
        return self._shapes[name]

    def _line_shape(self, rows: Rows, corners: int) -> Shape:
        strip = np.array(_STRIPS[corners])
        indices = (np.arange(len(rows))[:, None, None] * corners + strip[None]).reshape(-1)
        return Shape(self.gl, np.repeat(rows, corners), "3f 3f 4f1", ("in_a", "in_b", "in_paint"), indices)


def placements(bricks: Sequence[Drawable]) -> FloatArray:
    """(n, 3, 4) from the part frame to the frame of the view: pose, after the deformation of stretched bricks."""
    poses = [brick.pose for brick in bricks]
    x, y, z, w = np.array([pose.quaternion for pose in poses]).T
    rotation = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    placed = np.empty((len(poses), 3, 4))
    placed[:, :, :3] = np.array(rotation).transpose(2, 0, 1)
    placed[:, :, 3] = [pose.position for pose in poses]
    for row, brick in zip(placed, bricks, strict=True):
        stretch = getattr(brick, "stretch", None)
        if stretch is not None:
            row[:, :3] = row[:, :3] @ np.reshape(stretch, (3, 3))
    return placed


def _order(brick: Drawable) -> tuple[object, ...]:
    return brick.part, brick.colour, brick.pose.to_list()


def figure_place() -> Float32:
    """One place for what is no brick: the frame of the view itself."""
    row = np.zeros((1, INSTANCE_FLOATS), dtype=np.float32)
    row[0, [0, 5, 10, 12, 13, 14, 15]] = 1.0
    return row


def _paint_floats(paint: Paint, tint: Rgb | None) -> tuple[float, ...]:
    return (*(tint or paint.face), paint.alpha, *paint.edge, 0.0)


def uniform(program: moderngl.Program, name: str) -> moderngl.Uniform:
    """The uniform of that name."""
    member = program[name]
    if not isinstance(member, moderngl.Uniform):
        raise TypeError(f"{name} is no uniform of the shader")
    return member
