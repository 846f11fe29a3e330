"""Off-screen OpenGL: by EGL or, where that does not work, by OSMesa.

Which of them works is tried in a process of its own first, since a broken driver may take its process down.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from typing import Any

from jarvis_core.errors import MissingCapabilityError

_PROBE_TIMEOUT_S = 60.0
_BACKENDS = ("egl", "osmesa")


@lru_cache(maxsize=1)
def probe_gl() -> str:
    """The first of EGL and OSMesa that makes a context on this machine.

    Raises:
        MissingCapabilityError: neither does.
    """
    reasons = []
    for backend in _BACKENDS:
        reason = _try_backend(backend)
        if not reason:
            return backend
        reasons.append(f"{backend}: {reason}")
    raise MissingCapabilityError(
        f"no off-screen OpenGL on this machine ({'; '.join(reasons)})",
        where="simulated camera",
        fix="Debian/Ubuntu: apt install libegl1 libgl1-mesa-dri, or apt install libosmesa6",
    )


def _try_backend(backend: str) -> str:
    """Empty if a context can be made and used; else the reason in a few words."""
    code = f"from mujoco.{backend} import GLContext as C; c = C(64, 64); c.make_current(); c.free()"
    environment = {**os.environ, "MUJOCO_GL": backend}
    environment.pop("PYOPENGL_PLATFORM", None)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PROBE_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {_PROBE_TIMEOUT_S:.0f} s"
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"ended with {done.returncode}"


def context(width: int, height: int) -> Any:
    """A context of the backend that works here, for pictures up to this size; errors as ``probe_gl``."""
    backend = probe_gl()
    if backend == "egl":
        from mujoco.egl import GLContext
    else:
        from mujoco.osmesa import GLContext
    return GLContext(width, height)
