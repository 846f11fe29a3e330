"""Bricks that appear in a running world and vanish from it, named by addresses such as ``ldraw:3001?colour=4``."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.pose import Pose

from jarvis_sim.bricks import BrickItem

SCHEME = "ldraw"
#: Colour of a brick whose address names none: LDraw's light grey.
DEFAULT_COLOUR = 7
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FIX = "write ldraw:PART?colour=CODE, for example ldraw:3001?colour=4"


class NameTakenError(RefusedError):
    """Something in the world has this name already."""


def parse_part(uri: str) -> tuple[str, int]:
    """Part and LDraw colour code of an address.

    Raises:
        BadInputError: another scheme, no part, or a colour that is no number.
    """
    address = urlsplit(uri)
    if address.scheme != SCHEME or not address.path:
        raise BadInputError("not the address of a part", where=uri, fix=_FIX)
    options = parse_qs(address.query, keep_blank_values=True)
    unknown = set(options) - {"colour"}
    codes = options.get("colour", [str(DEFAULT_COLOUR)])
    if unknown or len(codes) > 1 or not codes[0].isascii() or not codes[0].isdigit():
        raise BadInputError("what follows the part is not a colour", where=uri, fix=_FIX)
    return address.path, int(codes[0])


def check_name(name: str) -> None:
    """Raise BadInputError for a name that no brick may have."""
    if not _NAME.fullmatch(name):
        raise BadInputError(
            f"{name!r} can't name a brick", where="spawned brick",
            fix="use 1 to 64 letters, digits, hyphens and underscores",
        )  # fmt: skip


def spawned(name: str, part: str, colour: int, pose: Pose, catalogue: PartCatalogue) -> BrickItem:
    """The brick to put into a world.

    Raises:
        BadInputError: an unknown part or colour.
        RefusedError: a part that can't be simulated loose.
    """
    geometry = catalogue.geometry(part)
    catalogue.colours.get(colour)
    if not geometry.physical:
        raise RefusedError(
            f"part {part} can't be simulated loose: {geometry.not_physical_reason}", where=f"brick {name}"
        )
    return BrickItem(name, geometry, colour, pose)
