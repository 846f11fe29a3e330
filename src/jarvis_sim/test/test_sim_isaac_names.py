"""Every name of Isaac Sim that is used, looked up in the files of an Isaac Sim where there is one; nothing of it runs.

Set ISAACSIM_EXTENSIONS to folders with Isaac Sim's extensions, divided by ``:`` (ISAAC_SIM_PATH/exts, or
site-packages/isaacsim/exts of the pip packages; extscache too).
"""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from jarvis_sim.isaac import bridge, views

FOLDERS = [Path(p) for p in os.environ.get("ISAACSIM_EXTENSIONS", "").split(":") if p]
with_isaac = pytest.mark.skipif(not FOLDERS, reason="ISAACSIM_EXTENSIONS names no Isaac Sim")


@dataclass(frozen=True)
class Name:
    """A function or method, by file inside an extension, and the arguments it is called with."""

    extension: str
    file: str
    name: str
    arguments: tuple[str, ...] = ()


PRIMS, UTILS = "isaacsim.core.experimental.prims", "isaacsim.core.experimental.utils"
MANAGER, RENDERING = "isaacsim.core.simulation_manager", "isaacsim.core.rendering_manager"
NAMES = (
    Name("isaacsim.simulation_app", "simulation_app.py", "SimulationApp.__init__", ("launch_config",)),
    Name("isaacsim.simulation_app", "simulation_app.py", "SimulationApp.close", ("exit_code",)),
    Name("isaacsim.simulation_app", "simulation_app.py", "SimulationApp.update"),
    Name("isaacsim.simulation_app", "simulation_app.py", "SimulationApp.is_running"),
    Name(UTILS, "impl/app.py", "enable_extension", ("name",)),
    Name(UTILS, "impl/app.py", "play"),
    Name(UTILS, "impl/app.py", "stop"),
    Name(UTILS, "impl/stage.py", "open_stage", ("usd_path",)),
    Name(UTILS, "impl/stage.py", "is_stage_loading"),
    Name(MANAGER, "impl/simulation_manager.py", "SimulationManager.setup_simulation", ("dt", "device")),
    Name(MANAGER, "impl/simulation_manager.py", "SimulationManager.enable_fabric", ("enable",)),
    Name(MANAGER, "impl/simulation_manager.py", "SimulationManager.step", ("steps", "update_fabric")),
    Name(RENDERING, "impl/rendering_manager.py", "RenderingManager.set_dt", ("dt",)),
    Name(RENDERING, "impl/rendering_manager.py", "RenderingManager.render"),
    Name(PRIMS, "impl/rigid_prim.py", "RigidPrim.__init__", ("paths", "max_contact_count")),
    Name(PRIMS, "impl/rigid_prim.py", "RigidPrim.set_enabled_contact_tracking", ("enabled",)),
    Name(PRIMS, "impl/articulation.py", "Articulation.__init__", ("paths",)),
    Name(PRIMS, "impl/articulation.py", "Articulation.set_link_enabled_gravities", ("enabled",)),
    Name("isaacsim.storage.native", "nucleus.py", "get_assets_root_path"),
    Name(
        "isaacsim.sensors.experimental.rtx",
        "impl/camera_sensor.py",
        "CameraSensor.__init__",
        ("path", "resolution", "annotators"),
    ),
)
MIRRORED = (
    (views.RigidPrimLike, PRIMS, "impl/rigid_prim.py", "RigidPrim"),
    (views.ArticulationLike, PRIMS, "impl/articulation.py", "Articulation"),
    (views.CameraSensorLike, "isaacsim.sensors.experimental.rtx", "impl/camera_sensor.py", "CameraSensor"),
)


def in_extensions(pattern: str) -> Path:
    found = [path for folder in FOLDERS for path in sorted(folder.glob(pattern))]
    assert found, f"{pattern} is in none of {FOLDERS}"
    return found[0]


@cache
def functions(extension: str, file: str) -> dict[str, tuple[str, ...]]:
    """Arguments of every function and method of a file, by name."""
    path = in_extensions(f"{extension}*/{extension.replace('.', '/')}/{file}")
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for member in members:
            if isinstance(member, ast.FunctionDef):
                arguments = (*member.args.args, *member.args.kwonlyargs)
                found[prefix + member.name] = tuple(a.arg for a in arguments if a.arg not in ("self", "cls"))
    return found


@with_isaac
def test_functions_are_there_and_take_these_arguments() -> None:
    for name in NAMES:
        known = functions(name.extension, name.file)
        assert name.name in known
        assert set(name.arguments) <= set(known[name.name]), name


@with_isaac
def test_protocols_carry_isaac_sims_signatures() -> None:
    for protocol, extension, file, kind in MIRRORED:
        known = functions(extension, file)
        for name, method in vars(protocol).items():
            if not name.startswith("_"):
                code = method.__code__
                arguments = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
                assert arguments == known.get(f"{kind}.{name}"), f"{kind}.{name}"


def graph() -> bridge.Graph:
    return bridge.bridge_graph("/World/robot", "/World/cameras/top", (640, 480), "isaac")


def test_every_connection_of_the_bridge_ends_at_its_nodes() -> None:
    made = graph()
    ends = [end for link in made.links for end in link] + list(made.values)
    assert {end.partition(".")[0] for end in ends} <= set(made.nodes)
    assert all(one.split(".")[1].startswith("outputs:") for one, _ in made.links)
    targets = [two for _, two in made.links]
    assert len(set(targets)) == len(targets)
    assert made.nodes.keys() == {end.partition(".")[0] for end in ends}


@with_isaac
def test_the_bridges_nodes_have_these_attributes() -> None:
    """By the reference page that comes with each node; that of the tick comes with Kit, not with Isaac Sim."""
    made = graph()
    for name, kind in made.nodes.items():
        if kind.startswith("omni.graph."):
            continue
        page = in_extensions(f"*/ogn/docs/Ogn{kind.rpartition('.')[2]}.rst").read_text(encoding="utf-8")
        assert kind in page
        known = set(re.findall(r"(?:inputs|outputs):\w+", page))
        ends = [end for link in made.links for end in link] + list(made.values)
        used = {attribute for end in ends for node, _, attribute in [end.partition(".")] if node == name}
        assert used <= known, name
