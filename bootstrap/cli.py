"""The ./jarvis command line: the bootstrap's own commands here, every other one handed on to jarvis_cli."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from bootstrap import doctor, eula, python, shell, testing
from bootstrap.errors import SetupError
from bootstrap.paths import Layout
from bootstrap.prepare import Options, Ready, choose_ros, prepare, set_up_again, stands
from bootstrap.steps import say

HELP = """\
usage: ./jarvis [--no-ros] [--accept-eula] COMMAND [arguments]

The first start of any command sets everything up (two to four minutes, mostly downloads); later ones start at once.

commands of the workspace:
  demo          run the demonstration: a build, planned, executed in simulation and scored
  test          run all checks and tests; arguments go to pytest and leave the linters out
  doctor        say what can run on this machine, and what to install for the rest
  shell         a shell with ROS 2 and the workspace sourced (-c COMMAND runs one command)
  setup         set up, or repair, without running anything

options, before or after the command:
  --no-ros       do not use ROS 2, even where there is one; everything that runs in one process works
  --accept-eula  accept the NVIDIA Omniverse licence of the wheel that brings ROS 2 where none is installed
  -h, --help     this text

examples:
  ./jarvis demo
  ./jarvis test -k grasp
  ./jarvis shell -c 'ros2 topic list'
"""

OWN_HELP = {
    "setup": """\
usage: ./jarvis [--no-ros] [--accept-eula] setup

Sets up what a fresh clone needs, or repairs it, below .jarvis/: Python packages, ROS 2, the workspace's build.
""",
    "doctor": """\
usage: ./jarvis doctor

Says what can run on this machine (ROS 2, rendering, motion backends, GPU ...), and what to install for the rest.
""",
    "shell": """\
usage: ./jarvis shell [-c 'COMMAND']

A shell with ROS 2 and the workspace sourced; with -c, one command in it.

examples:
  ./jarvis shell
  ./jarvis shell -c 'ros2 launch jarvis_bringup cell.launch.py'
""",
}


def main(arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit status (unless another program takes our place)."""
    signal.signal(signal.SIGTERM, _exit_on_sigterm)
    layout = Layout(Path(__file__).resolve().parent.parent)
    options, rest = split_options(arguments)
    try:
        return _dispatch(layout, options, rest)
    except SetupError as error:
        say(f"error: {error}")
        return error.status
    except KeyboardInterrupt:
        say("interrupted; the next start goes on from here")
        return 130


def _exit_on_sigterm(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(143)


def split_options(arguments: Sequence[str]) -> tuple[Options, list[str]]:
    """Take the bootstrap's two options out, wherever they stand before a `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    own = [word for word in arguments[:end] if word in ("--no-ros", "--accept-eula")]
    rest = [word for word in arguments[:end] if word not in own] + list(arguments[end:])
    return Options(no_ros="--no-ros" in own, accept_eula="--accept-eula" in own), rest


def _dispatch(layout: Layout, options: Options, rest: Sequence[str]) -> int:
    if not rest or rest[0] in ("-h", "--help", "help"):
        return _help(layout, options)
    command, arguments = rest[0], rest[1:]
    own: Mapping[str, Callable[[Layout, Options, Sequence[str]], int]] = {
        "setup": _setup,
        "doctor": _doctor,
        "shell": _shell,
        "test": _test,
    }
    if command in OWN_HELP and arguments and arguments[0] in ("-h", "--help"):
        print(OWN_HELP[command], end="")
        return 0
    if command in own:
        return own[command](layout, options, arguments)
    if command.startswith("-"):
        raise SetupError(f"unknown option {command}", "./jarvis --help lists options and commands", status=2)
    ready = prepare(layout, os.environ, options)
    return replace_process([str(layout.venv_python), "-m", "jarvis_cli", command, *arguments], ready)


def replace_process(command: Sequence[str], ready: Ready) -> NoReturn:
    """Become `command`, so that signals and the exit status are its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(command[0], list(command), ready.env)


def _setup(layout: Layout, options: Options, arguments: Sequence[str]) -> int:
    _no_arguments("setup", arguments)
    ready = set_up_again(layout, os.environ, options)
    say(f"ready (ROS 2: {ready.choice.way.value}). Next: ./jarvis demo, ./jarvis test, ./jarvis shell")
    return 0


def _doctor(layout: Layout, options: Options, arguments: Sequence[str]) -> int:
    _no_arguments("doctor", arguments)
    return doctor.report(layout, os.environ, options)


def _shell(layout: Layout, options: Options, arguments: Sequence[str]) -> int:
    command = shell.parse(arguments)
    ready = prepare(layout, os.environ, options)
    return replace_process(shell.bash_command(layout, ready.env, command), ready)


def _test(layout: Layout, options: Options, arguments: Sequence[str]) -> int:
    return testing.run(layout, prepare(layout, os.environ, options), arguments)


def _no_arguments(command: str, arguments: Sequence[str]) -> None:
    if arguments:
        raise SetupError(
            f"./jarvis {command} takes no argument {arguments[0]!r}", "./jarvis --help", status=2
        )


def _help(layout: Layout, options: Options) -> int:
    """Our own help, and jarvis_cli's where everything stands; sets nothing up and asks nothing."""
    print(HELP)
    base = python.base_python()
    if stands(layout, base, choose_ros(layout, os.environ, options, eula.do_not_ask)):
        ready = prepare(layout, os.environ, options)
        print("further commands:\n", flush=True)
        return subprocess.run([layout.venv_python, "-m", "jarvis_cli", "--help"], env=ready.env).returncode
    print("Further commands are listed here once ./jarvis setup has run.")
    return 0
