"""Words of standing letters. The shapes are such that each row stands on the one below."""

from __future__ import annotations

from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import (
    AZURE,
    BLACK,
    BLUE,
    BRIGHT,
    DARK_BLUE,
    DARK_GREY,
    GOLD,
    GREEN,
    LIGHT_YELLOW,
    PALE_GREY,
    RED,
    WHITE,
    YELLOW,
)
from jarvis_tasks.generator.runs import lay

#: Rows from top to bottom.
LETTERS = {
    "A": "### #.# ### #.# #.#", "C": "### #.. #.. #.. ###", "E": "### #.. ##. #.. ###", "F": "### #.. ##. #.. #..",
    "G": "### #.. #.# #.# ###", "H": "#.# #.# ### #.# #.#", "I": "# # # # #", "J": "..# ..# ..# #.# ###",
    "L": "#.. #.. #.. #.. ###", "M": "##### #.#.# #.#.# #.#.# #.#.#", "N": "### #.# #.# #.# #.#",
    "O": "### #.# #.# #.# ###", "P": "### #.# ### #.. #..", "R": "### #.# ### ##. #.#", "S": "### #.. ### ..# ###",
    "T": "### .#. .#. .#. .#.", "U": "#.# #.# #.# #.# ###", "W": "#.#.# #.#.# #.#.# #.#.# #####",
    "Y": "#.# #.# ### .#. .#.", "Z": "### ..# ### #.. ###",
    "0": "### #.# #.# #.# ###", "1": "# # # # #", "2": "### ..# ### #.. ###", "3": "### ..# ### ..# ###",
    "4": "#.# #.# ### ..# ..#", "5": "### #.. ### ..# ###", "6": "### #.. ### #.# ###", "7": "### ..# ..# ..# ..#",
    "8": "### #.# ### #.# ###", "9": "### #.# ### ..# ###",
}  # fmt: skip
_SHORT = ("HI", "GO", "UP", "OH", "ME", "US", "WE", "A", "S", "Z", "42", "7", "10", "NO", "TO", "M", "W", "R")
_MIDDLE = (
    *("SUN", "TEA", "ZOO", "CAFE", "TOY", "ART", "SHOP", "PLAY", "FUN", "SEA", "YES", "HOLA", "CIAO", "MOON"),
    *(
        "ROSE",
        "STAR",
        "TEN",
        "FISH",
        "SOUP",
        "NEST",
        "LION",
        "RIO",
        "OSLO",
        "ROME",
        "PERU",
        "EAST",
        "GYM",
        "2026",
    ),
)
#: Above and below each other, at most five letters.
_SIGNS = (
    *(("HOTEL", "PARIS"), ("HELLO", "EARTH"), ("PIZZA", "HOUSE"), ("NORTH", "STAR"), ("CAFE", "ROMA")),
    *(("SUN", "MOON"), ("PLAY", "GAMES"), ("TOY", "SHOP"), ("HAPPY", "HOUR"), ("SUSHI", "TO GO")),
    *(("SPACE", "LINES"), ("OPEN", "STAGE"), ("RACE", "2026"), ("FINE", "ART"), ("TEA", "HOUSE")),
)
_THEMES = (
    (DARK_GREY, (WHITE, LIGHT_YELLOW)),
    (WHITE, (RED, BLUE)),
    (PALE_GREY, BRIGHT),
    (BLACK, (GOLD, WHITE)),
    (DARK_BLUE, (YELLOW, WHITE)),
    (GREEN, (WHITE, YELLOW)),
    (WHITE, (DARK_BLUE, AZURE)),
)


def word(grid: Grid, size: str) -> str:
    """A word or number on a plinth; the large ones are two lines, the first one on a wall behind the second."""
    dice = grid.dice
    base, colours = dice.pick(_THEMES)
    order = dice.some(colours, len(colours))
    if size == "large":
        return _sign(grid, base, order)
    text = dice.pick(_SHORT if size == "small" else _MIDDLE)
    scale = 2 if size == "medium" and _width(text, 2) <= 28 and dice.chance(0.6) else 1
    length = _width(text, scale) + 2
    grid.stage("Plinth")
    for z in range(1 if size == "small" else 2):
        lay(grid, "x", 0, 0, z, [base] * length, depth=4, kind="plate")
    _letters(grid, text, 1, 1, 1 if size == "small" else 2, order, scale)
    return f"The {'Word' if text.isalpha() else 'Number'} {text}"


def _sign(grid: Grid, base: int, order: list[int]) -> str:
    """The upper line's wall is as high as the lower line's letters."""
    above, below = grid.dice.pick(_SIGNS)
    length = max(_width(above), _width(below)) + 2
    grid.stage("Plinth")
    lay(grid, "x", 0, 0, 0, [base] * length, depth=8, kind="plate")
    grid.stage("Wall")
    for course in range(5):
        lay(grid, "x", 0, 6, 1 + BRICK * course, [base] * length, depth=2)
    _letters(grid, below, (length - _width(below)) // 2, 0, 1, order, 1)
    z = 1 + 5 * BRICK
    grid.stage("Top of the wall")
    lay(grid, "x", 0, 6, z, [base] * length, depth=2, kind="plate")
    _letters(grid, above, (length - _width(above)) // 2, 6, z + 1, order, 1)
    return f"Sign {above} {below}"


def _width(text: str, scale: int = 1) -> int:
    """Studs that a line takes: a stud between letters, two for a blank."""
    return sum((2 if letter == " " else len(LETTERS[letter].split()[0]) * scale + 1) for letter in text) - 1


def _letters(grid: Grid, text: str, x: int, y: int, z: int, colours: list[int], scale: int) -> None:
    """Letters two studs deep; a mark of their shapes is ``scale`` studs wide and bricks high."""
    for number, letter in enumerate(text):
        if letter == " ":
            x += 2
            continue
        grid.stage(f"Letter {letter}" if letter.isalpha() else f"Figure {letter}")
        shape = LETTERS[letter].split()
        colour = colours[number % len(colours)]
        rows = [row for row in reversed(shape) for _ in range(scale)]
        for level, row in enumerate(rows):
            cells = [colour if mark == "#" else None for mark in row for _ in range(scale)]
            lay(grid, "x", x, y, z + BRICK * level, cells, depth=2)
        x += len(shape[0]) * scale + 1
