"""The ground truth of a model as a file, and the tasks made from it again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.colours import ColourTable
from jarvis_bricks.connectivity import Connection
from jarvis_bricks.ldraw.document import parse_document
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode, encode_hook
from jarvis_core.pose import Pose

from jarvis_tasks.dataset.archive import read_members
from jarvis_tasks.dataset.layout import DATASET_SCHEMA, PARTS, TRUTH, UNIT, Unit
from jarvis_tasks.placement import PlacedModel
from jarvis_tasks.segment import settled


class TruthBrick(msgspec.Struct, frozen=True):
    """A brick at its place; ``step`` is the global build step, ``pose`` of the part frame in frame ``plate``."""

    id: str
    part: str
    colour: int
    pose: Pose
    step: int
    where: str


class Truth(msgspec.Struct, frozen=True):
    """truth.json: a model on the build plate.

    Attributes:
        plate_studs: of the build plate, along x and y.
        bricks: in build order.
        joints: (upper, lower, studs): so many studs of brick ``lower`` (or ``plate``) sit in openings of ``upper``.
        left_out: bricks that the cell can't build with, in the model's own frame.
    """

    schema: int
    model: str
    title: str
    author: str
    licence: str
    plate_studs: tuple[int, int]
    bricks: tuple[TruthBrick, ...]
    joints: tuple[tuple[str, str, int], ...]
    left_out: tuple[TruthBrick, ...]

    @classmethod
    def of(cls, model: PlacedModel) -> Truth:
        source = model.source
        return cls(
            schema=DATASET_SCHEMA,
            model=source.name,
            title=source.title,
            author=source.author,
            licence=source.licence,
            plate_studs=model.plate_studs,
            bricks=_written(model.bricks),
            joints=tuple((j.upper_id, j.lower_id, j.studs) for j in model.joints),
            left_out=_written(model.left_out),
        )

    def placed(self) -> PlacedModel:
        """The model, as far as tasks are made from it: without stand-ins and without the source's own order."""
        source = Assembly(self.model, self.title, self.author, self.licence, True, ())
        joints = tuple(Connection(*joint) for joint in self.joints)
        return PlacedModel(source, _read(self.bricks), joints, (), self.plate_studs, _read(self.left_out))


def _written(bricks: Sequence[Brick]) -> tuple[TruthBrick, ...]:
    return tuple(TruthBrick(b.id, b.part, b.colour, settled(b.pose), b.step, b.where) for b in bricks)


def _read(bricks: Sequence[TruthBrick]) -> tuple[Brick, ...]:
    return tuple(Brick(b.id, b.part, b.colour, b.pose, b.step, False, b.where) for b in bricks)


def parts_text(assembly: Assembly) -> str:
    """The parts and colours that a model file holds itself, as an .mpd file; "" if there are none."""
    if not assembly.inline_parts and not assembly.colours:
        return ""
    head = ["0 FILE parts of the model.ldr", f"0 {assembly.title}", f"0 Author: {assembly.author}"]
    lines = [*head, f"0 !LICENSE {assembly.licence}", *assembly.colours]
    return "\n".join([*lines, *(f"\n{part.text}" for part in assembly.inline_parts)]) + "\n"


def catalogue_of(archive: Path, library: LDrawLibrary | None) -> PartCatalogue:
    """A catalogue that knows all parts of the tasks in an archive of ground truth, if the library does."""
    text = read_members(archive, [PARTS]).get(PARTS)
    if text is None:
        return PartCatalogue(library)
    document = parse_document(text, source=f"{archive}:{PARTS}", name=PARTS, keep_text=True)
    return PartCatalogue(library, inline=document.sections, colours=ColourTable.for_model(document, library))


def members(unit: Unit, truth: Truth, parts: str) -> list[tuple[str, bytes]]:
    """What an archive of ground truth holds."""
    found = [
        (UNIT, msgspec.json.encode(unit) + b"\n"),
        (TRUTH, msgspec.json.encode(truth, enc_hook=encode_hook) + b"\n"),
    ]
    return [*found, (PARTS, parts.encode())] if parts else found


def read_unit(archive: Path) -> Unit:
    """Raises BadInputError: no such archive, a damaged one, or one of another schema."""
    return _member(archive, UNIT, Unit)


def read_truth(archive: Path) -> Truth:
    """Errors as read_unit."""
    return _member(archive, TRUTH, Truth)


class _Head(msgspec.Struct, frozen=True):
    schema: int


def _member[T](archive: Path, name: str, kind: type[T]) -> T:
    where = f"{archive}:{name}"
    data = read_members(archive, [name]).get(name)
    if data is None:
        raise BadInputError("is not in the archive", where=where, fix="build the dataset again")
    schema = decode(data, _Head, where=where).schema
    if schema != DATASET_SCHEMA:
        raise BadInputError(
            f"schema {schema}, this version reads {DATASET_SCHEMA}",
            where=where,
            fix="build the dataset again",
        )
    return decode(data, kind, where=where)
