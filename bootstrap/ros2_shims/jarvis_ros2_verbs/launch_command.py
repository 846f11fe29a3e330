"""`ros2 launch`: find a launch file, run it in a process of its own, and never leave its nodes behind."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from ament_index_python import PackageNotFoundError, get_package_share_directory

from jarvis_ros2_verbs.usage import BadInputError, known, refuse, unknown_package

LAUNCH_SUFFIXES = (".launch.py", ".launch.xml", ".launch.yaml", ".launch.yml")
SERVICE = Path(__file__).with_name("launch_process.py")


class LaunchCommand:
    """Run a launch file."""

    NAME = "launch"

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        parser.add_argument(
            "-s", "--show-args", action="store_true", help="show the launch file's arguments and stop"
        )
        parser.add_argument("-d", "--debug", action="store_true", help="let the launch system log everything")
        parser.add_argument("-n", "--noninteractive", action="store_true", help="there is no terminal")
        parser.add_argument(
            "target", metavar="package_name_or_file", help="a ROS package, or the path of a launch file"
        )
        parser.add_argument(
            "words",
            nargs="*",
            metavar="[launch_file] name:=value",
            help="the package's launch file; its arguments",
        )

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        try:
            path, launch_arguments = find_launch_file(args.target, args.words)
            check_arguments(launch_arguments)
        except BadInputError as error:
            return refuse(error)
        options = [f"--{name}" for name in ("show_args", "debug", "noninteractive") if getattr(args, name)]
        return supervise([sys.executable, "-P", str(SERVICE), *options, "--", str(path), *launch_arguments])


def find_launch_file(target: str, words: Sequence[str]) -> tuple[Path, list[str]]:
    """The launch file meant by `target` and `words`, and the words left over.

    :raises BadInputError: when there is none, or more than one.
    """
    if not words or ":=" in words[0] or os.sep in target:
        if not Path(target).is_file():
            raise BadInputError(
                f"no launch file {target!r}; to take it from a package: ros2 launch PACKAGE FILE"
            )
        return Path(target), list(words)
    try:
        share = Path(get_package_share_directory(target))
    except (PackageNotFoundError, ValueError) as error:
        raise unknown_package(target) from error
    found = [Path(folder) / name for folder, _, names in os.walk(share) for name in names if name == words[0]]
    if not found:
        raise BadInputError(
            f"package {target!r} has no launch file {words[0]!r}; it has: {known(launch_files(share))}"
        )
    if len(found) > 1:
        raise BadInputError(
            f"package {target!r} has several {words[0]!r}: {known(map(str, found))}; give one's path"
        )
    return found[0], list(words[1:])


def launch_files(share: Path) -> list[str]:
    """The names of the launch files below a package's share folder."""
    return [name for _, _, names in os.walk(share) for name in names if name.endswith(LAUNCH_SUFFIXES)]


def check_arguments(words: Sequence[str]) -> None:
    """:raises BadInputError: for the first word that is not name:=value."""
    for word in words:
        name, separator, _ = word.partition(":=")
        if not (name and separator):
            raise BadInputError(f"launch argument {word!r} is not of the form name:=value")


def supervise(command: Sequence[str]) -> int:
    """Run the launch process to its end. Whatever asks us to end, asks it and its nodes as Ctrl-C would.

    The launch system stops its nodes on SIGINT only, and then counts on the terminal having sent it to them as
    well; on SIGTERM it leaves them running. So all of them are a process group, which gets SIGINT from here.
    """
    process = subprocess.Popen(command, process_group=0)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        os.killpg(process.pid, signal.SIGINT)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    status = process.wait()
    return status if status >= 0 else 128 - status
