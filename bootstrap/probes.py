"""The doctor's looks at single things. Anything that may crash or hang is tried in a process of its own."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

LIMIT_S = 60.0
SET_UP_FIRST = "./jarvis setup, then ask again"


class State(Enum):
    """How it is with one thing."""

    OK = "ok"
    MISSING = "missing"
    REQUIRED = "missing!"
    NOT_IMPLEMENTED = "not implemented"


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's table."""

    name: str
    state: State
    detail: str
    fix: str = ""


@dataclass(frozen=True)
class Venv:
    """The project's Python and the environment to run it in; no Python before the first set-up."""

    python: Path | None
    env: Mapping[str, str]

    def run(self, code: str, **variables: str) -> tuple[bool, str]:
        """Run a piece of Python; whether it worked, and the last line that it printed."""
        if self.python is None:
            return False, "cannot be tried before set-up"
        return _run([str(self.python), "-c", code], {**self.env, **variables})


def _run(command: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[bool, str]:
    try:
        result = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
        )
    except FileNotFoundError:
        return False, f"{command[0]} is not installed"
    except subprocess.TimeoutExpired:
        return False, f"no answer within {LIMIT_S:g} s"
    lines = result.stdout.strip().splitlines()
    return result.returncode == 0, lines[-1] if lines else f"exit status {result.returncode}"


def middleware(env: Mapping[str, str]) -> Finding:
    """Whether the chosen middleware is part of the ROS 2 in use."""
    name = env["RMW_IMPLEMENTATION"]
    folders = [Path(entry) for entry in env.get("LD_LIBRARY_PATH", "").split(os.pathsep) if entry]
    detail = f"{name}, discovery range {env.get('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET')}"
    if any((folder / f"lib{name}.so").exists() for folder in folders):
        return Finding("middleware", State.OK, detail)
    package = f"ros-jazzy-{name.replace('_', '-')}"
    fix = f"sudo apt-get install {package}, or set RMW_IMPLEMENTATION to one that is there"
    return Finding("middleware", State.MISSING, detail, fix)


EGL = """
import moderngl
context = moderngl.create_context(standalone=True, backend="egl", require=330)
print(context.info["GL_RENDERER"])
"""
OSMESA = """
import mujoco
context = mujoco.GLContext(64, 64)
context.make_current()
from OpenGL import GL
print(GL.glGetString(GL.GL_RENDERER).decode())
"""


def rendering(venv: Venv) -> list[Finding]:
    """EGL, else OSMesa: one of them is enough."""
    if venv.python is None:
        return [Finding("rendering", State.MISSING, "cannot be tried before set-up", SET_UP_FIRST)]
    works, egl = venv.run(EGL)
    if works:
        return [Finding("rendering", State.OK, f"EGL: {egl}")]
    works, osmesa = venv.run(OSMESA, MUJOCO_GL="osmesa", PYOPENGL_PLATFORM="osmesa")
    if works:
        return [Finding("rendering", State.OK, f"OSMesa: {osmesa} (EGL: {egl})")]
    fix = "sudo apt-get install libegl1 libgl1-mesa-dri"
    return [Finding("rendering", State.MISSING, f"EGL: {egl}; OSMesa: {osmesa}", fix)]


# The name of the backend, the module that it needs, and how that module comes to a machine.
MOTION_BACKENDS = (
    ("roboplan", "roboplan", "./jarvis setup"),
    ("ompl", "ompl", "./jarvis setup"),
    ("rmpflow", "lula", "comes with Isaac Sim"),
    ("cumotion", "cumotion", "comes with Isaac Sim; needs an NVIDIA GPU"),
    ("isaac_ros_cumotion", "isaac_ros_cumotion", "install it from NVIDIA's Isaac ROS apt repository"),
    ("moveit_py", "moveit", "sudo apt-get install ros-jazzy-moveit-py, where ROS 2 is installed"),
)


def motion(venv: Venv, package: Path) -> list[Finding]:
    """The motion backends: the library that each needs, and whether this project has an adapter for it."""
    modules = [module for _, module, _ in MOTION_BACKENDS]
    code = f"import importlib.util as u, json; print(json.dumps([m for m in {modules!r} if u.find_spec(m)]))"
    works, said = venv.run(code)
    present = json.loads(said) if works else []
    return [
        _motion_backend(name, module in present, fix, has_adapter=_has_adapter(package, name))
        for name, module, fix in MOTION_BACKENDS
    ]


def _motion_backend(name: str, present: bool, fix: str, has_adapter: bool) -> Finding:
    library = "library present" if present else "library not present"
    if not has_adapter:
        return Finding(
            f"motion: {name}", State.NOT_IMPLEMENTED, f"{library}; this project has no adapter yet"
        )
    if present:
        return Finding(f"motion: {name}", State.OK, library)
    return Finding(f"motion: {name}", State.MISSING, library, fix)


def _has_adapter(package: Path, name: str) -> bool:
    """An adapter is a module of jarvis_motion that carries the backend's name."""
    return any(name in path.stem for path in package.glob("jarvis_motion/**/*.py"))


VIDEO = """
import tempfile, cv2, numpy
with tempfile.TemporaryDirectory() as folder:
    writer = cv2.VideoWriter(f"{folder}/probe.mp4", cv2.VideoWriter.fourcc(*"vp09"), 10, (64, 64))
    assert writer.isOpened(), "OpenCV opens no VP9 writer"
    writer.write(numpy.zeros((64, 64, 3), numpy.uint8))
    writer.release()
print(f"VP9 in MP4 by OpenCV {cv2.__version__}")
"""


def video(venv: Venv) -> Finding:
    """Whether episodes can be saved as videos."""
    works, said = venv.run(VIDEO)
    detail = f"{said}; ffmpeg {'is' if shutil.which('ffmpeg') else 'is not'} installed (not needed)"
    return Finding("video", State.OK if works else State.MISSING, detail, SET_UP_FIRST)


def graphics_card() -> Finding:
    """An NVIDIA card; nothing in the default configuration needs one."""
    works, said = _run(
        ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    )
    fix = "nothing: rendering and physics run on the processor; Isaac Sim and cuMotion need a card"
    return Finding("NVIDIA GPU", State.OK if works else State.MISSING, said, fix)


def isaac_sim(venv: Venv, env: Mapping[str, str]) -> Finding:
    """An Isaac Sim, by the usual variable, in the usual folders, or in the project's environment."""
    named = env.get("ISAACSIM_PYTHON", "")
    if named and shutil.which(named):
        return Finding("Isaac Sim", State.OK, f"{named} (docs/isaac-sim.md says what is tested)")
    folders = [env.get("ISAAC_SIM_PATH", ""), str(Path.home() / "isaacsim"), "/isaac-sim"]
    for folder in filter(None, folders):
        if (Path(folder) / "isaac-sim.sh").exists():
            return Finding("Isaac Sim", State.OK, folder)
    works, said = venv.run("import importlib.metadata as m; print(m.version('isaacsim'))")
    if works:
        return Finding("Isaac Sim", State.OK, f"isaacsim {said} in .jarvis/venv")
    fix = "install Isaac Sim 6 and set ISAACSIM_PYTHON to its python.sh, see docs/isaac-sim.md (needs an RTX card)"
    detail = f"ISAACSIM_PYTHON={named} is no program" if named else "not found"
    return Finding("Isaac Sim", State.MISSING, detail, fix)


def bubblewrap() -> Finding:
    """The cage for agents' programs: installed, and allowed to make namespaces."""
    works, said = _run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"])
    if works:
        return Finding("bubblewrap", State.OK, "an agent's program can be caged")
    return Finding(
        "bubblewrap",
        State.MISSING,
        f"no cage for agents' programs: {said}",
        "sudo apt-get install bubblewrap",
    )


LDRAW_FOLDERS = ("/usr/share/ldraw", "/usr/local/share/ldraw", "/opt/ldraw", "~/ldraw", "~/LDraw")


def ldraw(env: Mapping[str, str]) -> list[Finding]:
    """The LDraw parts library, and the folder of models."""
    return [
        _ldraw_library(env),
        _ldraw_models(env),
    ]


def _ldraw_library(env: Mapping[str, str]) -> Finding:
    fix = "download the library from https://library.ldraw.org, unpack it, and set LDRAWDIR to the folder with parts/"
    named = env.get("LDRAWDIR")
    candidates = [named] if named else [os.path.expanduser(folder) for folder in LDRAW_FOLDERS]
    for folder in candidates:
        if (Path(folder) / "parts").is_dir() or Path(folder).suffix == ".zip":
            return Finding("LDraw library", State.OK, folder)
    detail = f"LDRAWDIR={named} has no parts/" if named else "not found; the built-in parts work without it"
    return Finding("LDraw library", State.MISSING, detail, fix)


def _ldraw_models(env: Mapping[str, str]) -> Finding:
    folder = env.get("LDRAW_MODELS")
    if folder and Path(folder).is_dir():
        return Finding("LDraw models", State.OK, folder)
    fix = "set LDRAW_MODELS to a folder of .ldr or .mpd files"
    return Finding(
        "LDraw models",
        State.MISSING,
        "LDRAW_MODELS is not set",
        fix,
    )
