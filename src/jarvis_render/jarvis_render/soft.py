"""Bricks lit by a sky and a wide lamp: shadows are soft because many small lights are looked at from.

Each light has a tile in one depth texture, drawn from its direction; a point is lit by the share of lights that see
it. (The idea is shadow mapping: Williams, "Casting curved shadows on curved surfaces", SIGGRAPH 1978.)
"""

from __future__ import annotations

from collections.abc import Sequence

import moderngl
import numpy as np
from jarvis_core.pose import FloatArray

from jarvis_render.figures import Float32
from jarvis_render.scene import Drawable, Painter, Shape, uniform
from jarvis_render.view import View

_TILES = 4
_TILE_PX = 512
_LIGHTS = _TILES * _TILES
#: How many of the lights are the lamp, the others being the sky; shares of the light of both.
_LAMPS = 6
_LAMP_SHARE, _SKY_SHARE, _AMBIENT = 0.62, 0.50, 0.10
_LAMP_TOWARDS = np.array([-0.45, -0.55, 1.0])
_LAMP_SPREAD = 0.14
#: Radius within which a pixel looks for shadows, of the lamp's and of the sky's lights; half tiles.
_LAMP_BLUR, _SKY_BLUR = 0.006, 0.02

_VERTEX_INPUTS = """
in vec3 in_position;
in vec3 in_normal;
in vec4 in_paint;
in vec4 in_row0;
in vec4 in_row1;
in vec4 in_row2;
in vec4 in_colour;
in vec4 in_edge;
in vec2 in_extra;
vec3 placed(vec3 point) {
    vec4 p = vec4(point, 1.0);
    return vec3(dot(in_row0, p), dot(in_row1, p), dot(in_row2, p));
}
"""
_SHADOW_VERTEX = f"""
#version 330 core
uniform mat4 clip;
{_VERTEX_INPUTS}
void main() {{ gl_Position = clip * vec4(placed(in_position), 1.0); }}
"""
_SHADOW_FRAGMENT = "#version 330 core\nvoid main() {}\n"
_VERTEX = f"""
#version 330 core
uniform mat4 clip;
uniform vec4 eye;
uniform vec3 paper;
{_VERTEX_INPUTS}
flat out vec3 normal;
flat out vec4 base;
flat out vec2 look;
out vec3 place;
void main() {{
    place = placed(in_position);
    vec3 n = vec3(dot(in_row0.xyz, in_normal), dot(in_row1.xyz, in_normal), dot(in_row2.xyz, in_normal));
    vec3 to = eye.xyz - eye.w * place;
    normal = dot(n, to) < 0.0 ? -n : n;
    base = vec4(pow(mix(in_paint.rgb, in_colour.rgb, in_paint.w), vec3(2.2)), in_colour.a);
    look = vec2(in_extra.x * in_paint.w, in_edge.w);
    gl_Position = clip * vec4(place, 1.0);
}}
"""
_FRAGMENT = f"""
#version 330 core
const int LIGHTS = {_LIGHTS};
uniform mat4 lights[LIGHTS];  // clip matrices
uniform vec4 towards[LIGHTS];  // direction and strength
uniform float ambient;
uniform float offset;  // metres along the normal, so that faces don't shade themselves
uniform vec4 eye;
uniform vec3 paper;
uniform sampler2DShadow depths;
flat in vec3 normal;
flat in vec4 base;
flat in vec2 look;
in vec3 place;
out vec4 pixel;
vec3 tiled(vec3 at, int i) {{
    return vec3((at.xy * 0.5 + 0.5 + vec2(i % {_TILES}, i / {_TILES})) / {_TILES}.0, at.z * 0.5 + 0.5);
}}
void main() {{
    vec3 to = normalize(eye.xyz - eye.w * place);
    vec3 from = place + normal * offset;
    float chance = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453);
    float spin = 6.2832 * chance;
    float radius = sqrt(fract(chance * 57.31));
    float lit = ambient;
    float gloss = 0.0;
    for (int i = 0; i < LIGHTS; ++i) {{
        float facing = dot(normal, towards[i].xyz);
        if (facing <= 0.0) continue;
        vec3 at = (lights[i] * vec4(from, 1.0)).xyz;
        // Beyond its ball a light knows of nothing that could be in the way.
        float seen = 1.0;
        if (all(lessThan(abs(at.xy), vec2(0.97))) && at.z < 0.995) {{
            // Neighbouring pixels look a little beside each other: edges of shadows blur instead of repeating.
            float angle = spin + 2.4 * float(i);
            at.xy += (i < {_LAMPS} ? {_LAMP_BLUR} : {_SKY_BLUR}) * radius * vec2(cos(angle), sin(angle));
            seen = texture(depths, tiled(at, i));
        }}
        lit += towards[i].w * facing * seen;
        if (i < {_LAMPS}) gloss += seen * pow(max(dot(normal, normalize(to + towards[i].xyz)), 0.0), 60.0);
    }}
    gloss *= (0.10 + 0.5 * max(look.x, 0.0)) / {_LAMPS}.0;
    // Smooth plastic reflects the sky at a flat angle.
    float rim = 0.10 * pow(1.0 - max(dot(normal, to), 0.0), 4.0);
    vec3 rgb = base.rgb * lit + gloss + rim * max(normal.z + 0.3, 0.0);
    if (look.x > 0.0) {{
        float band = sin(dot(place, vec3(210.0, -130.0, 330.0)));
        rgb = mix(rgb, vec3(0.9), look.x * 0.4 * pow(max(band, 0.0), 3.0));
    }}
    pixel = vec4(mix(pow(min(rgb, 1.0), vec3(1.0 / 2.2)), paper, look.y), base.a);
}}
"""


class SoftLight:
    """Shadows and shading for one scene at a time. Use it inside ``GlContext.active()``.

    Args:
        painter: whose bricks are lit.
    """

    def __init__(self, painter: Painter) -> None:
        gl = painter.gl
        self._painter = painter
        self._shadow_program = gl.program(vertex_shader=_SHADOW_VERTEX, fragment_shader=_SHADOW_FRAGMENT)
        self.program = gl.program(vertex_shader=_VERTEX, fragment_shader=_FRAGMENT)
        self._depths = gl.depth_texture((_TILES * _TILE_PX, _TILES * _TILE_PX))
        self._depths.compare_func = "<="
        self._depths.filter = moderngl.LINEAR, moderngl.LINEAR
        self._framebuffer = gl.framebuffer(depth_attachment=self._depths)
        self._directions = light_directions()
        self.program["ambient"] = _AMBIENT

    def release(self) -> None:
        self._framebuffer.release()
        self._depths.release()
        self._shadow_program.release()
        self.program.release()

    def cast(
        self,
        bricks: Sequence[Drawable],
        solid: Sequence[tuple[Shape, Float32]],
        centre: FloatArray,
        radius_m: float,
    ) -> None:
        """Draw the depths of all lights.

        Args:
            bricks: that cast shadows. solid: other things that do, with their places.
            centre: (3,) and radius of a ball around everything, metres.
        """
        gl = self._painter.gl
        self._framebuffer.use()
        self._framebuffer.clear(depth=1.0)
        gl.enable_only(moderngl.DEPTH_TEST)
        places = self._painter.places(bricks)
        matrices = [light_matrix(towards[:3], centre, radius_m) for towards in self._directions]
        for index, matrix in enumerate(matrices):
            row, column = divmod(index, _TILES)
            self._framebuffer.viewport = (column * _TILE_PX, row * _TILE_PX, _TILE_PX, _TILE_PX)
            self._framebuffer.use()
            uniform(self._shadow_program, "clip").write(matrix.T.astype("f4").tobytes())
            self._painter.faces(bricks, places, self._shadow_program, simple=True)
            for shape, where in solid:
                shape.draw(self._shadow_program, where)
        lights = np.stack([matrix.T for matrix in matrices]).astype("f4")
        uniform(self.program, "lights").write(lights.tobytes())
        uniform(self.program, "towards").write(self._directions.astype("f4").tobytes())
        # Two and a half texels of a tile, seen at a flat angle.
        self.program["offset"] = 2.5 * 2 * radius_m / _TILE_PX

    def begin(self, view: View, paper: tuple[float, float, float]) -> None:
        """Light what follows, as seen through a view."""
        uniform(self.program, "clip").write(np.ascontiguousarray(view.clip_matrix().T).tobytes())
        self.program["eye"] = view.eye
        self.program["paper"] = paper
        self.program["depths"] = 0
        self._depths.use(0)


def light_directions() -> FloatArray:
    """(_LIGHTS, 4) unit vectors towards the lights and their strengths: the lamp's first, then the sky's."""
    lamp = _LAMP_TOWARDS / np.linalg.norm(_LAMP_TOWARDS)
    side = np.cross(lamp, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    up = np.cross(side, lamp)
    rows = []
    for i in range(_LAMPS):
        angle = 2 * np.pi * i / _LAMPS
        reach = _LAMP_SPREAD * (0.45 if i % 2 else 1.0)
        towards = lamp + reach * (np.cos(angle) * side + np.sin(angle) * up)
        rows.append([*(towards / np.linalg.norm(towards)), _LAMP_SHARE / _LAMPS])
    sky = _LIGHTS - _LAMPS
    for i in range(sky):
        # A spiral over the upper half of the sphere, denser towards the zenith and without the horizon,
        # whose light would throw shadows without end.
        height = np.sqrt(0.15 + 0.85 * (i + 0.6) / sky)
        angle = i * np.pi * (3 - np.sqrt(5))
        flat = np.sqrt(1 - height**2)
        rows.append([flat * np.cos(angle), flat * np.sin(angle), height, _SKY_SHARE / sky * 1.5])
    return np.array(rows)


def light_matrix(towards: FloatArray, centre: FloatArray, radius_m: float) -> FloatArray:
    """(4, 4) orthographic clip matrix of a light that looks at a ball."""
    aside = np.cross(towards, [0.0, 1.0, 0.0] if abs(towards[1]) < 0.9 else [1.0, 0.0, 0.0])
    aside /= np.linalg.norm(aside)
    axes = np.stack([aside, np.cross(towards, aside), -towards]) / radius_m
    matrix = np.eye(4)
    matrix[:3, :3] = axes
    matrix[:3, 3] = -axes @ centre
    return matrix
