"""Reads a manual page by page into a plan."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import moderngl
import msgspec
import numpy as np
import numpy.typing as npt
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.manual import ManualPage, TaskBrief
from jarvis_core.seen import SeenStructure
from jarvis_render.config import ManualConfig
from jarvis_render.gl import GlContext, shared_context
from jarvis_render.view import OrthoView

from jarvis_agent.manual_reader.changes import accent_band, drawing_only, estimate_fade, unexplained
from jarvis_agent.manual_reader.columns import Columns, FootprintBook
from jarvis_agent.manual_reader.config import ManualReaderConfig
from jarvis_agent.manual_reader.hypotheses import Candidate, Kind, Reading
from jarvis_agent.manual_reader.page_camera import PageCamera, estimate_camera
from jarvis_agent.manual_reader.parts_list import PartsListReader
from jarvis_agent.manual_reader.plan import ReadBrick, ReadPlace, ReadPlan, ReadStep
from jarvis_agent.manual_reader.search import PageSearch
from jarvis_agent.manual_reader.sprites import SpriteMaker
from jarvis_agent.manual_reader.words import cameras_in_words

Image = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Task:
    """A page to read: its place among the pages, what stands before it, which bricks are left."""

    index: int
    columns: Columns
    left: dict[Kind, int]


class _Tools:
    """What the pages of one manual share: sprites by view, the parts list's pictures, how far pages fade."""

    def __init__(
        self,
        gl: moderngl.Context,
        catalogue: PartCatalogue,
        config: ManualReaderConfig,
        pages: Sequence[Image],
        cameras: Sequence[PageCamera | None],
    ) -> None:
        self._gl, self._catalogue, self._config = gl, catalogue, config
        self.pages, self.cameras = pages, cameras
        self._makers: dict[OrthoView, SpriteMaker] = {}
        self._list: PartsListReader | None = None
        self._fade: float | None = None

    def release(self) -> None:
        for maker in self._makers.values():
            maker.release()
        if self._list is not None:
            self._list.release()

    def maker(self, camera: PageCamera) -> SpriteMaker:
        view = camera.view
        if view not in self._makers:
            self._makers[view] = SpriteMaker(self._gl, self._catalogue, view, self._config.search.edge_px)
        return self._makers[view]

    def parts_list(self, camera: PageCamera) -> PartsListReader:
        if self._list is None:
            view = camera.view
            size = {"width": view.width, "height": view.height}
            look = load_default("manual", ManualConfig).changed("a page's size", **size)
            self._list = PartsListReader(
                self._gl, self._catalogue, look, self._config.parts_list, view.px_per_m
            )
        return self._list

    def cost(self, index: int, camera: PageCamera) -> tuple[npt.NDArray[np.float32], bool]:
        """How new every pixel of a page is, 0 to 1, and whether an earlier page could tell."""
        search, page = self._config.search, self.pages[index]
        earlier = [self.pages[k] for k in range(index - 1, -1, -1) if _same(self.cameras[k], camera)][:2]
        if not earlier:
            cost = np.full(page.shape[:2], search.blank_cost, dtype=np.float32)
            return drawing_only(cost, self._config.camera), False
        if self._fade is None:
            self._fade = estimate_fade(page, earlier[0])
        cost = unexplained(page, earlier, self._fade, search.tolerance)
        return drawing_only(cost, self._config.camera), True


class ManualReader:
    """Makes a plan from page images, the loose bricks and what is seen on the plate at the start.

    Args:
        catalogue: shapes and colours of parts.
        config: from config/manual_reader.yaml.
        context: to draw hypotheses with; the calling thread's shared one if absent.
    """

    def __init__(
        self, catalogue: PartCatalogue, config: ManualReaderConfig, context: GlContext | None = None
    ) -> None:
        self._catalogue = catalogue
        self._config = config
        self._context = context
        self._footprints = FootprintBook(catalogue)

    def read(self, brief: TaskBrief, structure: SeenStructure) -> ReadPlan:
        """The plan of a task.

        Args:
            brief: its pages, its loose bricks and the words on the plate's axes.
            structure: what perception sees on the plate before the first step.

        Raises:
            BadInputError: a manual without pages, or a page that is no image.
            MissingCapabilityError: no headless OpenGL here.
        """
        pages = [_decoded(page) for page in brief.manual.pages]
        if not pages:
            raise BadInputError(
                "the manual has no pages", where=brief.task_id, fix="give pages from the initial structure on"
            )
        cameras, said = self._cameras(pages, brief.manual.axes)
        left: dict[Kind, int] = {}
        for line in brief.manual.parts:
            left[line.part, line.colour] = left.get((line.part, line.colour), 0) + line.count
        columns = Columns.of(structure)
        steps: list[ReadStep] = []
        with (self._context or shared_context()).active() as gl:
            tools = _Tools(gl, self._catalogue, self._config, pages, cameras)
            try:
                for index in range(1, len(pages)):
                    start = time.perf_counter()
                    task = _Task(index, columns, left)
                    step, columns, left = self._step(task, tools, brief.manual.pages[index].step)
                    if steps and not steps[-1].understood:
                        doubt = "an earlier step was not understood, so what stands is not known"
                        step = msgspec.structs.replace(step, understood=False, doubts=(*step.doubts, doubt))
                    steps.append(msgspec.structs.replace(step, seconds=time.perf_counter() - start))
            finally:
                tools.release()
        unused = tuple((part, colour, count) for (part, colour), count in left.items() if count)
        return ReadPlan(brief.task_id, tuple(steps), said, unused)

    def _step(self, task: _Task, tools: _Tools, number: int) -> tuple[ReadStep, Columns, dict[Kind, int]]:
        """One page; what stands and which bricks are left after it."""
        search = self._config.search
        camera, page = tools.cameras[task.index], tools.pages[task.index]
        if camera is None:
            return ReadStep(number, (), 0.0, False, ("its camera is not known",)), task.columns, task.left
        doubts = list(camera.doubts)
        cost, seen_before = tools.cost(task.index, camera)
        if not seen_before:
            doubts.append(
                "no earlier page is seen from this side: what is new was told by full colours alone"
            )
        loose = {kind: count for kind, count in task.left.items() if count}
        listed = tools.parts_list(camera).counts(page, loose)
        if not listed:
            doubts.append("no parts list was read: all loose bricks were tried")
        left = listed or loose
        maker = tools.maker(camera)
        start = Reading(task.columns, cost, maker.depth(task.columns), left)
        reading = PageSearch(page, start, maker, self._footprints, search).read(
            sum(left.values()), hidden=bool(listed)
        )
        explained = _explained(start, reading, accent_band(_covered(reading), search))
        hidden = any(brick.gain <= 0 for brick in reading.bricks)
        least = search.least_explained_hidden if hidden else search.least_explained
        missing = {kind: count for kind, count in reading.left.items() if count and listed}
        doubts += [
            f"{count} of {part} in colour {colour} in its parts list not found"
            for (part, colour), count in missing.items()
        ]
        if not reading.bricks:
            doubts.append("no brick that may rest there explains what has changed")
        elif explained < least:
            doubts.append(f"only {explained:.0%} of what has changed is explained")
        placed = Counter(brick.kind for brick in reading.bricks)
        after = {kind: count - placed[kind] for kind, count in task.left.items()}
        if task.index == len(tools.pages) - 1 and any(after.values()):
            doubts.append(f"{sum(after.values())} of the loose bricks were found on no page")
        bricks = tuple(_read_brick(c, o) for c, o in zip(reading.bricks, reading.others, strict=True))
        understood = bool(bricks) and explained >= least and seen_before and not missing
        return ReadStep(number, bricks, explained, understood, tuple(doubts)), reading.columns, after

    def _cameras(self, pages: Sequence[Image], axes: str) -> tuple[list[PageCamera | None], tuple[str, ...]]:
        """One per page, and how they were found.

        The words on the plate's axes are part of what an agent is given; without them (or told not to use them), pages
        that are seen from the same side share the estimate that agrees best with itself.
        """
        if self._config.camera.words:
            words = cameras_in_words(axes, len(pages))
            if any(words):
                return list(words), ("by the words on the plate's axes",)
        estimates = [estimate_camera(page, self._config.camera) for page in pages]
        surest: dict[tuple[float, float], PageCamera] = {}
        for estimate in estimates:
            if estimate is not None:
                side = estimate.view.latitude_deg, estimate.view.longitude_deg
                if side not in surest or estimate.certain > surest[side].certain:
                    surest[side] = estimate
        found = [None if e is None else surest[e.view.latitude_deg, e.view.longitude_deg] for e in estimates]
        least = self._config.camera.least_certain
        known = [camera if camera is not None and camera.certain >= least else None for camera in found]
        lost = sum(camera is None for camera in known)
        return known, (
            f"estimated from the pages; {lost} of {len(pages)} pages show too little of the plate",
        )


def _same(one: PageCamera | None, other: PageCamera) -> bool:
    return one is not None and one.view == other.view


def _covered(reading: Reading) -> npt.NDArray[np.bool_]:
    return np.zeros(reading.cost.shape, dtype=bool) if reading.covered is None else reading.covered


def _explained(start: Reading, reading: Reading, band: npt.NDArray[np.bool_]) -> float:
    """Share of the changed pixels that bricks explain, the outlines around them left out."""
    covered = _covered(reading)
    changed = (start.cost > 0.5) & (covered | ~band)
    good = changed & covered & (reading.cost < 0.5)
    return float(good.sum()) / max(1.0, float(changed.sum()))


def _read_brick(candidate: Candidate, others: Sequence[Candidate]) -> ReadBrick:
    confirmed = max(0.0, candidate.gain) / max(1, candidate.shown)
    rival = max((max(0.0, c.gain) for c in others), default=0.0)
    ahead = 1.0 - rival / candidate.gain if candidate.gain > 0 else 0.0
    confidence = min(1.0, confirmed) * min(1.0, 0.4 + 3.0 * max(0.0, ahead))
    return ReadBrick(_read_place(candidate), confidence, tuple(_read_place(c) for c in others))


def _read_place(candidate: Candidate) -> ReadPlace:
    return ReadPlace(*candidate.kind, candidate.pose, candidate.gain)


def _decoded(page: ManualPage) -> Image:
    image = cv2.imdecode(np.frombuffer(page.png, dtype=np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise BadInputError(f"page {page.step} is no image", where="the manual", fix="give PNG or JPEG bytes")
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB).astype(np.uint8)
