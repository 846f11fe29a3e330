"""Drawing bricks with GL: flat-shaded faces, edge lines of constant width, thick outlines.

Geometry goes to the GPU once per part; a line is a screen-space quad made from a segment in the vertex shader.
LDraw's conditional lines (type 5) depend on the view direction alone in an orthographic view, so they are resolved
here once per part and direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import moderngl
import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import Mesh, PartGeometry
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose

from jarvis_render.paint import Palette, Rgb
from jarvis_render.view import DEPTH_RANGE_M, OrthoView

Float32 = npt.NDArray[np.float32]


class Drawable(Protocol):
    """A brick somewhere: any struct with a part, a colour and a pose (metres, frame of the view)."""

    @property
    def part(self) -> str: ...
    @property
    def colour(self) -> int: ...
    @property
    def pose(self) -> Pose: ...


class PartSource(Protocol):
    """Where part geometry comes from, e.g. jarvis_bricks' catalogue."""

    def geometry(self, part: str) -> PartGeometry: ...


_FACES_VERTEX = """
#version 330 core
uniform mat4 clip;
uniform mat4 model;
uniform vec4 colour;
uniform vec3 towards;
uniform vec3 light;
uniform float fade;
in vec3 in_position;
in vec3 in_normal;
in vec4 in_paint;  // rgb; w > 0: the brick's own colour instead
flat out vec4 shade;
void main() {
    vec3 normal = mat3(model) * in_normal;
    if (dot(normal, towards) < 0.0) normal = -normal;
    vec3 base = mix(in_paint.rgb, colour.rgb, in_paint.w);
    float brightness = 0.58 + 0.48 * max(dot(normal, light), 0.0);
    shade = vec4(mix(min(base * brightness, 1.0), vec3(1.0), fade), colour.a);
    gl_Position = clip * (model * vec4(in_position, 1.0));
}
"""
_FRAGMENT = """
#version 330 core
flat in vec4 shade;
out vec4 pixel;
void main() { pixel = shade; }
"""
_LINES_VERTEX = """
#version 330 core
uniform mat4 clip;
uniform mat4 model;
uniform vec4 colour;
uniform vec2 half_size;  // half the image in pixels
uniform float half_width;  // of the line in pixels
uniform float bias;  // towards the camera, in clip units
uniform float fade;
uniform float all_own;  // 1: ignore the lines' own colours
in vec3 in_a;
in vec3 in_b;
in vec4 in_paint;  // rgb; w > 0: the brick's own edge colour instead
in vec3 in_corner;  // which end (0 or 1), offset along the line, offset across it
flat out vec4 shade;
void main() {
    vec4 a = clip * (model * vec4(in_a, 1.0));
    vec4 b = clip * (model * vec4(in_b, 1.0));
    vec2 along = (b.xy - a.xy) * half_size;
    float span = length(along);
    along = span > 1e-4 ? along / span : vec2(1.0, 0.0);
    vec2 offset = half_width * (along * in_corner.y + vec2(-along.y, along.x) * in_corner.z);
    gl_Position = mix(a, b, in_corner.x);
    gl_Position.xy += offset / half_size;
    gl_Position.z -= bias;
    shade = vec4(mix(mix(in_paint.rgb, colour.rgb, max(in_paint.w, all_own)), vec3(1.0), fade), colour.a);
}
"""

#: Triangle strips for one line: plain with short overlapping ends, and with round ends (an octagon).
_QUAD = np.array([[0, -0.6, -1], [0, -0.6, 1], [1, 0.6, -1], [1, 0.6, 1]], dtype="f4")
_ROUND = np.array(
    [
        *([0, -1, -0.41], [0, -1, 0.41], [0, -0.41, -1], [0, -0.41, 1]),
        *([1, 0.41, -1], [1, 0.41, 1], [1, 1, -0.41], [1, 1, 0.41]),
    ],
    dtype="f4",
)
_LINE_BYTES = 40
#: What lies deeper than this under a body's surface is inside it.
_SKIN_M = 5e-5
#: From the upper left front, so that top, left and right faces get three distinct tones.
_LIGHT = np.array([-0.10, -0.50, 0.86]) / np.linalg.norm([-0.10, -0.50, 0.86])


#: LDraw codes that mean "the brick's colour" and "its edge colour".
OWN_COLOUR, OWN_EDGE = 16, 24


@dataclass(frozen=True, slots=True)
class Pen:
    """How lines are drawn: width in canvas pixels, and how far in front of where they are, so that the faces
    beside them don't swallow half of them."""

    width_px: float
    bias_m: float


@dataclass(frozen=True, slots=True)
class Figure:
    """Triangles and lines ready for the GPU, in the model's frame (metres).

    Attributes:
        triangles: (3 m, 10) float32 rows of position, normal, rgb and 1 where the model's own colour is meant.
        lines: (k, 10) float32 rows of both ends, rgb and 1 where the model's own edge colour is meant.
    """

    triangles: Float32
    lines: Float32


class Canvas:
    """A multisampled image with depth that can be copied whole, so that pages share what they have in common."""

    def __init__(self, gl: moderngl.Context, size: tuple[int, int], samples: int) -> None:
        self.size = size
        self._buffers = [
            gl.renderbuffer(size, components=4, samples=samples),
            gl.depth_renderbuffer(size, samples=samples),
        ]
        self.framebuffer = gl.framebuffer([self._buffers[0]], self._buffers[1])

    def clear(self, rgb: Rgb) -> None:
        self.framebuffer.clear(*rgb, 1.0, depth=1.0)

    def release(self) -> None:
        self.framebuffer.release()
        for buffer in self._buffers:
            buffer.release()


class Painter:
    """Draws bricks onto canvases. Make it and call it inside ``GlContext.active()``.

    Args:
        gl: the active context; the same at every call.
        parts: geometry of the parts.
        palette: colours.
    """

    def __init__(self, gl: moderngl.Context, parts: PartSource, palette: Palette) -> None:
        self._gl = gl
        self._parts = parts
        self._palette = palette
        self._triangles: dict[tuple[str, bool], moderngl.VertexArray] = {}
        self._face_buffers: list[moderngl.Buffer] = []
        self._lines: dict[tuple[str, tuple[float, ...]], moderngl.Buffer] = {}
        self._faces_program = gl.program(vertex_shader=_FACES_VERTEX, fragment_shader=_FRAGMENT)
        self._lines_program = gl.program(vertex_shader=_LINES_VERTEX, fragment_shader=_FRAGMENT)
        self._faces_program["light"] = tuple(_LIGHT)
        self._quad = gl.buffer(_QUAD.tobytes())
        self._round = gl.buffer(_ROUND.tobytes())
        self._framebuffer: moderngl.Framebuffer | None = None
        self._towards: FloatArray = np.array([0.0, 0.0, 1.0])
        self._pen = Pen(1.0, 0.0)

    def canvas(self, size: tuple[int, int]) -> Canvas:
        """A new canvas of (width, height) pixels; the caller releases it."""
        return Canvas(self._gl, size, min(4, int(self._gl.max_samples)))

    def copy(self, source: Canvas, target: Canvas) -> None:
        """Colour and depth of one canvas onto another of the same size."""
        self._gl.copy_framebuffer(target.framebuffer, source.framebuffer)

    def read(self, canvas: Canvas) -> npt.NDArray[np.uint8]:
        """(height, width, 3) uint8, top row first."""
        width, height = canvas.size
        resolved = self._gl.simple_framebuffer(canvas.size, components=4)
        self._gl.copy_framebuffer(resolved, canvas.framebuffer)
        data = resolved.read(components=3, alignment=1)
        resolved.release()
        return np.flipud(np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)).copy()

    def release(self) -> None:
        """Give the GPU's memory back."""
        for array in self._triangles.values():
            array.release()
        for buffer in (*self._face_buffers, *self._lines.values(), self._quad, self._round):
            buffer.release()
        self._faces_program.release()
        self._lines_program.release()

    def begin(self, canvas: Canvas, view: OrthoView, pen: Pen) -> None:
        """Direct what follows onto a canvas, seen through a view of the same proportions."""
        self._framebuffer, self._towards, self._pen = canvas.framebuffer, view.axes[2], pen
        canvas.framebuffer.use()
        self._gl.enable_only(moderngl.DEPTH_TEST)
        self._gl.depth_func = "<="
        clip = np.ascontiguousarray(view.clip_matrix().T).tobytes()
        for program in (self._faces_program, self._lines_program):
            _uniform(program, "clip").write(clip)
        self._faces_program["towards"] = tuple(self._towards)
        self._lines_program["half_size"] = (canvas.size[0] / 2, canvas.size[1] / 2)

    def opaque(self, bricks: Sequence[Drawable], fade: float = 0.0) -> None:
        """Faces and edges of the bricks that are not transparent; ``fade`` 0 is full colour, 1 is white."""
        for brick in bricks:
            if not self.is_transparent(brick):
                self._faces(brick, fade)
                self._edges(brick, fade)

    def transparent(self, bricks: Sequence[tuple[Drawable, float]]) -> None:
        """The transparent ones, each with its fade, from back to front; of each only its nearest surface."""
        chosen = [item for item in bricks if self.is_transparent(item[0])]
        for brick, fade in sorted(chosen, key=lambda item: float(item[0].pose.position @ self._towards)):
            self._set_masks(rgb=False, alpha=False, depth=True)
            self._faces(brick, fade)
            self._set_masks(rgb=True, alpha=True, depth=True)
            self._gl.enable(moderngl.BLEND)
            self._gl.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
            self._faces(brick, fade)
            self._gl.disable(moderngl.BLEND)
            self._edges(brick, fade)

    def outline(self, bricks: Sequence[Drawable], rgb: Rgb, pen: Pen) -> None:
        """Thick lines along all edges, which leave no depth behind.

        Drawn before the faces of the same bricks. Only what lies outside the bricks' silhouettes is drawn, those of
        their hidden parts included: the canvas's alpha, which nothing else uses, is the stencil.
        """
        self._set_masks(rgb=False, alpha=True, depth=False)
        self._gl.depth_func = "1"
        for brick in bricks:
            self._face_uniforms(brick.pose, (0.0, 0.0, 0.0), 0.0, 0.0)
            self._triangle_array(brick).render(moderngl.TRIANGLES)
        self._gl.depth_func = "<="
        self._set_masks(rgb=True, alpha=False, depth=False)
        self._gl.enable(moderngl.BLEND)
        self._gl.blend_func = moderngl.DST_ALPHA, moderngl.ONE_MINUS_DST_ALPHA
        for brick in bricks:
            lines = self._line_buffer(brick)
            self._strip(lines, self._round, 8, brick.pose, rgb, pen, fade=0.0, all_own=True)
        self._gl.disable(moderngl.BLEND)
        self._set_masks(rgb=True, alpha=True, depth=True)

    def visible_share(self, brick: Drawable) -> float:
        """Share of a brick's surface samples that what was drawn so far leaves visible, 0 to 1."""
        self._set_masks(rgb=False, alpha=False, depth=False)
        counts = []
        for test in ("<=", "1"):
            self._gl.depth_func = test
            query = self._gl.query(samples=True)
            with query:
                self._faces(brick, 0.0)
            counts.append(int(query.samples))
        self._gl.depth_func = "<="
        self._set_masks(rgb=True, alpha=True, depth=True)
        return counts[0] / counts[1] if counts[1] else 0.0

    def overlay(self, segments: FloatArray, rgb: Rgb, pen: Pen) -> None:
        """(n, 2, 3) lines in the frame of the view, in front of everything."""
        paint = np.tile(np.array([*rgb, 0.0]), (len(segments), 1))
        rows = np.concatenate([segments.reshape(-1, 6), paint], axis=1).astype(np.float32)
        lines = self._gl.buffer(rows.tobytes())
        self._gl.depth_func = "1"
        self._strip(lines, self._quad, 4, Pose(), rgb, pen, fade=0.0, all_own=True)
        self._gl.depth_func = "<="
        lines.release()

    def figure(self, figure: Figure) -> None:
        """Something that is no brick, with colours of its own, in the frame of the view."""
        vertices = self._gl.buffer(figure.triangles.tobytes())
        array = self._face_array(vertices)
        self._face_uniforms(Pose(), (1.0, 1.0, 1.0), 1.0, 0.0)
        array.render(moderngl.TRIANGLES)
        array.release()
        vertices.release()
        if len(figure.lines):
            lines = self._gl.buffer(figure.lines.tobytes())
            self._strip(lines, self._quad, 4, Pose(), (0.0, 0.0, 0.0), self._pen, fade=0.0, all_own=False)
            lines.release()

    def is_transparent(self, brick: Drawable) -> bool:
        return self._palette.paint(brick.colour).alpha < 1.0

    def _set_masks(self, *, rgb: bool, alpha: bool, depth: bool) -> None:
        if self._framebuffer is None:
            raise RuntimeError("begin() comes before drawing")
        self._framebuffer.color_mask = (rgb, rgb, rgb, alpha)
        self._framebuffer.depth_mask = depth
        # Masks take effect when a framebuffer is bound.
        self._framebuffer.use()

    def _faces(self, brick: Drawable, fade: float) -> None:
        paint = self._palette.paint(brick.colour)
        self._face_uniforms(brick.pose, paint.face, paint.alpha, fade)
        self._triangle_array(brick).render(moderngl.TRIANGLES)

    def _edges(self, brick: Drawable, fade: float) -> None:
        rgb = self._palette.paint(brick.colour).edge
        lines = self._line_buffer(brick)
        self._strip(lines, self._quad, 4, brick.pose, rgb, self._pen, fade=fade, all_own=False)

    def _face_uniforms(self, pose: Pose, rgb: Rgb, alpha: float, fade: float) -> None:
        _uniform(self._faces_program, "model").write(_gl_matrix(pose))
        self._faces_program["colour"] = (*rgb, alpha)
        self._faces_program["fade"] = fade

    def _strip(
        self,
        lines: moderngl.Buffer,
        template: moderngl.Buffer,
        corners: int,
        pose: Pose,
        rgb: Rgb,
        pen: Pen,
        *,
        fade: float,
        all_own: bool,
    ) -> None:
        """Draw every line of a buffer with one strip template; ``all_own`` overrides the lines' own colours."""
        count = lines.size // _LINE_BYTES
        if count == 0:
            return
        program = self._lines_program
        _uniform(program, "model").write(_gl_matrix(pose))
        program["colour"] = (*rgb, 1.0)
        program["fade"] = fade
        program["all_own"] = float(all_own)
        program["half_width"] = pen.width_px / 2
        program["bias"] = pen.bias_m / DEPTH_RANGE_M
        array = self._gl.vertex_array(
            program,
            [(template, "3f", "in_corner"), (lines, "3f 3f 4f/i", "in_a", "in_b", "in_paint")],
        )
        array.render(moderngl.TRIANGLE_STRIP, vertices=corners, instances=count)
        array.release()

    def _face_array(self, vertices: moderngl.Buffer) -> moderngl.VertexArray:
        content = [(vertices, "3f 3f 4f", "in_position", "in_normal", "in_paint")]
        return self._gl.vertex_array(self._faces_program, content)

    def _triangle_array(self, brick: Drawable) -> moderngl.VertexArray:
        above = bool((brick.pose.rotation.T @ self._towards)[2] > 0)
        key = (brick.part, above)
        if key not in self._triangles:
            geometry = self._parts.geometry(brick.part)
            mesh = geometry.mesh
            corners = mesh.vertices[mesh.triangles]
            shown = ~inside_body(corners, geometry) if above else np.ones(len(corners), dtype=bool)
            rows = mesh_triangles(corners[shown], mesh.colours[shown], self._palette)
            self._face_buffers.append(self._gl.buffer(rows.tobytes() or b"\0"))
            self._triangles[key] = self._face_array(self._face_buffers[-1])
        return self._triangles[key]

    def _line_buffer(self, brick: Drawable) -> moderngl.Buffer:
        direction = brick.pose.rotation.T @ self._towards
        key = (brick.part, tuple(np.round(direction, 5).tolist()))
        if key not in self._lines:
            geometry = self._parts.geometry(brick.part)
            rows = mesh_lines(geometry.mesh, self._palette, direction)
            if direction[2] > 0:
                rows = rows[~inside_body(rows[:, :6].reshape(-1, 2, 3), geometry)]
            # A buffer can't be empty: one row less than a line counts as none.
            self._lines[key] = self._gl.buffer(rows.tobytes() or b"\0")
        return self._lines[key]


def inside_body(shapes: Float32, geometry: PartGeometry) -> npt.NDArray[np.bool_]:
    """(n,) which triangles or lines no one sees from above, because they lie inside the body (tubes, inner walls).

    Only a box of a physical part whose eight corners are corners of the part is taken to be filled by it: not the
    box around a cylinder.

    Args:
        shapes: (n, k, 3) corners in the part frame.
    """
    hidden = np.zeros(len(shapes), dtype=bool)
    if not geometry.physical:
        return hidden
    for box in geometry.boxes:
        if not _fills(geometry.mesh, box):
            continue
        low = box.pose.position - np.array(box.size_m) / 2
        high = box.pose.position + np.array(box.size_m) / 2
        # The underside belongs to it: from above no one sees that either.
        low = low + [_SKIN_M, _SKIN_M, -_SKIN_M]
        hidden |= ((shapes > low) & (shapes < high - _SKIN_M)).all(axis=(1, 2))
    return hidden


def _fills(mesh: Mesh, box: Box) -> bool:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = box.pose.position + signs * np.array(box.size_m) / 2
    gaps = np.abs(mesh.vertices[None] - corners[:, None]).max(axis=2).min(axis=1)
    return bool((gaps < _SKIN_M).all())


def mesh_triangles(corners: Float32, colours: npt.NDArray[np.int32], palette: Palette) -> Float32:
    """(3 m, 10) rows as in Figure, with flat normals, of (m, 3, 3) triangles and their colour codes."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(length > 0, length, 1.0)
    paints = _paints(colours, OWN_COLOUR, palette, edge=False)
    rows = np.empty((len(corners), 3, 10), dtype=np.float32)
    rows[:, :, 0:3], rows[:, :, 3:6], rows[:, :, 6:10] = corners, normals[:, None], paints[:, None]
    return rows.reshape(-1, 10)


def mesh_lines(mesh: Mesh, palette: Palette, towards: FloatArray) -> Float32:
    """(k, 10) rows as in Figure: all edges, and the conditional lines that show from a direction.

    Args:
        towards: (3,) direction to the camera in the part frame.
    """
    shown = conditional_shown(mesh.conditional, towards)
    segments = np.concatenate([mesh.edges.reshape(-1, 2, 3), mesh.conditional[shown][:, :2]])
    own = np.full(int(shown.sum()), OWN_EDGE, dtype=np.int32)
    rows = np.empty((len(segments), 10), dtype=np.float32)
    rows[:, 0:6] = segments.reshape(-1, 6)
    rows[:, 6:10] = _paints(np.concatenate([mesh.edge_colours, own]), OWN_EDGE, palette, edge=True)
    return rows


def conditional_shown(conditional: Float32, towards: FloatArray) -> npt.NDArray[np.bool_]:
    """(c,) which LDraw type-5 lines show: both control points project onto the same side of the line.

    Args:
        conditional: (c, 4, 3) segment ends and control points.
        towards: (3,) direction to the camera, any length.
    """
    a, b, c, d = np.moveaxis(conditional.astype(np.float64), 1, 0)
    # In an orthographic view the side of a point is the sign of the triple product with the view direction.
    across = np.cross(b - a, np.asarray(towards))
    side_c, side_d = np.sum(across * (c - a), axis=1), np.sum(across * (d - a), axis=1)
    shown: npt.NDArray[np.bool_] = side_c * side_d > 0
    return shown


def _paints(codes: npt.NDArray[np.int32], own: int, palette: Palette, *, edge: bool) -> Float32:
    """(n, 4) rgb and 1 where the code means the brick's own colour."""
    table: dict[int, tuple[float, ...]] = {own: (0.0, 0.0, 0.0, 1.0)}
    unique, inverse = np.unique(codes, return_inverse=True)
    for code in unique.tolist():
        if code not in table:
            paint = palette.paint(code)
            table[code] = (*(paint.edge if edge else paint.face), 0.0)
    rows = np.array([table[code] for code in unique.tolist()], dtype=np.float32).reshape(-1, 4)
    return rows[inverse.reshape(-1)]


def _uniform(program: moderngl.Program, name: str) -> moderngl.Uniform:
    member = program[name]
    if not isinstance(member, moderngl.Uniform):
        raise TypeError(f"{name} is no uniform of the shader")
    return member


def _gl_matrix(pose: Pose) -> bytes:
    return np.ascontiguousarray(pose.matrix.T, dtype=np.float32).tobytes()
