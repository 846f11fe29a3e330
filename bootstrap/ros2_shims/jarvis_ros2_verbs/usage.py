"""How these commands refuse bad input: one line on stderr, exit status 2."""

import difflib
import sys
from collections.abc import Iterable

from ament_index_python import get_packages_with_prefixes

BAD_INPUT = 2


class BadInputError(Exception):
    """Something the person typed that cannot be carried out; the text says what, and what would be right."""


def refuse(error: BadInputError) -> int:
    print(f"ros2: {error}", file=sys.stderr)
    return BAD_INPUT


def known(names: Iterable[str]) -> str:
    """A list for the end of an error message."""
    return ", ".join(sorted(names)) or "none"


def unknown_package(name: str) -> BadInputError:
    """The error for a package that is not there, with those that are named much like it."""
    alike = difflib.get_close_matches(name, get_packages_with_prefixes(), n=3)
    hint = f"did you mean {' or '.join(alike)}?" if alike else "ros2 pkg list shows all"
    return BadInputError(f"no package {name!r}; {hint}")
