"""A small clone of a workspace in a temporary folder, and the Python that runs the tests."""

from pathlib import Path

import pytest

from bootstrap.paths import Layout
from bootstrap.python import BasePython


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A clone with one Python package, interfaces, and top-level folders; nothing set up."""
    root = tmp_path / "clone"
    files = {
        "colcon.meta": "{}",
        "requirements/test.txt": "numpy==1\n",
        "requirements/rosidl.txt": "empy==3\n",
        "launch/a.launch.py": "",
        "src/alpha/package.xml": "<package/>",
        "src/alpha/setup.py": "setup()",
        "src/alpha/alpha/__init__.py": "",
        "src/alpha/test/test_a.py": "",
        "src/jarvis_bringup/package.xml": "<package/>",
        "src/words/package.xml": "<package/>",
        "src/words/CMakeLists.txt": "project(words)",
        "src/words/msg/Word.msg": "string text",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Layout(root)


@pytest.fixture
def base(tmp_path: Path) -> BasePython:
    return BasePython(Path("/usr/bin/python3.12"), tmp_path / "include", (tmp_path / "lib",))
