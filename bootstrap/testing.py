"""./jarvis test: the linters and every test, in the environment that everything runs in."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from bootstrap import workspace
from bootstrap.paths import Layout
from bootstrap.prepare import Ready
from bootstrap.steps import say


def run(layout: Layout, ready: Ready, arguments: Sequence[str]) -> int:
    """Run everything, or pytest alone with its arguments. What the linters found is printed below pytest's summary."""
    pytest = [str(layout.venv_python), "-m", "pytest", "--rootdir", str(layout.root)]
    pytest += ["-c", str(layout.root / "pyproject.toml")]
    pytest += arguments or ["-n", workers(), "--dist", "loadfile", "--durations=25", "--durations-min=5"]
    env = ready.env | {"HYPOTHESIS_STORAGE_DIRECTORY": str(layout.state / "hypothesis")}
    if arguments:
        return run_and_forward_signals(pytest, env, cwd=None)
    with linters_beside(layout, ready) as failed:
        status = run_and_forward_signals(pytest, env, cwd=layout.root)
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


@contextlib.contextmanager
def linters_beside(layout: Layout, ready: Ready) -> Iterator[list[str]]:
    """Linters while something else runs, which waits for things at times and leaves them the time.

    What is yielded holds, after the end, the names of those that found something.
    """
    # ROS out of sight, as on a machine without it: mypy would look into an untyped rclpy.
    env = {name: value for name, value in ready.env.items() if name != "PYTHONPATH"}
    failed: list[str] = []
    with contextlib.ExitStack() as stack:
        started = {}
        for name, command in lint_commands(layout).items():
            output = stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            process = subprocess.Popen(
                ["nice", *command], cwd=layout.root, env=env, stdout=output, stderr=subprocess.STDOUT
            )
            stack.enter_context(process)  # waits, after
            stack.callback(process.kill)
            started[name] = (process, output)
        yield failed
        for name, (process, output) in started.items():
            status = process.wait()
            say(f"{name}: {'ok' if status == 0 else 'FAILED'}")
            if status != 0:
                output.seek(0)
                print(output.read(), flush=True)
                failed.append(name)


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
