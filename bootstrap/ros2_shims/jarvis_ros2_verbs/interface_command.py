"""`ros2 interface list` and `ros2 interface show`."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from rosidl_runtime_py import (
    get_action_interfaces,
    get_interface_path,
    get_message_interfaces,
    get_service_interfaces,
)

from jarvis_ros2_verbs.usage import BadInputError, refuse

LISTS = {"msg": get_message_interfaces, "srv": get_service_interfaces, "action": get_action_interfaces}
TITLES = {"msg": "Messages", "srv": "Services", "action": "Actions"}


class InterfaceCommand:
    """Show information about ROS interfaces."""

    NAME = "interface"

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="{list,show}")
        listing = verbs.add_parser("list", help="list all interfaces")
        listing.add_argument(
            "-m", "--only-msgs", action="append_const", const="msg", dest="kinds", help="messages"
        )
        listing.add_argument(
            "-s", "--only-srvs", action="append_const", const="srv", dest="kinds", help="services"
        )
        listing.add_argument(
            "-a", "--only-actions", action="append_const", const="action", dest="kinds", help="actions"
        )
        showing = verbs.add_parser("show", help="print the definition of one interface")
        showing.add_argument("type", help="for example geometry_msgs/msg/Pose")

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        try:
            lines = show(args.type) if args.verb == "show" else list_all(args.kinds or list(LISTS))
            print(*lines, sep="\n")
        except BadInputError as error:
            return refuse(error)
        return 0


def list_all(kinds: list[str]) -> Iterator[str]:
    """Every interface of the given kinds, under a title for each kind."""
    for kind in kinds:
        yield f"{TITLES[kind]}:"
        for package, names in sorted(LISTS[kind]().items()):
            yield from (f"    {package}/{name}" for name in sorted(names))


def show(interface: str) -> Iterator[str]:
    """The definition of `interface`, with the messages it is made of indented below each field.

    :raises BadInputError: when there is no such interface.
    """
    try:
        path = Path(get_interface_path(interface))
    except (LookupError, ValueError) as error:
        raise BadInputError(f"no interface {interface!r} ({error}); ros2 interface list shows all") from error
    yield from _expanded(path, package=interface.split("/")[0], indent="")


def _expanded(path: Path, package: str, indent: str) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield indent + line
        nested = message_in(line, package)
        if nested is not None:
            yield from _expanded(Path(get_interface_path(nested)), nested.split("/")[0], indent + "\t")


def message_in(line: str, package: str) -> str | None:
    """The full name of the message that a line of a definition in `package` has a field of, if any."""
    words = line.partition("#")[0].split()
    if len(words) < 2 or words[0] == "---" or "=" in words[1]:
        return None
    name = words[0].partition("[")[0].partition("<")[0]
    if not name.rpartition("/")[2][:1].isupper():
        return None
    owner, _, short = name.rpartition("/")
    return f"{owner.partition('/')[0] or package}/msg/{short}"
