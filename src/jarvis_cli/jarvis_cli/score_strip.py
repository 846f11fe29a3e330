"""Case strips: an episode in four pictures, with what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.episode import EpisodeRecord
from jarvis_core.files import atomic_path
from jarvis_episode.recording.folder import AFTER_FILE, BEFORE_FILE, VIDEO_FILE
from jarvis_episode.recording.scored import Scored, find_sources, score_all
from jarvis_scoring.text import headline
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

Rgb = npt.NDArray[np.uint8]
_TEXT, _FAINT = "#22252a", "#6d7078"
#: Of a pick-and-place: the fingers close after about a third, and the brick is over the structure before two thirds.
_GRASP, _TRANSFER = 0.35, 0.62


def draw_strips(results: Sequence[Path], folder: Path) -> Iterator[Path]:
    """A PNG for every episode folder among ``results``; bags without a folder have no pictures."""
    paths = [p for p in results if p.suffix != ".jsonl"]
    for item in score_all(find_sources(paths), with_bags=False):
        if isinstance(item, Scored) and item.record is not None:
            yield draw_strip(item, item.record, folder / f"{item.evidence.episode_id}.png")


def draw_strip(scored: Scored, record: EpisodeRecord, path: Path) -> Path:
    """Initial, approach and grasp, transfer, final; the middle two of the first call that worked (else any)."""
    folder = scored.source
    chosen = next((c for c in record.calls if c.result.ok and c.end_s > c.start_s), None)
    call = chosen or next(iter(record.calls), None)
    start = record.initial.time_s
    moments = (
        [None, None]
        if call is None
        else [call.start_s - start + share * (call.end_s - call.start_s) for share in (_GRASP, _TRANSFER)]
    )
    pictures = [
        ("initial", _png(folder / BEFORE_FILE)),
        ("approach and grasp", _frame(folder / VIDEO_FILE, moments[0], record)),
        ("transfer", _frame(folder / VIDEO_FILE, moments[1], record)),
        ("final", _png(folder / AFTER_FILE)),
    ]
    figure = Figure(figsize=(15.0, 3.7), dpi=100, facecolor="white")
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.05, h_pad=0.05))
    FigureCanvasAgg(figure)
    for axes, (name, picture) in zip(figure.subplots(1, len(pictures)), pictures, strict=True):
        axes.set_axis_off()
        axes.set_title(name, loc="left", fontsize=11, color=_TEXT)
        if picture is None:
            axes.text(0.5, 0.5, "no picture", ha="center", va="center", color=_FAINT)
        else:
            axes.imshow(picture)
    counted = f"score {scored.score.score:.1f}" + ("  INCOMPLETE, counts 0" if scored.faults else "")
    figure.suptitle(f"{record.episode_id}   {counted}", fontsize=13, fontweight="bold", color=_TEXT)
    figure.supxlabel(headline(scored.score), fontsize=10, color=_FAINT)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, metadata={"Software": None})
    return path


def _png(path: Path) -> Rgb | None:
    bgr = cv2.imread(str(path)) if path.is_file() else None
    return None if bgr is None else np.asarray(bgr[:, :, ::-1], dtype=np.uint8)


def _frame(path: Path, time_s: float | None, record: EpisodeRecord) -> Rgb | None:
    """The video's picture of a moment; it runs evenly over the episode's time."""
    if time_s is None or not path.is_file():
        return None
    video = cv2.VideoCapture(str(path))
    try:
        count = int(video.get(cv2.CAP_PROP_FRAME_COUNT))
        whole = max(record.final.time_s - record.initial.time_s, 1e-6)
        wanted = min(max(round(time_s / whole * (count - 1)), 0), max(count - 1, 0))
        frame = None
        for _ in range(wanted + 1):
            # Seeking is not exact in every codec; these videos are short.
            ok, read = video.read()
            if not ok:
                break
            frame = read
    finally:
        video.release()
    return None if frame is None else np.asarray(frame[:, :, ::-1], dtype=np.uint8)
