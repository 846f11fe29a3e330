"""One rendered picture for all tests that only read it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.observation import CameraFrame
from jarvis_core.seen import SeenScene
from jarvis_render.gl import working_backend
from jarvis_sim.robot import SimCamera
from jarvis_sim.world import SimWorld

sys.path.insert(0, str(Path(__file__).parent))

from perception_bench import make_world, part_list, perception


@pytest.fixture(scope="session", autouse=True)
def pictures() -> None:
    """Skips everything here on a machine that can't render."""
    try:
        working_backend()
    except MissingCapabilityError as error:
        pytest.skip(error.line())


@pytest.fixture(scope="session")
def seen_world() -> Iterator[SimWorld]:
    """Read only: tests that move bricks make a world of their own."""
    world = make_world()
    yield world
    world.close()


@pytest.fixture(scope="session")
def frame(seen_world: SimWorld) -> CameraFrame:
    return SimCamera(seen_world).capture()


@pytest.fixture(scope="session")
def seen(frame: CameraFrame) -> SeenScene:
    return perception().perceive(frame, parts=part_list())
