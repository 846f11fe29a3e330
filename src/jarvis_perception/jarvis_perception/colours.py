"""Which LDraw colour a brick has, whatever the light: the tabletop beside it tells its strength and colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_bricks.colours import ColourTable
from jarvis_core.pose import FloatArray
from jarvis_core.seen import ColourGuess

from jarvis_perception.config import ColourConfig, ReferenceConfig
from jarvis_perception.patch import core, window
from jarvis_perception.view import Mask, View

#: Not colours of bricks: "the brick's own" and "of its edges".
_PLACEHOLDERS = frozenset({16, 24})
#: A colour of the task's list is so much likelier than another one (natural logarithm).
_LISTED_BONUS = 4.0
#: The top of a thing: not this far below the height that four tenths of it reach.
_TOP_BAND_M = 0.002


@dataclass(frozen=True, slots=True)
class Palette:
    """Candidate colours as they look over the tabletop under white light.

    Attributes:
        lab: (n, 3) CIELAB.
        bonus: (n,) logarithm of the prior.
    """

    codes: tuple[int, ...]
    names: tuple[str, ...]
    lab: FloatArray
    bonus: FloatArray

    @classmethod
    def of(cls, table: ColourTable, listed: Sequence[int], reference: ReferenceConfig) -> Palette:
        """All opaque and transparent plain colours, those of the list preferred."""
        plain = [
            c for code, c in sorted(table.colours.items())
            if code not in _PLACEHOLDERS and (c.material == "SOLID" or code in listed)
        ]  # fmt: skip
        plain += [
            table.get(code) for code in sorted(set(listed)) if code not in table.colours and code in table
        ]
        rgb = np.array([c.rgb for c in plain], dtype=np.float64) / 255
        alpha = np.array([c.alpha for c in plain], dtype=np.float64)[:, None] / 255
        behind = np.array(reference.table_rgb)
        bonus = np.array([_LISTED_BONUS if c.code in listed else 0.0 for c in plain])
        return cls(
            tuple(c.code for c in plain),
            tuple(c.words for c in plain),
            to_lab(alpha * rgb + (1 - alpha) * behind),
            bonus,
        )

    def logs(self, rgb: FloatArray, sigma: float) -> FloatArray:
        """(n,) logarithm of each colour's likelihood, up to a constant; ``rgb`` (3,) 0 to 1 under white light."""
        distance = np.linalg.norm(self.lab - to_lab(rgb[None])[0], axis=1)
        logs: FloatArray = -0.5 * (distance / sigma) ** 2 + self.bonus
        return logs

    def guess(self, rgb: FloatArray, sigma: float) -> ColourGuess:
        """The likeliest colour."""
        logs = self.logs(rgb, sigma)
        share = np.exp(logs - logs.max())
        share /= share.sum()
        best = int(np.argmax(share))
        return ColourGuess(self.codes[best], self.names[best], float(share[best]))


def to_lab(rgb: FloatArray) -> FloatArray:
    """(n, 3) CIELAB (D65) of (n, 3) sRGB values 0 to 1."""
    image = np.clip(rgb, 0.0, 1.0).astype(np.float32)[None]
    lab: FloatArray = cv2.cvtColor(image, cv2.COLOR_RGB2LAB)[0].astype(np.float64)
    return lab


def gains(view: View, table: Mask, reference: ReferenceConfig) -> FloatArray:
    """(3,) strength of the light by channel: how the tabletop looks to how it would look in white light."""
    return _ratio(view.rgb[table][::7], reference)


def _ratio(pixels: npt.NDArray[np.uint8], reference: ReferenceConfig) -> FloatArray:
    seen = np.median(pixels, axis=0) / 255
    ratio: FloatArray = np.maximum(seen, 1e-3) / np.array(reference.table_rgb)
    return ratio


def white_balanced(
    view: View, mask: Mask, table: Mask, light: FloatArray, reference: ReferenceConfig, config: ColourConfig
) -> FloatArray:
    """(3,) colour of a thing under white light, 0 to 1; by the table around it where enough of that is seen.

    Only its highest pixels count: they face up as the table does, and so are lit as the table is.
    """
    at = window(mask, 2 * config.ring_px + 2)
    own, rgb, z = mask[at], view.rgb[at], view.z[at]
    near, far = (
        cv2.dilate(own.astype(np.uint8), np.ones((n, n), np.uint8)) for n in (5, 5 + 2 * config.ring_px)
    )
    ring = (far > near) & table[at]
    if int(ring.sum()) >= config.min_px * 4:
        light = _ratio(rgb[ring], reference)
    # Outermost pixels go first: where noise breaks the top up, nothing but its outermost pixels would be left.
    inner = core(own)
    top = inner & (z > np.percentile(z[inner], 60) - _TOP_BAND_M)
    balanced: FloatArray = np.median(rgb[top], axis=0) / 255 / light
    return balanced
