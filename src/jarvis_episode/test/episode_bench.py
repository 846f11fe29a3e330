"""A small task and quick settings: two bricks of the shipped house, hardly any pictures."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_core.files import encode
from jarvis_core.manual import Manual, ManualPage
from jarvis_core.ports import Policy, PrivilegedTools, Tools
from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.runner import EpisodeResult, run_episode
from jarvis_episode.settings import Settings
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.segment import make_task
from jarvis_tasks.task import Task

#: Video, camera and state rates of a quick episode.
QUICK = {"video_fps": 1, "video_speed": 10.0, "camera_rate_hz": 0.05, "state_rate_hz": 10.0}


@cache
def catalogue() -> PartCatalogue:
    return PartCatalogue()


@cache
def house() -> Task:
    """Its first step: two bricks side by side on the plate."""
    path = Path(str(resources.files("jarvis_bricks"))) / "models" / "house.mpd"
    assembly = read_assembly(path, library=None)
    return make_task(place_on_plate(assembly, catalogue(), (32, 32)), 1, 1)


def manual() -> Manual:
    """Pages are of no interest here, but they are kept with the record."""
    return Manual((ManualPage(0, b"png 0"), ManualPage(1, b"png 1")), (), "x to the right")


def settings(**episode: Any) -> Settings:
    """The configured ones, but quick; ``episode`` changes values of config/episode.yaml."""
    loaded = Settings.load()
    return msgspec.structs.replace(
        loaded, episode=msgspec.structs.replace(loaded.episode, **(QUICK | episode))
    )


def play(policy: Policy, results: Path, seed: int = 0, **episode: Any) -> EpisodeResult:
    return run_episode(house(), manual(), policy, seed, settings(**episode), catalogue(), results)


class Scripted:
    """A policy made of a function."""

    def __init__(self, act: Any, *, privileged: bool = False) -> None:
        self.name = "scripted"
        self.privileged = privileged
        self._act = act

    def run(self, tools: Tools) -> None:
        self._act(tools)


def build(tools: PrivilegedTools) -> None:
    """Every brick to its target."""
    for target in tools.targets():
        assert tools.pick_and_place(target.object.id, target.object.pose).ok
    tools.home()


def initial_state(seed: int) -> bytes:
    """The encoded state before anything moved."""
    cell = EmbeddedCell.build(house(), settings(), catalogue(), seed)
    try:
        return encode(cell.world.state()) + cell.world.snapshot()
    finally:
        cell.close()


if __name__ == "__main__":  # a process of its own, to compare with
    print(hashlib.sha256(initial_state(int(sys.argv[1]))).hexdigest())
