"""One source model from its file to its archives: the unit of work of a build."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import PlateConfig
from jarvis_core.files import content_hash, encode_hook
from jarvis_core.seeds import generator
from jarvis_render.config import ManualConfig

from jarvis_tasks.config import TasksConfig
from jarvis_tasks.dataset.archive import write_archive
from jarvis_tasks.dataset.layout import DATASET_SCHEMA, RefusedRuns, Unit, UnitTask, manuals_path, truth_path
from jarvis_tasks.dataset.sources import Source
from jarvis_tasks.dataset.splits import shape_of
from jarvis_tasks.dataset.truth import Truth, members, parts_text
from jarvis_tasks.filters import CellLimits
from jarvis_tasks.layers import in_layers
from jarvis_tasks.manual import make_manual
from jarvis_tasks.segment import Segment, TaskMaker, task_id
from jarvis_tasks.select import SegmentSearch, find_segments

#: Of the configuration, what decides which tasks a model gives; the rest is about the dataset as a whole.
_RULES = (
    "min_bricks",
    "max_bricks",
    "supply_packing",
    "upright_deg",
    "overlap_m",
    "overhang_studs",
    "leave_out",
)


@dataclass(frozen=True, slots=True)
class UnitSettings:
    """What decides the tasks of a model.

    Attributes:
        limits, plate: of the cell.
        limit: at most so many tasks of one model, chosen at random by ``seed``; None: all.
        manual: how manuals are drawn; None: no pictures.
        library: fingerprint of the parts library (see ``fingerprint``).
    """

    config: TasksConfig
    limits: CellLimits
    plate: PlateConfig
    limit: int | None
    seed: int
    manual: ManualConfig | None
    library: str

    def described(self) -> dict[str, object]:
        """As JSON values, for dataset.json and for keys."""
        rules = {name: getattr(self.config, name) for name in _RULES}
        values = {
            "rules": rules,
            "cell": {"fingers": self.limits.fingers, "supply_area_m2": self.limits.supply_area_m2,
                     "supply_clearance_m": self.limits.supply_clearance_m, "top_m": self.limits.top_m},
            "plate": self.plate,
            "limit": self.limit,
            "seed": self.seed,
            "manual": self.manual,
            "library": self.library,
        }  # fmt: skip
        builtins: dict[str, object] = msgspec.to_builtins(values, enc_hook=encode_hook)
        return builtins

    def key(self, source: Source) -> str:
        """Changes with anything that the unit of a source is made from."""
        return content_hash([DATASET_SCHEMA, source.name, source.path.name, source.digest, self.described()])


def fingerprint(library: LDrawLibrary | None) -> str:
    """Of a parts library: its parts' names and its colours, which change with every release; "" without one."""
    if library is None:
        return ""
    digest = hashlib.sha256("\n".join(library.part_names()).encode())
    digest.update(library.text("LDConfig.ldr") or b"")
    return digest.hexdigest()


def write_unit(
    source: Source, settings: UnitSettings, out: Path, library: LDrawLibrary | None, shared: PartCatalogue
) -> Unit:
    """Cut a model into tasks and write its archives into a dataset's folder, that of the ground truth last.

    Args:
        shared: for models that hold no parts or colours of their own.

    Raises:
        JarvisError: the model can't be read or judged.
        OSError: an archive can't be written.
    """
    read = msgspec.structs.replace(read_assembly(source.path, library=library), name=source.name)
    own = bool(read.inline_parts or read.colours)
    catalogue = PartCatalogue.for_model(source.path, library) if own else shared
    assembly = in_layers(read, catalogue)
    found = find_segments(assembly, catalogue, settings.limits, settings.config, settings.plate.studs)
    truth = Truth.of(found.model)
    maker = TaskMaker(truth.placed())
    chosen = choose(found.accepted, source.name, settings)
    unit = _unit(source, settings, assembly, found, maker, chosen)
    if settings.manual is not None and chosen:
        path = out / manuals_path(source.name)
        write_archive(path, _pages(maker, chosen, settings.plate, catalogue, settings.manual))
        data = path.read_bytes()
        unit = msgspec.structs.replace(
            unit, pictures_sha256=hashlib.sha256(data).hexdigest(), pictures_bytes=len(data)
        )
    write_archive(out / truth_path(source.name), members(unit, truth, parts_text(read)))
    return unit


def choose(accepted: Sequence[Segment], name: str, settings: UnitSettings) -> Sequence[Segment]:
    """All segments, or as many as the limit allows, drawn evenly at random by (seed, model)."""
    if settings.limit is None or len(accepted) <= settings.limit:
        return accepted
    drawn = generator(settings.seed, "tasks of", name).permutation(len(accepted))[: settings.limit]
    return [accepted[i] for i in sorted(drawn.tolist())]


def _unit(
    source: Source,
    settings: UnitSettings,
    assembly: Assembly,
    found: SegmentSearch,
    maker: TaskMaker,
    chosen: Sequence[Segment],
) -> Unit:
    model = found.model
    return Unit(
        schema=DATASET_SCHEMA,
        key=settings.key(source),
        name=source.name,
        source=source.path.name,
        title=assembly.title,
        author=assembly.author,
        licence=assembly.licence,
        shape=shape_of(assembly),
        n_bricks=len(assembly.bricks),
        n_steps=assembly.n_steps,
        layers=not assembly.has_steps,
        n_placed=len(model.bricks),
        n_left_out=len(model.left_out),
        n_stand_ins=len(model.stand_ins),
        empty_steps=assembly.n_steps - len({b.step for b in model.bricks}),
        considered=found.considered,
        too_long=found.too_long,
        too_short=found.too_short,
        refused=tuple(RefusedRuns(r.reason.value, r.segments, r.example.line()) for r in found.refused),
        not_chosen=len(found.accepted) - len(chosen),
        notes=assembly.notes,
        tasks=tuple(_task(segment, maker) for segment in chosen),
    )


def _task(segment: Segment, maker: TaskMaker) -> UnitTask:
    first, last = segment.first, segment.last
    return UnitTask(
        first,
        last,
        segment.n_scene,
        segment.n_targets,
        maker.n_pages(first, last),
        maker.left_out(last),
        maker.digest(first, last),
    )


def _pages(
    maker: TaskMaker,
    chosen: Sequence[Segment],
    plate: PlateConfig,
    catalogue: PartCatalogue,
    config: ManualConfig,
) -> Iterator[tuple[str, bytes]]:
    """What an archive of manuals holds."""
    for segment in chosen:
        manual = make_manual(maker.task(segment.first, segment.last), plate, catalogue, config)
        folder = task_id(maker.model.source.name, segment.first, segment.last)
        for page in manual.pages:
            yield f"{folder}/page-{page.step:02d}.png", page.png
        yield f"{folder}/axes.txt", f"{manual.axes}\n".encode()
        yield f"{folder}/parts.json", msgspec.json.encode(manual.parts) + b"\n"
