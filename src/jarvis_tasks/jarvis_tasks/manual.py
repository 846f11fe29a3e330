"""The manual of a task or of a whole model, and the brief that an agent is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np
from jarvis_bricks.assembly import Assembly, Brick, StepView, SubmodelUse
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.cell import PlateConfig
from jarvis_core.manual import Manual, TaskBrief
from jarvis_core.pose import FloatArray
from jarvis_render.artist import Callout
from jarvis_render.config import ManualConfig
from jarvis_render.pages import PageHints, render_manual
from jarvis_render.view import Direction

from jarvis_tasks.placement import PlacedModel, extent, place_on_plate
from jarvis_tasks.task import PlacedBrick, Task

#: LDraw's axes (x right, y down, z back) in ours.
_FROM_LDRAW = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
#: A submodel that holds more than this share of the model is the model: it needs no box of its own.
_MAX_CALLOUT = 0.6
#: Studs of plate around a model that is larger than the build plate.
_RIM_STUDS = 4


def manual_steps(task: Task) -> list[list[PlacedBrick]]:
    """Bricks by page: the initial structure, then what each step adds."""
    last = max((b.step for b in task.targets), default=0)
    return [list(task.scene), *([b for b in task.targets if b.step == n] for n in range(1, last + 1))]


def make_manual(task: Task, plate: PlateConfig, catalogue: PartCatalogue, config: ManualConfig) -> Manual:
    """Draw the manual; needs OpenGL (see jarvis_render.pages.render_manual for errors)."""
    return render_manual(manual_steps(task), plate, catalogue, catalogue.colours, config)


def task_brief(task: Task, manual: Manual, budget_s: float) -> TaskBrief:
    """All that an agent is told: no target, no pose, no brick's place.

    Args:
        budget_s: simulated seconds after which the score is reduced.
    """
    return TaskBrief(task.id, manual, task.n_required, budget_s)


def model_on_plate(
    assembly: Assembly, catalogue: PartCatalogue, plate: PlateConfig
) -> tuple[PlacedModel, PlateConfig]:
    """A whole model on the build plate, or on one as large as it needs."""
    placed = place_on_plate(assembly, catalogue, plate.studs)
    reach = np.max([np.abs(extent(b, catalogue)[:, :2]).max(axis=0) for b in placed.bricks], axis=0)
    needed = 2 * (np.ceil(reach / STUD_PITCH_M).astype(int) + _RIM_STUDS)
    studs = (max(plate.studs[0], int(needed[0])), max(plate.studs[1], int(needed[1])))
    return placed, msgspec.structs.replace(plate, studs=studs)


def model_steps(model: PlacedModel) -> list[list[Brick]]:
    """Bricks by page: nothing, then what each step of the model adds."""
    return [[], *(list(model.between(n, n)) for n in range(1, model.source.n_steps + 1))]


def model_hints(model: PlacedModel, config: ManualConfig) -> PageHints:
    """Turned views (ROTSTEP) and submodels of a model, page by page."""
    last = model.source.n_steps
    return PageHints(
        tuple(_turns(model, last, config)),
        {page: callout for page in range(1, last + 1) if (callout := _callout(model, page)) is not None},
    )


def _turns(model: PlacedModel, last: int, config: ManualConfig) -> list[Direction | None]:
    said = {view.step: view for view in model.source.views}
    # How the model was turned to lie along the plate's studs.
    sources = {brick.id: brick for brick in model.source.bricks}
    example = model.bricks[0]
    laid = example.pose.rotation @ sources[example.id].pose.rotation.T
    turns: list[Direction | None] = [None]
    before = np.eye(3)
    for step in range(1, last + 1):
        view = said.get(step)
        before = np.eye(3) if view is None else _turn(view, before)
        turns.append(None if view is None else _direction(view, laid @ before @ laid.T, config))
    return turns


def _turn(view: StepView, before: FloatArray) -> FloatArray:
    """(3, 3) rotation of the model, in our axes."""
    turn = _FROM_LDRAW @ rotstep_matrix(view.angles_deg) @ _FROM_LDRAW.T
    turned: FloatArray = turn @ before if view.kind == "ADD" else turn
    return turned


def _direction(view: StepView, turn: FloatArray, config: ManualConfig) -> Direction:
    numbers = tuple(np.round(turn, 9).reshape(-1).tolist())
    if view.kind == "ABS":
        return Direction(0.0, 0.0, numbers)
    return Direction(config.latitude_deg, config.longitude_deg, numbers)


def rotstep_matrix(angles_deg: tuple[float, float, float]) -> FloatArray:
    """(3, 3) rotation of LDraw coordinates about x, y, z: first about z, last about x (the convention of MLCad)."""
    x, y, z = np.radians(angles_deg)
    about_x = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
    about_y = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
    about_z = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
    matrix: FloatArray = about_x @ about_y @ about_z
    return matrix


def _callout(model: PlacedModel, page: int) -> Callout | None:
    """The innermost submodel that all new bricks of a page belong to, unless it is most of the model."""
    source = model.source
    order = {brick.id: index for index, brick in enumerate(source.bricks)}
    new = [order[brick.id] for brick in model.between(page, page)]
    if not new:
        return None
    holding = [use for use in source.submodels if _holds(use, new)]
    if not holding:
        return None
    use = min(holding, key=lambda u: u.count)
    if not 2 <= use.count <= _MAX_CALLOUT * len(source.bricks):
        return None
    built = [b for b in model.between(1, page - 1) if use.first <= order[b.id] < use.first + use.count]
    count = Counter(other.name for other in source.submodels)[use.name]
    return Callout(use.title or use.name, count, tuple(built))


def _holds(use: SubmodelUse, numbers: Sequence[int]) -> bool:
    return all(use.first <= number < use.first + use.count for number in numbers)
