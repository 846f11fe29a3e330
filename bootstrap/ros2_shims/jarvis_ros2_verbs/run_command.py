"""`ros2 run` that becomes the node instead of its parent: the runtime's own orphans it on SIGTERM."""

import argparse
import os
import shlex

from ros2pkg.api import PackageNotFound, get_executable_paths

from jarvis_ros2_verbs.usage import BadInputError, known, refuse, unknown_package


class RunCommand:
    """Run a package specific executable."""

    NAME = "run"

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        parser.add_argument(
            "--prefix", default="", help="command to run it under, for example 'gdb -ex run --args'"
        )
        parser.add_argument("package_name", help="name of the ROS package")
        parser.add_argument("executable_name", help="name of the executable")
        parser.add_argument("argv", nargs=argparse.REMAINDER, help="arguments for the executable")

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        try:
            path = find_executable(args.package_name, args.executable_name)
        except BadInputError as error:
            return refuse(error)
        command = [*shlex.split(args.prefix), path, *args.argv]
        return os.execvp(command[0], command)


def find_executable(package: str, name: str) -> str:
    """:raises BadInputError: for an unknown package or executable."""
    try:
        paths = get_executable_paths(package_name=package)
    except PackageNotFound as error:
        raise unknown_package(package) from error
    found = {os.path.basename(path): str(path) for path in paths}
    if name not in found:
        raise BadInputError(f"package {package!r} has no executable {name!r}; it has: {known(found)}")
    return found[name]
