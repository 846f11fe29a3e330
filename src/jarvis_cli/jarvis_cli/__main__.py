"""``python -m jarvis_cli``: reads the command line, runs one command, turns bad input into one line and status 2."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from jarvis_core.errors import JarvisError

from jarvis_cli import (
    agent,
    bench,
    bricks,
    calibrate,
    demo,
    export,
    isaac,
    label,
    manual,
    plan,
    recover,
    run,
    score,
    tables,
    tasks,
)
from jarvis_cli.parser import Parser

COMMANDS = (
    demo,
    bricks,
    tasks,
    manual,
    plan,
    run,
    recover,
    agent,
    bench,
    score,
    label,
    tables,
    export,
    isaac,
    calibrate,
)
DESCRIPTION = "Robots that assemble LEGO models from a visual manual: tasks, episodes, scores, pages."
EXAMPLES = """examples:
  jarvis demo
  jarvis tasks models
  jarvis tasks cut house --steps 2-4 --out tasks/
  jarvis tasks build models/ --leave-out --out dataset
  jarvis run tasks/house-s02-s04 --agent oracle --seed 3

Every command has --help of its own."""


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="jarvis",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show log messages and tracebacks")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    options = make_parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.INFO if options.verbose else logging.ERROR, format="%(name)s: %(message)s"
    )
    try:
        return int(options.run(options))
    except JarvisError as error:
        if options.verbose:
            raise
        return told(error.line())
    except BrokenPipeError:
        # Whoever read our output has enough of it. Python would complain once more when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if options.verbose:
            raise
        return told(f"{error.filename or 'the system says'}: {error.strerror or error}")
    except KeyboardInterrupt:
        print("interrupted; nothing half-written is left", file=sys.stderr)
        return 130


def told(line: str) -> int:
    """Tell a mistake in one line; returns the exit status."""
    print(f"error: {line}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
