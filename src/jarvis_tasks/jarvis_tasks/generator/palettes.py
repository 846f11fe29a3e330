"""Colours that go together (LDraw codes)."""

from __future__ import annotations

from dataclasses import dataclass

WHITE, BLACK, RED, BLUE, YELLOW, GREEN, ORANGE = 15, 0, 4, 1, 14, 2, 25
BROWN, DARK_BROWN, TAN, DARK_TAN, NOUGAT = 70, 308, 19, 28, 84
GREY, DARK_GREY, PALE_GREY = 71, 72, 151
DARK_RED, DARK_BLUE, DARK_GREEN, DARK_ORANGE = 320, 272, 288, 484
BRIGHT_GREEN, LIME, OLIVE, SAND_GREEN, SAND_BLUE = 10, 27, 330, 378, 379
AZURE, MEDIUM_AZURE, SKY, MEDIUM_BLUE = 321, 322, 212, 73
PINK, DARK_PINK, MAGENTA, LAVENDER, CORAL = 29, 5, 26, 31, 353
LIGHT_ORANGE, LIGHT_YELLOW, GOLD = 191, 226, 297
GLASS, CLEAR, AMBER, TRANS_RED, TRANS_YELLOW = 43, 47, 57, 36, 46

LEAVES = (GREEN, DARK_GREEN, BRIGHT_GREEN, OLIVE, LIME)
BLOSSOMS = (RED, YELLOW, PINK, DARK_PINK, WHITE, ORANGE, LAVENDER, CORAL, MAGENTA)
BRIGHT = (RED, BLUE, YELLOW, GREEN, ORANGE, AZURE, LIME, DARK_PINK)


@dataclass(frozen=True, slots=True)
class Masonry:
    """A building's colours: walls, their lowest course, edges, roof, doors and small things."""

    name: str
    wall: int
    base: int
    trim: int
    roof: int
    door: int


BUILDINGS = (
    Masonry("White", WHITE, GREY, SAND_BLUE, DARK_BLUE, BLUE),
    Masonry("Brick", DARK_RED, DARK_GREY, TAN, DARK_GREY, GREEN),
    Masonry("Sandstone", TAN, DARK_TAN, WHITE, DARK_RED, BROWN),
    Masonry("Yellow", LIGHT_YELLOW, GREY, WHITE, RED, DARK_RED),
    Masonry("Sea", SKY, PALE_GREY, WHITE, DARK_BLUE, YELLOW),
    Masonry("Green", SAND_GREEN, DARK_GREY, WHITE, DARK_BROWN, DARK_ORANGE),
    Masonry("Timber", NOUGAT, DARK_GREY, DARK_BROWN, DARK_GREEN, RED),
    Masonry("Rose", CORAL, GREY, WHITE, DARK_GREY, MEDIUM_AZURE),
    Masonry("Orange", LIGHT_ORANGE, DARK_TAN, WHITE, BROWN, DARK_GREEN),
    Masonry("Slate", PALE_GREY, DARK_GREY, DARK_BLUE, BLACK, ORANGE),
)

FORTRESSES = (
    Masonry("Grey", GREY, DARK_GREY, PALE_GREY, DARK_RED, BROWN),
    Masonry("Sand", TAN, DARK_TAN, WHITE, DARK_BLUE, DARK_BROWN),
    Masonry("Black", DARK_GREY, BLACK, GREY, DARK_GREEN, RED),
    Masonry("White", PALE_GREY, GREY, WHITE, MEDIUM_AZURE, DARK_BLUE),
    Masonry("Red", DARK_ORANGE, DARK_BROWN, TAN, DARK_GREY, BLACK),
)


@dataclass(frozen=True, slots=True)
class Livery:
    """A vehicle's colours: body, stripe, what is below, roof."""

    name: str
    body: int
    stripe: int
    chassis: int
    roof: int


LIVERIES = (
    Livery("Red", RED, WHITE, DARK_GREY, RED),
    Livery("Blue", BLUE, WHITE, BLACK, BLUE),
    Livery("Yellow", YELLOW, BLACK, DARK_GREY, YELLOW),
    Livery("Green", GREEN, LIGHT_YELLOW, BLACK, DARK_GREEN),
    Livery("White", WHITE, RED, GREY, WHITE),
    Livery("Orange", ORANGE, WHITE, DARK_GREY, WHITE),
    Livery("Azure", MEDIUM_AZURE, WHITE, DARK_GREY, WHITE),
    Livery("Lime", LIME, DARK_GREY, DARK_GREY, WHITE),
    Livery("Pink", DARK_PINK, WHITE, GREY, WHITE),
    Livery("Black", BLACK, GOLD, DARK_RED, BLACK),
)
