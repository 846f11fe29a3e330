"""Which kinds of bricks a page's parts list shows: pictures of the loose kinds are looked for in its head."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import moderngl
import numpy as np
import numpy.typing as npt
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_render.config import ManualConfig
from jarvis_render.paint import Palette
from jarvis_render.pictures import PartPictures
from jarvis_render.scene import Painter

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

    def release(self) -> None:
        self._pictures.release()

    def kinds(self, page: Image, wanted: Iterable[Kind]) -> tuple[Kind, ...]:
        """Those of the wanted kinds that the list shows; none where the page has no list that can be read."""
        unit = page.shape[1] / _UNIT_PX
        head = np.ascontiguousarray(page[: round(self._search.height_px * unit)])
        apart = round(0.5 * self._search.cell_px * unit)
        answers = {kind: self._unlike(head, kind) for kind in wanted}
        found: list[Kind] = []
        while answers:
            kind, unlike = min(answers.items(), key=lambda item: float(item[1].min()))
            if unlike.min() > self._search.most_unlike:
                break
            found.append(kind)
            row, column = np.unravel_index(int(unlike.argmin()), unlike.shape)
            for other in answers.values():
                other[max(0, row - apart) : row + apart, max(0, column - apart) : column + apart] = np.inf
            del answers[kind]
        return tuple(found)

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
