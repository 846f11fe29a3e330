"""What a page's parts list shows: pictures of the loose kinds and counts are looked for in its head."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import moderngl
import numpy as np
import numpy.typing as npt
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_render.config import ManualConfig
from jarvis_render.paint import Palette
from jarvis_render.pictures import PartPictures, font
from jarvis_render.scene import Painter
from PIL import Image as PillowImage
from PIL import ImageDraw

from jarvis_agent.manual_reader.config import PartsListSearch

Kind = tuple[str, int]
Image = npt.NDArray[np.uint8]
_UNIT_PX = 512.0


class PartsListReader:
    """Use it inside ``GlContext.active()``; release it when done.

    Args:
        look: how manuals draw parts.
        px_per_m: scale of the pages, which pictures of the list do not exceed by much.
    """

    def __init__(
        self,
        gl: moderngl.Context,
        catalogue: PartCatalogue,
        look: ManualConfig,
        search: PartsListSearch,
        px_per_m: float,
    ) -> None:
        self._pictures = PartPictures(Painter(gl, catalogue, Palette(catalogue.colours)), catalogue, look)
        self._look = look
        self._search = search
        self._scale = max(px_per_m, look.unit * search.nominal_stud_px / STUD_PITCH_M)
        self._known: dict[Kind, tuple[Image, Image]] = {}
        self._numbers: dict[int, Image] = {}

    def release(self) -> None:
        self._pictures.release()

    def counts(self, page: Image, wanted: Mapping[Kind, int]) -> dict[Kind, int]:
        """Those of the wanted kinds that the list shows, and how many; none where no list can be read.

        Args:
            wanted: how many there are at most; so many are taken to be meant where a count can't be read.
        """
        unit = page.shape[1] / _UNIT_PX
        head = np.ascontiguousarray(page[: round(self._search.height_px * unit)])
        apart = round(0.5 * self._search.cell_px * unit)
        answers = {kind: self._unlike(head, kind) for kind in wanted}
        found: dict[Kind, int] = {}
        while answers:
            kind, unlike = min(answers.items(), key=lambda item: float(item[1].min()))
            if unlike.min() > self._search.most_unlike:
                break
            row, column = (int(v) for v in np.unravel_index(int(unlike.argmin()), unlike.shape))
            height, width = self._picture(kind)[0].shape[:2]
            found[kind] = self._count(head, row + height, column + width // 2, wanted[kind])
            for other in answers.values():
                other[max(0, row - apart) : row + apart, max(0, column - apart) : column + apart] = np.inf
            del answers[kind]
        return found

    def _count(self, head: Image, top: int, middle: int, most: int) -> int:
        """The number below a picture; ``most`` where none up to it can be read."""
        cell = self._search.cell_px * self._look.unit
        left = max(0, round(middle - cell / 2))
        top -= round(0.08 * cell)
        room = np.ascontiguousarray(head[top : top + round(0.7 * cell), left : round(middle + cell / 2)])
        unlike = {}
        for number in range(1, most + 1):
            text = self._number(number)
            if text.shape[0] <= room.shape[0] and text.shape[1] <= room.shape[1]:
                squares = cv2.matchTemplate(room, text, cv2.TM_SQDIFF)
                unlike[number] = float(np.sqrt(max(0.0, float(squares.min())) / text.size))
        if not unlike or min(unlike.values()) > self._search.digits_unlike:
            return most
        return min(unlike, key=lambda number: unlike[number])

    def _number(self, number: int) -> Image:
        """A count as it stands in a list, with room on both sides."""
        if number not in self._numbers:
            unit, cell = self._look.unit, round(self._search.cell_px * self._look.unit)
            letters = font(max(min(9.0, cell * 0.4), min(15 * unit, cell * 0.25)))
            words = f"{number}x"
            left, top, right, bottom = letters.getbbox(words, stroke_width=unit * 0.3)
            pad = round(3 * unit)
            size = (round(right - left) + 2 * pad, round(bottom - top) + 2)
            picture = PillowImage.new("RGB", size, self._search.fill_rgb)
            draw = ImageDraw.Draw(picture)
            place = (pad - left, 1 - top)
            draw.text(place, words, font=letters, fill=self._search.text_rgb, stroke_width=unit * 0.3)
            self._numbers[number] = np.asarray(picture, dtype=np.uint8)
        return self._numbers[number]

    def _unlike(self, head: Image, kind: Kind) -> npt.NDArray[np.float32]:
        """Root of the mean squared difference (0 to 255) of a kind's picture at every place of the head."""
        picture, mask = self._picture(kind)
        if picture.shape[0] > head.shape[0] or picture.shape[1] > head.shape[1]:
            return np.full((1, 1), np.inf, dtype=np.float32)
        squares = cv2.matchTemplate(head, picture, cv2.TM_SQDIFF, mask=mask)
        count = 3.0 * max(1, int((mask > 0).sum()))
        return np.sqrt(np.maximum(squares, 0.0) / count).astype(np.float32)

    def _picture(self, kind: Kind) -> tuple[Image, Image]:
        """The picture, and which of its pixels are the part or right beside it."""
        if kind not in self._known:
            size = round(self._search.picture_share * self._search.cell_px * self._look.unit)
            fill = self._search.fill_rgb
            picture = np.asarray(self._pictures.draw(kind, size, self._scale, fill), dtype=np.uint8)
            part = (np.abs(picture.astype(int) - np.array(fill)).max(axis=2) > 8).astype(np.uint8)
            near = cv2.dilate(part, np.ones((5, 5), np.uint8))
            self._known[kind] = np.ascontiguousarray(picture), np.repeat(near[:, :, None], 3, axis=2)
            self._known[kind] = self._cropped(*self._known[kind])
        return self._known[kind]

    @staticmethod
    def _cropped(picture: Image, mask: Image) -> tuple[Image, Image]:
        rows, columns = np.flatnonzero(mask.any(axis=(1, 2))), np.flatnonzero(mask.any(axis=(0, 2)))
        area = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
        return np.ascontiguousarray(picture[area]), np.ascontiguousarray(mask[area])
