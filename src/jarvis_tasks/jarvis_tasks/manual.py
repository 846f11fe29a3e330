"""The manual of a task, and the brief that an agent is given."""

from __future__ import annotations

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import PlateConfig
from jarvis_core.manual import Manual, TaskBrief
from jarvis_render.config import ManualConfig
from jarvis_render.pages import render_manual

from jarvis_tasks.task import PlacedBrick, Task


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
