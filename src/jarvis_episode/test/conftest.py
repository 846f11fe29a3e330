"""Makes ``episode_bench`` importable, and builds the small task once for all tests that look at its record."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from episode_bench import Scripted, build, play
from jarvis_episode.runner import EpisodeResult


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> EpisodeResult:
    return play(Scripted(build, privileged=True), tmp_path_factory.mktemp("built"))
