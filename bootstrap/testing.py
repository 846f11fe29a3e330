"""./jarvis test: the linters and every test, in the environment that everything runs in."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from bootstrap import workspace
from bootstrap.paths import Layout
from bootstrap.prepare import Ready
from bootstrap.steps import say

# Where each test run leaves the result of the linters for conftest.py to repeat at the end.
LINT_VARIABLE = "JARVIS_LINT_FAILED"


def run(layout: Layout, ready: Ready, arguments: Sequence[str]) -> int:
    """Run everything, or pytest alone with its arguments. The last line printed is pytest's summary."""
    failed = [] if arguments else run_linters(layout, ready)
    pytest = [str(layout.venv_python), "-m", "pytest", "--rootdir", str(layout.root)]
    pytest += ["-c", str(layout.root / "pyproject.toml")]
    pytest += arguments or ["-n", workers(), "--dist", "loadfile", "--durations=25", "--durations-min=5"]
    env = ready.env | {"HYPOTHESIS_STORAGE_DIRECTORY": str(layout.state / "hypothesis")}
    if failed:
        env[LINT_VARIABLE] = ", ".join(failed)
    status = run_and_forward_signals(pytest, env, cwd=None if arguments else layout.root)
    return status or int(bool(failed))


def workers() -> str:
    """Two at least, because many tests wait; four at most, because each imports the simulator."""
    return str(min(4, max(2, os.cpu_count() or 1)))


def lint_commands(layout: Layout) -> dict[str, list[str]]:
    """The linters by name. mypy checks the bootstrap and the packages' cores; ROS itself carries no types."""
    python = str(layout.venv_python)
    modules = [str(folder / folder.name) for folder in workspace.python_source_folders(layout)]
    modules += [str(path) for path in sorted(layout.ros2_shims.glob("*/*.py"))]
    return {
        "ruff check": [python, "-m", "ruff", "check", "."],
        "ruff format": [python, "-m", "ruff", "format", "--check", "."],
        "mypy --strict": [python, "-m", "mypy", "--strict", "bootstrap", *modules],
    }


def run_linters(layout: Layout, ready: Ready) -> list[str]:
    """Run each linter; returns the names of those that found something."""
    # ROS out of sight, as on a machine without it: mypy would look into an untyped rclpy.
    env = {name: value for name, value in ready.env.items() if name != "PYTHONPATH"}
    failed = []
    for name, command in lint_commands(layout).items():
        start = time.monotonic()
        result = subprocess.run(command, cwd=layout.root, env=env, capture_output=True, text=True)
        say(f"{name}: {'ok' if result.returncode == 0 else 'FAILED'} {time.monotonic() - start:.1f} s")
        if result.returncode != 0:
            print(result.stdout + result.stderr, flush=True)
            failed.append(name)
    return failed


def run_and_forward_signals(command: Sequence[str], env: dict[str, str], cwd: Path | None) -> int:
    """Run `command` to its end; what would end us is passed on to it, and its exit status is returned."""
    process = subprocess.Popen(command, env=env, cwd=cwd)

    def forward(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    # On a terminal Ctrl-C reaches the child by itself; here it must only not end us before it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, forward)
    status = process.wait()
    return status if status >= 0 else 128 - status
