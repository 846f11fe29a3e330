"""The cell of ``skill_bench``, built once and put back to its start before every test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from skill_bench import Bench, make_bench


@pytest.fixture(scope="session")
def one_bench() -> Iterator[Bench]:
    bench = make_bench()
    yield bench
    bench.backend.close()
    bench.world.close()


@pytest.fixture
def bench(one_bench: Bench) -> Bench:
    one_bench.reset()
    return one_bench
