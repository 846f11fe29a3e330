"""How fast models are read, parts meshed and connections found. Prints a table; machines differ and are noisy, so
compare runs of one session: rounds of everything that is compared are interleaved.

./jarvis shell -c 'python benchmarks/bench_bricks.py'             (needs LDRAW_MODELS and LDRAWDIR)
./jarvis shell -c 'python benchmarks/bench_bricks.py --peers /tmp/peers/bin/python'

Peers are other readers in an environment of their own (python -m venv /tmp/peers; /tmp/peers/bin/pip install pyldraw3
ldraw2mesh): pyldraw3 is GPL and must not be installed beside the project.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import connections, floating, overlaps
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.part_cache import PartCache
from jarvis_core.pose import Pose
from rich.console import Console
from rich.table import Table

PARTS = 200
WALL_LAYERS, WALL_LENGTH = 50, 40

#: Run by the peers' own Python: reads a job (JSON), prints seconds (JSON).
PEER_CODE = """
import json, os, sys, time
job = json.load(sys.stdin)
def seconds(work):
    began = time.perf_counter(); work(); return time.perf_counter() - began
result = {}
from ldraw import Parts, read_model
result["read/pyldraw3"] = seconds(lambda: [sum(1 for _ in read_model(p).iter_occurrences()) for p in job["models"]])
parts = Parts(job["parts_lst"])
def geometry():
    for name in job["parts"]:
        try:
            parts.geometry(name)
        except Exception as error:
            result.setdefault("failed/pyldraw3", []).append(f"{name}: {error}")
result["mesh/pyldraw3"] = seconds(geometry)
import ldraw2mesh
load = lambda path: ldraw2mesh.load_scene(path, ldraw_library=job["library"], scale=1.0)
result["read and mesh/ldraw2mesh"] = seconds(lambda: [load(p) for p in job["models"]])
result["mesh/ldraw2mesh"] = seconds(lambda: load(job["all_parts"]))
result["mesh each/ldraw2mesh"] = seconds(lambda: [load(p) for p in job["each_part"]])
print(json.dumps(result))
"""


@dataclass(frozen=True, slots=True)
class Collection:
    """What is measured on: models, and the parts used most in them."""

    models: list[Path]
    library: Path
    parts: list[str]


def collect(models: Path, library: Path) -> Collection:
    paths = sorted(models.glob("*.mpd"))
    opened = LDrawLibrary(library)
    counts = Counter(b.part for p in paths for b in read_assembly(p, library=opened).bricks)
    known = [part for part, _ in counts.most_common() if opened.final_name(f"{part}.dat") is not None]
    return Collection(paths, library, known[:PARTS])


def wall() -> Assembly:
    """2,000 bricks in running bond."""
    bricks = []
    for layer in range(WALL_LAYERS):
        for column in range(WALL_LENGTH):
            x = (column * 4 + 2 * (layer % 2)) * STUD_PITCH_M
            pose = Pose((x, 0.0, (layer + 1) * BRICK_HEIGHT_M))
            bricks.append(Brick(f"b{len(bricks):04d}", "3001", 4, pose, layer + 1))
    return Assembly("wall", "", "", "", True, tuple(bricks))


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(found: Collection, cache: Path) -> dict[str, float]:
    """One round; everything cold but Python itself and the disk."""

    def read() -> None:
        library = LDrawLibrary(found.library)
        for path in found.models:
            read_assembly(path, library=library)

    def mesh() -> None:
        catalogue = PartCatalogue(LDrawLibrary(found.library), cache=None)
        for part in found.parts:
            section = catalogue.section(part)
            if section is not None:
                catalogue.flat(section).mesh()

    def both() -> None:
        library = LDrawLibrary(found.library)
        for path in found.models:
            catalogue = PartCatalogue.for_model(path, library)
            for part in {brick.part for brick in read_assembly(path, library=library).bricks}:
                section = catalogue.section(part)
                if section is not None:
                    catalogue.flat(section)

    def geometry(kept: PartCache | None) -> None:
        catalogue = PartCatalogue(LDrawLibrary(found.library), cache=kept)
        for part in found.parts:
            catalogue.geometry(part)

    build, built_in = wall(), PartCatalogue()
    built_in.geometry("3001")
    joints = connections(build.bricks, built_in)
    geometry(PartCache(cache))
    return {
        "read/ours": timed(read),
        "mesh/ours": timed(mesh),
        "read and mesh/ours": timed(both),
        "geometry, no cache/ours": timed(lambda: geometry(None)),
        "geometry, from the cache/ours": timed(lambda: geometry(PartCache(cache))),
        "connections of 2,000 bricks/ours": timed(lambda: connections(build.bricks, built_in)),
        "overlaps of 2,000 bricks/ours": timed(lambda: overlaps(build.bricks, built_in)),
        "floating of 2,000 bricks/ours": timed(lambda: floating(build.bricks, joints)),
    }


def peers(python: Path, found: Collection, folder: Path) -> dict[str, float]:
    """One round of the others."""
    line = "1 16 0 0 0 1 0 0 0 1 0 0 0 1 {}.dat\n"
    each = []
    for part in found.parts:
        each.append(folder / f"{part}.ldr")
        each[-1].write_text(line.format(part))
    everything = folder / "all.ldr"
    everything.write_text("".join(line.format(part) for part in found.parts))
    listing = folder / "parts.lst"
    names = sorted(p.name for p in (found.library / "parts").glob("*.dat"))
    listing.write_text("".join(f"{name:<24} {name}\n" for name in names))
    for name in ("parts", "p"):
        if not (folder / name).exists():
            (folder / name).symlink_to(found.library / name)
    (folder / "LDConfig.ldr").write_bytes((found.library / "LDConfig.ldr").read_bytes())
    models = []
    for path in found.models:
        # ldraw2mesh finds files with lower-case names only.
        models.append(folder / path.name.lower())
        models[-1].write_bytes(path.read_bytes())
    job = {
        "models": [str(p) for p in models],
        "library": str(found.library),
        "parts": found.parts,
        "parts_lst": str(listing),
        "each_part": [str(p) for p in each],
        "all_parts": str(everything),
    }
    done = subprocess.run(
        [python, "-c", PEER_CODE], input=json.dumps(job), capture_output=True, text=True, check=True, cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )  # fmt: skip
    result = json.loads(done.stdout.splitlines()[-1])
    for failure in result.pop("failed/pyldraw3", [])[:3]:
        print(f"pyldraw3: {failure}", file=sys.stderr)
    return {str(name): float(value) for name, value in result.items()}


def largest_memory(found: Collection) -> float:
    """Peak MiB of a process of its own that reads the largest model, all its parts and joints."""
    code = (
        "import resource, sys; from pathlib import Path; from jarvis_bricks.library import LDrawLibrary;"
        "from jarvis_bricks.catalogue import PartCatalogue; from jarvis_bricks.summary import summarise;"
        "from jarvis_bricks.ldraw.reading import read_assembly; path, library = map(Path, sys.argv[1:]);"
        "library = LDrawLibrary(library); assembly = read_assembly(path, library=library);"
        "summarise(assembly, PartCatalogue.for_model(path, library));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    opened = LDrawLibrary(found.library)
    largest = max(found.models, key=lambda p: len(read_assembly(p, library=opened).bricks))
    environment = {**os.environ, "JARVIS_PART_CACHE": "off"}
    done = subprocess.run(
        [sys.executable, "-c", code, largest, found.library], capture_output=True, text=True, check=True,
        env=environment,
    )  # fmt: skip
    return float(done.stdout)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--models", type=Path, default=os.environ.get("LDRAW_MODELS"), help="folder (LDRAW_MODELS)"
    )
    parser.add_argument("--library", type=Path, default=os.environ.get("LDRAWDIR"), help="folder (LDRAWDIR)")
    parser.add_argument("--peers", type=Path, help="Python with pyldraw3 and ldraw2mesh")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.models is None or options.library is None:
        parser.error("name --models and --library, or set LDRAW_MODELS and LDRAWDIR")
    found = collect(options.models, options.library)
    # First: on Linux a process counts what its parent held when it was started.
    memory = largest_memory(found)
    rounds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            results = measure(found, Path(folder) / "cache")
            if options.peers is not None:
                results |= peers(options.peers, found, Path(folder))
            for name, value in results.items():
                rounds.setdefault(name, []).append(value)
    table = Table(
        title=f"{len(found.models)} models, {len(found.parts)} parts, seconds, {options.rounds} rounds"
    )
    for column in ("what", "who", "first", "median", "least"):
        table.add_column(column, justify="left" if column in ("what", "who") else "right")
    for name, values in sorted(rounds.items(), key=lambda item: (item[0].split("/")[0], item[0])):
        what, who = name.split("/")
        table.add_row(what, who, f"{values[0]:.3f}", f"{statistics.median(values):.3f}", f"{min(values):.3f}")
    Console().print(table)
    print(f"largest model with its parts and joints: {memory:.0f} MiB at most")
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB at most")


if __name__ == "__main__":
    main()
