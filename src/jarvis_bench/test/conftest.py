"""Makes ``episode_factory`` of jarvis_scoring's tests importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "jarvis_scoring" / "test"))
