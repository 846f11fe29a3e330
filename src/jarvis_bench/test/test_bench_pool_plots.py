"""The picture of a pool: drawn for any pool."""

from pathlib import Path

import pytest
from jarvis_bench.pool_plots import draw_pool
from jarvis_core.config import load_default
from jarvis_tasks.config import TasksConfig
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.statistics import load_published, pool_statistics
from PIL import Image


def rows(pairs: list[tuple[int, int]]) -> list[TaskRow]:
    return [
        TaskRow(f"t{i}", "m", "", "", "", "test", 1, 1, scene, act, 2, 0, "")
        for i, (scene, act) in enumerate(pairs)
    ]


@pytest.mark.parametrize("pairs", [[(5, 2)] * 4, [(0, 1), (740, 43), (30, 4), (31, 4)]])
def test_any_pool_can_be_drawn(pairs: list[tuple[int, int]], tmp_path: Path) -> None:
    pool = rows(pairs)
    found = pool_statistics(pool, load_default("tasks", TasksConfig).bins)
    draw_pool(pool, found, load_published(), "toys", tmp_path / "pool.png")
    assert [path.name for path in tmp_path.iterdir()] == ["pool.png"]
    with Image.open(tmp_path / "pool.png") as image:
        assert image.width > 1000
        assert len(image.getcolors(1 << 24) or ()) > 100
