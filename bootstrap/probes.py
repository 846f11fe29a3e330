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


# The name of the backend, the module that it needs, how that comes to a machine, and what was tested of the adapter.
TESTED = "conformance tests run here"
NVIDIA_WHEEL = "isaacsim-robot-motion"
NVIDIA_FIX = f".jarvis/venv/bin/pip install --no-deps {NVIDIA_WHEEL} (108 MB, under NVIDIA's licence)"
MOTION_BACKENDS = (
    ("roboplan", "roboplan", "./jarvis setup", TESTED),
    ("ompl", "ompl", "./jarvis setup", TESTED),
    ("rmpflow", "lula", NVIDIA_FIX, "conformance tests passed with the wheel 6.0.1; it is no requirement"),
    (
        "cumotion",
        "cumotion",
        f"{NVIDIA_FIX}, and an NVIDIA GPU",
        "untested here: needs CUDA; names checked in the wheel 6.0.1",
    ),
    (
        "isaac_ros_cumotion",
        "moveit_msgs",
        "sudo apt-get install ros-jazzy-moveit-msgs, and NVIDIA's Isaac ROS planner running",
        "untested here: tested against stand-ins of the published names",
    ),
    (
        "moveit",
        "moveit",
        "sudo apt-get install ros-jazzy-moveit ros-jazzy-moveit-py, where ROS 2 is installed",
        "untested here: tested against stand-ins of the published names",
    ),
)
PRESENT = """
import importlib.util as u, importlib.metadata as m, json
try:
    inside = [str(file).partition("pip_prebundle/")[2] for file in m.files(%r) or []]
    bundled = {name.partition("/")[0].partition(".")[0] for name in inside}
except m.PackageNotFoundError:
    bundled = set()
print(json.dumps([name for name in %r if name in bundled or u.find_spec(name)]))
"""


def motion(venv: Venv) -> list[Finding]:
    """The motion backends: whether the library that each needs is here, and what is known of the adapter."""
    modules = [module for _, module, _, _ in MOTION_BACKENDS]
    works, said = venv.run(PRESENT % (NVIDIA_WHEEL, modules))
    present = json.loads(said) if works else []
    return [
        _motion_backend(name, module in present, fix, tested) for name, module, fix, tested in MOTION_BACKENDS
    ]


def _motion_backend(name: str, present: bool, fix: str, tested: str) -> Finding:
    detail = f"library {'present' if present else 'not present'}; {tested}"
    return Finding(f"motion: {name}", State.OK if present else State.MISSING, detail, fix)


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


def cage() -> Finding:
    """Isolation for agents' programs: bubblewrap, or namespaces that this user may make without it."""
    works, said = _run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"])
    if works:
        return Finding("cage", State.OK, "agents' programs are isolated by bubblewrap")
    alone, why = _run(["unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "true"])
    if alone:
        return Finding("cage", State.OK, "agents' programs are isolated by namespaces")
    detail = f"agents' programs run with --uncaged only: {said}; namespaces: {why}"
    return Finding("cage", State.MISSING, detail, "sudo apt-get install bubblewrap")


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
