"""Perception may use what a robot may know: no simulator, no targets, no scores, no episode."""

from __future__ import annotations

import ast
from pathlib import Path

import jarvis_perception

HIDDEN = {"jarvis_sim", "jarvis_tasks", "jarvis_scoring", "jarvis_episode", "jarvis_render"}


def test_perception_imports_nothing_that_knows_the_truth() -> None:
    files = sorted(Path(jarvis_perception.__file__).parent.rglob("*.py"))
    assert len(files) > 10
    found = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            found |= {(path.name, name) for name in names if name.split(".")[0] in HIDDEN}
    assert not found
