"""Real LDraw data where the environment names some; tests that need it skip without."""

import os
from pathlib import Path

import pytest
from jarvis_bricks.build_check import FingerClearance
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary


@pytest.fixture(scope="session")
def library() -> LDrawLibrary:
    if not os.environ.get("LDRAWDIR"):
        pytest.skip("LDRAWDIR names no LDraw library")
    return LDrawLibrary(Path(os.environ["LDRAWDIR"]))


@pytest.fixture(scope="session")
def library_catalogue(library: LDrawLibrary) -> PartCatalogue:
    return PartCatalogue(library)


@pytest.fixture(scope="session")
def models() -> list[Path]:
    if not os.environ.get("LDRAW_MODELS"):
        pytest.skip("LDRAW_MODELS names no folder of models")
    found = sorted(Path(os.environ["LDRAW_MODELS"]).glob("*.mpd"))
    assert found, "LDRAW_MODELS names a folder without .mpd files"
    return found


@pytest.fixture(scope="session")
def catalogue() -> PartCatalogue:
    """Built-in parts only."""
    return PartCatalogue()


@pytest.fixture(scope="session")
def fingers() -> FingerClearance:
    """The stock fingers of a Franka Hand."""
    return FingerClearance(
        max_width_m=0.08,
        thickness_m=0.015,
        width_m=0.018,
        length_m=0.0463,
        pad_below_tcp_m=0.0089,
        hand_size_m=(0.0634, 0.208),
    )
