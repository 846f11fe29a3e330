"""Reading the command line: examples in every help, one line for every mistake."""

from __future__ import annotations

import argparse
import textwrap
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong, and where the help is; subcommands get one of the same kind."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {' '.join(message.split())} - see {self.prog} --help\n")


type Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_command(commands: Commands, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    """A subcommand whose help shows examples, one a line, as they are written."""
    return commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="examples:\n" + textwrap.indent(examples.strip("\n"), "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not a number from 1")
    return number
