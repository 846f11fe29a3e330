"""`ros2 action list`, `ros2 action info` and `ros2 action send_goal`."""

import argparse
import sys

from ros2cli.node.strategy import NodeStrategy
from ros2cli.node.strategy import add_arguments as add_strategy_arguments

from jarvis_ros2_verbs.send_goal import send_goal
from jarvis_ros2_verbs.usage import BadInputError, known, refuse


class ActionCommand:
    """Various action related sub-commands."""

    NAME = "action"

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="{list,info,send_goal}")
        listing = verbs.add_parser("list", help="list the names of the actions there are")
        listing.add_argument(
            "-t", "--show-types", action="store_true", help="show the actions' types as well"
        )
        info = verbs.add_parser("info", help="show who serves an action and who calls it")
        info.add_argument("-t", "--show-types", action="store_true", help="show the action's type as well")
        info.add_argument("action_name", help="for example /skills/pick")
        for verb in (listing, info):
            add_strategy_arguments(verb)
        sending = verbs.add_parser("send_goal", help="send a goal and wait for its result")
        sending.add_argument("action_name", help="for example /skills/home")
        sending.add_argument("action_type", help="for example jarvis_interfaces/action/Home")
        sending.add_argument(
            "goal", nargs="?", default="{}", help="the goal as YAML (default: every field its default)"
        )
        sending.add_argument("--stdin", action="store_true", help="read the goal from standard input")
        sending.add_argument("-f", "--feedback", action="store_true", help="print the feedback as well")
        sending.add_argument(
            "--timeout",
            type=float,
            default=10.0,
            help="seconds to wait for the action's server (default: 10)",
        )

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        try:
            if args.verb == "send_goal":
                goal = sys.stdin.read() if args.stdin else args.goal
                return send_goal(args.action_name, args.action_type, goal, args.feedback, args.timeout)
            with NodeStrategy(args) as node:
                if args.verb == "list":
                    list_actions(node, args.show_types)
                else:
                    show_action(node, args.action_name, args.show_types)
        except BadInputError as error:
            return refuse(error)
        return 0


def list_actions(node: NodeStrategy, show_types: bool) -> None:
    for name, types in sorted(node.get_action_names_and_types()):
        print(f"{name} [{', '.join(types)}]" if show_types else name)


def show_action(node: NodeStrategy, action: str, show_types: bool) -> None:
    """:raises BadInputError: when nobody serves or calls the action."""
    known_actions = {name for name, _ in node.get_action_names_and_types()}
    if action not in known_actions:
        raise BadInputError(f"no action {action!r}; there are: {known(known_actions)}")
    print(f"Action: {action}")
    for title, ask in (
        ("Action clients", node.get_action_client_names_and_types_by_node),
        ("Action servers", node.get_action_server_names_and_types_by_node),
    ):
        lines = []
        for name, namespace in node.get_node_names_and_namespaces():
            types = dict(ask(name, namespace)).get(action)
            if types is not None:
                full_name = f"{namespace.rstrip('/')}/{name}"
                lines.append(f"    {full_name} [{', '.join(types)}]" if show_types else f"    {full_name}")
        print(f"{title}: {len(lines)}", *sorted(lines), sep="\n")
