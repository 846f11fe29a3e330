"""A task from a real LDraw model, from file to score: needs a model collection (LDRAW_MODELS) and a parts library."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from jarvis_agent.baselines.oracle import Oracle
from jarvis_core.config import load_default
from jarvis_episode.runner import run_episode
from jarvis_episode.settings import Settings
from jarvis_render.config import ManualConfig
from jarvis_tasks.config import TasksConfig
from jarvis_tasks.filters import CellLimits
from jarvis_tasks.manual import make_manual
from jarvis_tasks.select import find_segments

from jarvis_bricks import LDrawLibrary, PartCatalogue, read_assembly


def models() -> list[Path]:
    folder = os.environ.get("LDRAW_MODELS")
    return sorted(Path(folder).glob("6071*.mpd")) if folder else []


@pytest.mark.skipif(not models(), reason="needs the real LDraw models (set LDRAW_MODELS and LDRAWDIR)")
def test_the_oracle_builds_a_segment_of_a_real_model_exactly(tmp_path: Path) -> None:
    loaded = Settings.load()
    # Hardly any pictures: they are not what is tested.
    quick = msgspec.structs.replace(loaded.episode, video_fps=1, video_speed=10.0, camera_rate_hz=0.05)
    settings = msgspec.structs.replace(loaded, episode=quick)
    library = LDrawLibrary.find(None)
    path = models()[0]
    catalogue = PartCatalogue.for_model(path, library)
    limits = CellLimits.of(settings.cell, settings.robot.gripper.clearance(settings.skills.finger_slack_m))
    assembly = read_assembly(path, library=library)
    found = find_segments(
        assembly, catalogue, limits, load_default("tasks", TasksConfig), settings.cell.plate.studs
    )
    task = max(found.tasks(), key=lambda task: task.n_required)
    assert task.n_required >= 4
    manual = make_manual(task, settings.cell.plate, catalogue, load_default("manual", ManualConfig))
    result = run_episode(task, manual, Oracle(), 1, settings, catalogue, tmp_path)
    assert result.record.outcome == "finished"
    assert result.score.s_exact == 1.0
    assert result.score.score > 95
