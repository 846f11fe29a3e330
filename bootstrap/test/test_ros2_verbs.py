"""The ros2 verbs that we add to the runtime from pip, run as a person would."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("JARVIS_ROS") != "pip",
    reason="only where ROS 2 comes by pip: elsewhere its own verbs are used",
)
LIMIT_S = 60.0
SERVER = Path(__file__).with_name("fibonacci_server.py")
FIBONACCI = "example_interfaces/action/Fibonacci"
LAUNCH_FILE = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration

def generate_launch_description():
    sleeper = ["import os, sys, time; print('pid', os.getpid(), flush=True); time.sleep(float(sys.argv[1]))"]
    seconds = DeclareLaunchArgument("seconds", default_value="60", description="how long to sleep")
    command = [PYTHON, "-c", *sleeper, LaunchConfiguration("seconds")]
    return LaunchDescription([seconds, ExecuteProcess(cmd=command, output="screen")])
"""


def ros2(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ros2", *words], capture_output=True, text=True, timeout=LIMIT_S)


@pytest.fixture
def launch_file(tmp_path: Path) -> str:
    path = tmp_path / "sleep.launch.py"
    path.write_text(f"PYTHON = {sys.executable!r}\n{LAUNCH_FILE}")
    return str(path)


@pytest.fixture(scope="module")
def _server() -> Iterator[None]:
    with subprocess.Popen([sys.executable, SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
        process.terminate()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["launch", "jarvis_bringupp", "x.launch.py"], "did you mean jarvis_bringup"),
        (["launch", "jarvis_bringup", "nonsense.launch.py"], "it has: "),
        (["launch", "./nonsense.launch.py"], "no launch file"),
        (["run", "jarvis_nonsense", "x"], "no package 'jarvis_nonsense'"),
        (["run", "jarvis_core", "nonsense"], "has no executable 'nonsense'"),
        (["interface", "show", "jarvis_interfaces/msg/Nonsense"], "ros2 interface list shows all"),
        (["action", "info", "/nonsense", "--no-daemon"], "no action '/nonsense'"),
        (["action", "send_goal", "/fib", "a/action/B"], "no action type 'a/action/B'"),
        (["action", "send_goal", "/fib", FIBONACCI, "{length: 3}"], "its fields are: order"),
        (["action", "send_goal", "/fib", FIBONACCI, "{order: many}"], "its fields are: order"),
        (["action", "send_goal", "/nonsense", FIBONACCI, "--timeout", "0.5"], "nobody serves '/nonsense'"),
    ],
)
def test_unknown_names_are_status_2_and_one_line(words: list[str], said: str) -> None:
    result = ros2(*words)
    assert result.returncode == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_launch_passes_arguments_and_ends_with_its_processes(launch_file: str) -> None:
    result = ros2("launch", launch_file, "seconds:=0")
    assert result.returncode == 0
    assert "finished cleanly" in result.stdout + result.stderr


def test_launch_shows_arguments(launch_file: str) -> None:
    shown = ros2("launch", "--show-args", launch_file).stdout
    assert "seconds: how long to sleep" in shown
    assert "60" in shown


def test_a_launch_argument_of_another_form_is_refused(launch_file: str) -> None:
    assert ros2("launch", launch_file, "seconds=1").returncode == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background job"])
def test_launch_leaves_nothing_behind(launch_file: str, number: signal.Signals, background: bool) -> None:
    """Also as a shell's background job, which starts with SIGINT ignored."""
    command = ["ros2", "launch", launch_file]
    if background:
        command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as launch:
        assert launch.stdout is not None
        sleeper = next(int(line.split("pid ")[-1]) for line in launch.stdout if "] pid " in line)
        launch.send_signal(number)
        launch.communicate(timeout=LIMIT_S)
    with pytest.raises(ProcessLookupError):
        os.kill(sleeper, 0)


@pytest.mark.usefixtures("_server")
def test_a_goal_that_succeeds_shows_feedback_and_result() -> None:
    result = ros2("action", "send_goal", "/fib", FIBONACCI, "{order: 3}", "--feedback")
    assert result.returncode == 0
    assert result.stdout.count("Feedback:") == 3
    assert "Goal finished with status: SUCCEEDED" in result.stdout


@pytest.mark.usefixtures("_server")
def test_a_goal_that_fails_is_not_status_0() -> None:
    result = ros2("action", "send_goal", "/fib", FIBONACCI, "{order: -1}")
    assert result.returncode == 1
    assert "Goal finished with status: ABORTED" in result.stdout


@pytest.mark.usefixtures("_server")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_goal_is_cancelled(number: signal.Signals) -> None:
    command = ["ros2", "action", "send_goal", "/fib", FIBONACCI, "{order: 1000}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        assert any("Goal accepted" in line for line in client.stdout)
        client.send_signal(number)
        rest, _ = client.communicate(timeout=LIMIT_S)
    assert "Goal finished with status: CANCELED" in rest
    assert client.returncode == 128 + number


@pytest.mark.usefixtures("_server")
def test_actions_are_listed_with_their_servers() -> None:
    deadline = time.monotonic() + LIMIT_S
    while "/fib" not in ros2("action", "list", "--no-daemon").stdout and time.monotonic() < deadline:
        time.sleep(0.1)
    shown = ros2("action", "info", "/fib", "--show-types", "--no-daemon").stdout
    assert f"/fibonacci_server [{FIBONACCI}]" in shown


def test_interfaces_are_shown_with_what_they_are_made_of() -> None:
    shown = ros2("interface", "show", "geometry_msgs/msg/PoseStamped").stdout
    assert "std_msgs/Header header\n" in shown
    assert "\n\t\tfloat64 x" in shown
    assert f"    {FIBONACCI}\n" in ros2("interface", "list", "--only-actions").stdout


def test_our_run_is_the_node_itself() -> None:
    """The entry point of the same name in the runtime would be its parent, and orphan it."""
    code = "from ros2cli.entry_points import get_entry_points as g; print(g('ros2cli.command')['run'].value)"
    shims = Path(__file__).parents[1] / "ros2_shims"
    program = f"import sys; sys.path.append({str(shims)!r}); {code}"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "jarvis_ros2_verbs.run_command:RunCommand"
