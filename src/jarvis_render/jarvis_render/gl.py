"""One headless OpenGL context per process: EGL, else OSMesa, found out before anything depends on it.

A broken GL installation can end the process that tries it, so both ways are probed in a subprocess first.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import moderngl
from jarvis_core.errors import MissingCapabilityError

#: In the order they are tried.
BACKENDS = ("egl", "osmesa")
PROBE_TIMEOUT_S = 30.0
GL_VERSION = 330

_INSTALL = (
    "install OpenGL: `apt-get install libegl1 libgl1 libegl-mesa0 libgl1-mesa-dri` (EGL with software rendering), "
    "or `apt-get install libosmesa6`"
)


class GlContext:
    """An OpenGL 3.3 context owned by the thread that made it.

    Everything that calls GL does so inside ``with context.active() as gl``: another library of the same process
    (a simulator's cameras) may have made its own context current meanwhile.

    Attributes:
        backend: ``egl`` or ``osmesa``.
    """

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self._thread = threading.get_ident()
        self._gl: moderngl.Context = _open(backend)

    @property
    def renderer(self) -> str:
        """What draws, e.g. the name of a GPU or ``llvmpipe``."""
        return str(self._gl.info["GL_RENDERER"])

    @contextmanager
    def active(self) -> Iterator[moderngl.Context]:
        """The context, current for this thread within the block.

        Raises:
            RuntimeError: called from another thread than the one that made the context.
        """
        if threading.get_ident() != self._thread:
            raise RuntimeError(f"the GL context belongs to thread {self._thread}; draw from there only")
        with self._gl:
            yield self._gl


def shared_context() -> GlContext:
    """The calling thread's context, made at the first call.

    Raises:
        MissingCapabilityError: no way to draw without a screen on this machine; names what to install.
    """
    existing: GlContext | None = getattr(_local, "context", None)
    if existing is None:
        existing = _local.context = GlContext(working_backend())
    return existing


_local = threading.local()


@cache
def working_backend() -> str:
    """The first of BACKENDS that draws, each tried in a subprocess.

    Raises:
        MissingCapabilityError: none does.
    """
    failures = []
    for backend in BACKENDS:
        failure = probe(backend)
        if failure is None:
            return backend
        failures.append(f"{backend}: {failure}")
    raise MissingCapabilityError(
        f"no headless OpenGL ({'; '.join(failures)})", where="rendering", fix=_INSTALL
    )


def probe(backend: str) -> str | None:
    """Draw one pixel in a subprocess. None if that worked, else what went wrong in one line."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "jarvis_render.gl", backend],
            capture_output=True,
            text=True,
            timeout=PROBE_TIMEOUT_S,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {PROBE_TIMEOUT_S:.0f} s"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"ended with code {done.returncode}"


def _open(backend: str) -> moderngl.Context:
    if backend == "egl":
        settings: dict[str, Any] = {"backend": "egl"}
        return moderngl.create_context(require=GL_VERSION, standalone=True, **settings)
    if backend == "osmesa":
        loader: dict[str, Any] = {"context": _OsMesa()}
        return moderngl.create_context(require=GL_VERSION, **loader)
    raise ValueError(f"unknown GL backend {backend!r}, expected one of {BACKENDS}")


class _OsMesa:
    """Mesa's off-screen software context, as the loader object that moderngl asks for.

    Constants are those of GL/osmesa.h.
    """

    _RGBA, _UNSIGNED_BYTE = 0x1908, 0x1401
    _ATTRIBUTES = (
        (0x22, 0x1908),  # OSMESA_FORMAT = RGBA
        (0x30, 24),  # OSMESA_DEPTH_BITS
        (0x33, 0x34),  # OSMESA_PROFILE = OSMESA_CORE_PROFILE
        (0x36, 3),  # OSMESA_CONTEXT_MAJOR_VERSION
        (0x37, 3),  # OSMESA_CONTEXT_MINOR_VERSION
        (0, 0),
    )
    _SIZE = 16

    def __init__(self) -> None:
        name = ctypes.util.find_library("OSMesa") or "libOSMesa.so.8"
        self._library = ctypes.CDLL(name)
        self._library.OSMesaCreateContextAttribs.restype = ctypes.c_void_p
        self._library.OSMesaGetProcAddress.restype = ctypes.c_void_p
        flat = [number for pair in self._ATTRIBUTES for number in pair]
        self._context = ctypes.c_void_p(
            self._library.OSMesaCreateContextAttribs((ctypes.c_int * len(flat))(*flat), None)
        )
        if not self._context.value:
            raise OSError("OSMesa gave no OpenGL 3.3 core context")
        # OSMesa insists on a window-like buffer; all drawing goes to framebuffer objects.
        self._buffer = (ctypes.c_ubyte * (4 * self._SIZE * self._SIZE))()
        self._make_current()

    def _make_current(self) -> None:
        if not self._library.OSMesaMakeCurrent(
            self._context, self._buffer, self._UNSIGNED_BYTE, self._SIZE, self._SIZE
        ):
            raise OSError("OSMesa could not make its context current")

    def load_opengl_function(self, name: str) -> int:
        return int(self._library.OSMesaGetProcAddress(name.encode()) or 0)

    def load(self, name: str) -> int:
        return self.load_opengl_function(name)

    def __enter__(self) -> _OsMesa:
        self._make_current()
        return self

    def __exit__(self, *_: Any) -> None:
        """Stays current: OSMesa can't say what was current before."""

    def release(self) -> None:
        self._library.OSMesaDestroyContext(self._context)


def _draw_one_pixel(backend: str) -> None:
    with GlContext(backend).active() as gl:
        target = gl.simple_framebuffer((1, 1), components=3)
        target.clear(1.0, 0.0, 0.0)
        if target.read(components=3) != b"\xff\x00\x00":
            raise RuntimeError("a cleared pixel did not have the colour it was cleared to")


if __name__ == "__main__":
    _draw_one_pixel(sys.argv[1])
