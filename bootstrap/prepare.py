"""From a fresh clone to an environment that everything runs in; quick where nothing has changed."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bootstrap import eula, python, ros_pip, rosidl_env, system_libs, workspace
from bootstrap.environment import runtime_environment, without_ours
from bootstrap.paths import Layout
from bootstrap.python import BasePython
from bootstrap.ros_choice import RosChoice, RosWay, choose
from bootstrap.stamps import Stamp
from bootstrap.steps import one_set_up_at_a_time, say


@dataclass(frozen=True)
class Options:
    """What the person asked of the bootstrap itself."""

    no_ros: bool = False
    accept_eula: bool = False


@dataclass(frozen=True)
class Ready:
    """A workspace that stands: the ROS 2 it uses, and the environment to run in."""

    choice: RosChoice
    env: dict[str, str]


def prepare(layout: Layout, env: Mapping[str, str], options: Options) -> Ready:
    """Do whatever is missing, in order, and return the environment to run in.

    :raises SetupError: when a step cannot go on.
    """
    base = python.base_python()
    choice = choose_ros(layout, env, options, eula.ask_on_terminal)
    if not stands(layout, base, choice):
        with one_set_up_at_a_time(layout):
            _set_up(layout, base, choice, env)
    if not choice.has_ros and not options.no_ros:
        say(f"running without ROS 2 (no nodes, topics or launch files): {choice.reason}")
    folders = workspace.python_source_folders(layout)
    return Ready(choice, runtime_environment(layout, choice, base, folders, env))


def choose_ros(
    layout: Layout, env: Mapping[str, str], options: Options, ask: Callable[[], eula.Answer]
) -> RosChoice:
    """Which ROS 2 to use; `ask` puts the licence question to the person, where it comes to that."""
    licence = functools.partial(eula.answer, env, options.accept_eula, ask)
    return choose(layout, without_ours(env), no_ros=options.no_ros, licence=licence)


def stands(layout: Layout, base: BasePython, choice: RosChoice) -> bool:
    """Whether nothing is left to set up."""
    if not python.stands(layout, base) or not workspace.is_built(layout, choice):
        return False
    return choice.way is not RosWay.PIP or (ros_pip.stands(layout) and rosidl_env.stands(layout, base))


def _set_up(layout: Layout, base: BasePython, choice: RosChoice, env: Mapping[str, str]) -> None:
    """Every step looks for itself whether it has something to do, so that an interrupted set-up goes on."""
    system_libs.ensure_system_libs(layout, base, builds_messages=choice.has_ros)
    python.ensure_venv(layout, base)
    if choice.way is RosWay.PIP:
        ros_pip.ensure_tree(layout, base)
        rosidl_env.ensure_generators(layout, base)
    workspace.ensure_built(layout, choice, env)


def set_up_again(layout: Layout, env: Mapping[str, str], options: Options) -> Ready:
    """What ./jarvis setup does: as every start, but the system libraries are looked at again."""
    with one_set_up_at_a_time(layout):
        Stamp(layout, "system").clear()
        base = python.base_python()
        _set_up(layout, base, choose_ros(layout, env, options, eula.ask_on_terminal), env)
    return prepare(layout, env, options)
