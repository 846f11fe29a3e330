"""What perception makes of one picture: bricks with poses, the structure on the plate, and what was doubtful.

Everything here may be known to an agent: it comes from the camera, the cell's calibration and the task's list of parts.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from jarvis_core.objects import Box
from jarvis_core.pose import Pose

#: Height of a cell that the camera did not see.
UNSEEN = -1


class SideUp(StrEnum):
    """Which side of a brick is up, in its part frame: ``+z`` studs up, ``-z`` on its head, else on a side."""

    STUDS = "+z"
    UNDERSIDE = "-z"
    X = "+x"
    MINUS_X = "-x"
    Y = "+y"
    MINUS_Y = "-y"


class PartGuess(msgspec.Struct, frozen=True):
    """A part that a brick may be; ``score`` is its share of all the candidates' likelihood, 0 to 1."""

    part: str
    score: float


class ColourGuess(msgspec.Struct, frozen=True):
    """An LDraw colour; ``confidence`` is its share of the candidate colours' likelihood, 0 to 1."""

    code: int
    name: str
    confidence: float


class SeenBrick(msgspec.Struct, frozen=True):
    """One loose brick.

    Attributes:
        id: stays the same as long as the brick is followed, through grasps and occlusion.
        size_studs: of the body seen from above, the longer side first, in studs of 8 mm; need not be whole.
        height_plates: top above what it lies on (studs left out), in plates of 3.2 mm.
        candidates: parts that fit, the best first; empty if none of those asked about does.
        pose: of the best candidate's part frame in ``world``; without a candidate: of the middle of its top, z up, x
            along the longer side.
        covariance: 36 numbers, rows of the covariance of (x, y, z, rx, ry, rz) in ``world``; m^2, m rad, rad^2.
        side_up: as the best candidate fits; the side studs are on, for an unknown part.
        studs: number of studs counted on its top.
        boxes: collision shape in the frame of ``pose``, the largest box first.
        graspable: from above by this cell's gripper, as things lie; else ``reason`` says what is in the way.
        fit_m: root mean square of what is left between predicted and measured height.
        visible: seen in this picture; else where it was last seen (hidden by the arm, or held).
        held: in the gripper, as far as perception was told.
    """

    id: str
    colour: ColourGuess
    size_studs: tuple[float, float]
    height_plates: float
    candidates: tuple[PartGuess, ...]
    pose: Pose
    covariance: tuple[float, ...]
    side_up: SideUp
    studs: int
    boxes: tuple[Box, ...]
    graspable: bool
    reason: str
    fit_m: float
    visible: bool = True
    held: bool = False

    @property
    def part(self) -> str:
        """Number of the best candidate, or ``unknown``."""
        return self.candidates[0].part if self.candidates else "unknown"


class SeenStructure(msgspec.Struct, frozen=True):
    """What stands on the build plate, as seen from above: what lies below an overhang is not known.

    Cell (i, j) is the square around the plate's stud i along the plate's x and j along its y, both from 0 at the
    corner with the smallest coordinates.

    Attributes:
        heights_plates: [i][j] top of each cell above the plate's surface, in plates, studs left out; 0 for the bare
            plate, UNSEEN for a cell that was hidden.
        colours: [i][j] LDraw code of the top; -1 for the bare plate or an unseen cell.
        free_studs: (i, j, height in plates) of every stud above the plate that nothing covers.
    """

    heights_plates: tuple[tuple[int, ...], ...]
    colours: tuple[tuple[int, ...], ...]
    free_studs: tuple[tuple[int, int, int], ...]

    def layer(self, number: int) -> tuple[tuple[bool, ...], ...]:
        """[i][j] whether a cell's top lies at or above the top of layer ``number``, from 1 on the plate."""
        return tuple(tuple(height >= number for height in row) for row in self.heights_plates)


class SeenScene(msgspec.Struct, frozen=True):
    """All that was seen in one picture.

    Attributes:
        time_s: of the picture, by the cell's clock.
        frame: that poses are given in.
        warnings: what a user of this scene should know, one sentence each.
    """

    time_s: float
    bricks: tuple[SeenBrick, ...]
    structure: SeenStructure
    frame: str = "world"
    warnings: tuple[str, ...] = ()

    def find(self, brick_id: str) -> SeenBrick | None:
        return next((brick for brick in self.bricks if brick.id == brick_id), None)


class CellChange(msgspec.Struct, frozen=True):
    """A cell of the plate whose top changed: heights in plates before and after, colour now."""

    i: int
    j: int
    before: int
    after: int
    colour: int


class SeenChange(msgspec.Struct, frozen=True):
    """Two observations compared.

    Attributes:
        appeared, vanished: ids of loose bricks.
        moved: (id, metres, radians) of loose bricks beyond the noise.
        cells: of the structure.
    """

    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    moved: tuple[tuple[str, float, float], ...]
    cells: tuple[CellChange, ...]


class PlacedAnswer(msgspec.Struct, frozen=True):
    """Whether a brick came to lie where it should: ``placed`` only if all of its cells rose by its height."""

    placed: bool
    message: str
    rose: int
    expected: int
