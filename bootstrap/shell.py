"""./jarvis shell: bash with everything sourced."""

import shlex
from collections.abc import Mapping, Sequence

from bootstrap.environment import SEARCH_PATHS
from bootstrap.errors import SetupError
from bootstrap.paths import Layout
from bootstrap.stamps import write_atomically


def parse(arguments: Sequence[str]) -> str | None:
    """The command after -c, or None for an interactive shell.

    :raises SetupError: for anything else.
    """
    match list(arguments):
        case []:
            return None
        case ["-c", command]:
            return command
        case _:
            raise SetupError(
                "./jarvis shell takes nothing, or -c 'COMMAND'", "quote the command as one word", status=2
            )


def bash_command(layout: Layout, env: Mapping[str, str], command: str | None) -> list[str]:
    """The bash to run, for one command or for a person."""
    if command is not None:
        return ["bash", "--noprofile", "--norc", "-c", command]
    startup = layout.state / "shell.bash"
    write_atomically(startup, startup_file(env))
    return ["bash", "--rcfile", str(startup), "-i"]


def startup_file(env: Mapping[str, str]) -> str:
    """For the interactive shell: the person's ~/.bashrc, then our paths again, which it may have changed."""
    exports = [f"export {name}={shlex.quote(env[name])}" for name in SEARCH_PATHS if name in env]
    return "\n".join(
        [
            "[ -f ~/.bashrc ] && . ~/.bashrc",
            *exports,
            "hash -r",
            'eval "$(register-python-argcomplete ros2)"',
            'PS1="(jarvis) $PS1"',
            "",
        ]
    )
