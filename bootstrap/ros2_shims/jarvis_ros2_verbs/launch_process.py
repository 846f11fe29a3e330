"""The process behind `ros2 launch`, started by launch_command.py: the launch system with one launch file."""

import argparse
import signal
import sys

from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource


def main() -> int:
    # A shell starts background jobs with SIGINT ignored; we and our nodes are stopped by it, so we undo that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser()
    parser.add_argument("--show_args", action="store_true")
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("--noninteractive", action="store_true")
    parser.add_argument("path")
    parser.add_argument("arguments", nargs="*")
    args = parser.parse_args()
    source = AnyLaunchDescriptionSource(args.path)
    service = LaunchService(argv=args.arguments, noninteractive=args.noninteractive, debug=args.debug)
    if args.show_args:
        show_arguments(source.get_launch_description(service.context))
        return 0
    pairs = [tuple(word.split(":=", 1)) for word in args.arguments]
    included = IncludeLaunchDescription(source, launch_arguments=pairs)
    service.include_launch_description(LaunchDescription([included]))
    return int(service.run())


def show_arguments(description: LaunchDescription) -> None:
    """Print each argument that the launch file declares, with its description, choices and default."""
    declared = description.get_launch_arguments()
    if not declared:
        print("This launch file takes no arguments.")
    for argument in declared:
        default = (
            "".join(part.describe() for part in argument.default_value) if argument.default_value else "none"
        )
        choices = f" (one of: {', '.join(argument.choices)})" if argument.choices else ""
        print(f"{argument.name}: {argument.description}{choices}\n    default: {default}")


if __name__ == "__main__":
    sys.exit(main())
