"""Asking, before the ROS 2 runtime is fetched, whether the person accepts the licence of its wheel."""

import datetime
import json
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path

from bootstrap.paths import config_folder
from bootstrap.stamps import write_atomically

VARIABLE = "OMNI_KIT_ACCEPT_EULA"

EXPLANATION = """\
No ROS 2 Jazzy is installed here. The workspace can fetch one as a Python wheel (isaacsim-ros2; 128 MB to
download, 291 MB on disk, only under .jarvis/). The ROS 2 packages inside are Apache or BSD licensed; the
wheel itself is NVIDIA's, under the NVIDIA Omniverse licence agreement:
    https://docs.omniverse.nvidia.com/dev-guide/latest/common/NVIDIA_Omniverse_License_Agreement.html
Without it everything that runs in one process still works; ROS 2 nodes, topics and launch files do not.
"""
QUESTION = "Do you accept the NVIDIA Omniverse licence agreement, and want this ROS 2 runtime? [y/N] "


class Answer(Enum):
    """What the person said about the licence."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    NOT_ASKED = "not asked"


def answer(env: Mapping[str, str], accept_option: bool, ask: Callable[[], Answer]) -> Answer:
    """The person's answer: from --accept-eula, NVIDIA's own variable, an earlier answer, or by asking now.

    A yes, and an answer to the question, are kept in the person's configuration folder.
    """
    if accept_option:
        return _keep(env, Answer.ACCEPTED, "--accept-eula")
    said = env.get(VARIABLE, "").strip().lower()
    if said in ("yes", "y"):
        return _keep(env, Answer.ACCEPTED, f"{VARIABLE}={env[VARIABLE]}")
    if said:
        return Answer.DECLINED
    kept = kept_answer(env)
    if kept is not Answer.NOT_ASKED:
        return kept
    now = ask()
    return now if now is Answer.NOT_ASKED else _keep(env, now, "asked on a terminal")


def ask_on_terminal() -> Answer:
    """Put the question, where there is a person to answer it."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return Answer.NOT_ASKED
    print(EXPLANATION, file=sys.stderr)
    print(QUESTION, end="", file=sys.stderr, flush=True)
    return Answer.ACCEPTED if sys.stdin.readline().strip().lower() in ("y", "yes") else Answer.DECLINED


def do_not_ask() -> Answer:
    """For commands that only tell how things stand."""
    return Answer.NOT_ASKED


def record_path(env: Mapping[str, str]) -> Path:
    return config_folder(env) / "omniverse-licence.json"


def kept_answer(env: Mapping[str, str]) -> Answer:
    """An earlier answer; a file that cannot be read as one counts as never asked."""
    try:
        record = json.loads(record_path(env).read_text(encoding="utf-8"))
        return Answer(record["answer"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return Answer.NOT_ASKED


def _keep(env: Mapping[str, str], given: Answer, how: str) -> Answer:
    if kept_answer(env) is not given:
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        record = {
            "licence": "NVIDIA Omniverse",
            "for": "isaacsim-ros2",
            "answer": given.value,
            "how": how,
            "when": when,
        }
        write_atomically(record_path(env), json.dumps(record, indent=2) + "\n")
    return given
