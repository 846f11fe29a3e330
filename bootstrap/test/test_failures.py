"""Every failure names what went wrong and the fix, and bad input is exit status 2."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bootstrap import cli, python, ros_pip, rosidl_env, shell, steps, system_libs, workspace
from bootstrap.errors import SetupError
from bootstrap.paths import Layout
from bootstrap.python import BasePython
from bootstrap.ros_choice import RosChoice, RosWay
from bootstrap.system_libs import Need

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def _failing_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that set-up would run fails with a word on its output."""
    real = steps.run_logged
    failing = [sys.executable, "-c", "import sys; print('the reason'); sys.exit(3)"]

    def fail(_command: object, log: Path, *, what: str, fix: str, **_: object) -> None:
        real(failing, log, what=what, fix=fix)

    for module in (python, ros_pip, workspace):
        monkeypatch.setattr(module, "run_logged", fail)


@pytest.mark.usefixtures("_failing_commands")
@pytest.mark.parametrize(
    ("step", "fix"),
    [
        (lambda layout, base: python.ensure_venv(layout, base), "python3.12-venv"),
        (lambda layout, base: ros_pip.ensure_tree(layout, base), "--no-ros"),
        (lambda layout, base: rosidl_env.ensure_generators(layout, base), "python3.12-venv"),
        (
            lambda layout, base: workspace.ensure_built(layout, RosChoice(RosWay.PIP, ""), {"PATH": "/bin"}),
            "mend the package",
        ),
    ],
    ids=["venv", "runtime", "generators", "colcon"],
)
def test_a_failing_step_shows_its_output_its_log_and_the_fix(
    layout: Layout, base: BasePython, capfd: pytest.CaptureFixture[str], step: object, fix: str
) -> None:
    assert callable(step)
    with pytest.raises(SetupError) as caught:
        step(layout, base)
    assert fix in caught.value.fix
    assert str(layout.log) in caught.value.what
    assert "the reason" in capfd.readouterr().err


def test_of_commands_side_by_side_the_one_that_fails_is_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each waits for the other's word: one after the other they would never end."""
    script = f"cd {tmp_path}; touch $0; until [ -e $1 ]; do sleep 0.02; done; echo $0 says $2; exit $3"
    good, bad = tmp_path / "good.log", tmp_path / "bad.log"
    commands: dict[Path, list[str | Path]] = {
        good: ["sh", "-c", script, "a", "b", "nothing", "0"],
        bad: ["sh", "-c", script, "b", "a", "ouch", "3"],
    }
    with pytest.raises(SetupError, match="two things") as caught:
        steps.run_logged_together(commands, what="could not do two things", fix="do one")
    assert f"exit status 3; whole log: {bad}" in caught.value.what
    shown = capfd.readouterr().err
    assert "b says ouch" in shown
    assert "a says" not in shown
    assert "a says nothing" in good.read_text()


def missing(required: bool) -> Need:
    return Need("libfoo", lambda: False, "libfoo1", "foo things", required)


def test_a_missing_required_library_stops_with_the_command_to_run(
    layout: Layout, base: BasePython, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_libs, "needs", lambda *_, **__: [missing(required=True)])
    monkeypatch.setattr(system_libs, "_apt_get", lambda: None)
    with pytest.raises(SetupError, match=r"libfoo \(for foo things\)") as caught:
        system_libs.ensure_system_libs(layout, base, builds_messages=False)
    assert caught.value.fix == "sudo apt-get install libfoo1"
    assert caught.value.status == 2


def test_a_missing_optional_library_is_said_once_and_not_again(
    layout: Layout, base: BasePython, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system_libs, "needs", lambda *_, **__: [missing(required=False)])
    monkeypatch.setattr(system_libs, "_apt_get", lambda: None)
    system_libs.ensure_system_libs(layout, base, builds_messages=False)
    assert "sudo apt-get install libfoo1" in capfd.readouterr().err
    system_libs.ensure_system_libs(layout, base, builds_messages=False)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("arguments", [["-x"], ["-c"], ["-c", "a", "b"], ["ls"]])
def test_shell_takes_only_a_command(arguments: list[str]) -> None:
    with pytest.raises(SetupError) as caught:
        shell.parse(arguments)
    assert caught.value.status == 2


@pytest.mark.parametrize(
    ("words", "no_ros", "accept", "rest"),
    [
        (["--no-ros", "demo", "-v"], True, False, ["demo", "-v"]),
        (["demo", "--accept-eula", "--no-ros"], True, True, ["demo"]),
        (["demo", "--", "--no-ros"], False, False, ["demo", "--", "--no-ros"]),
    ],
)
def test_own_options_are_taken_out_wherever_they_stand(
    words: list[str], no_ros: bool, accept: bool, rest: list[str]
) -> None:
    options, left = cli.split_options(words)
    assert (options.no_ros, options.accept_eula, left) == (no_ros, accept, rest)


def jarvis(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "JARVIS_PYTHON": sys.executable, **variables}
    return subprocess.run([ROOT / "jarvis", *arguments], env=env, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("arguments", [["--bogus"], ["setup", "now"], ["doctor", "-x"], ["shell", "ls"]])
def test_bad_input_is_status_2_and_one_line_with_the_fix(arguments: list[str]) -> None:
    result = jarvis(*arguments)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "Fix: " in result.stderr


def test_the_wrong_python_is_named_with_the_fix(tmp_path: Path) -> None:
    script = tmp_path / "jarvis"
    script.write_text((ROOT / "jarvis").read_text())
    # A folder with the few tools that the script needs, and no Python at all.
    for tool in ("dirname", "readlink", "sh"):
        (tmp_path / tool).symlink_to(f"/bin/{tool}")
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path), "JARVIS_PYTHON": "/nonexistent/python"}
    text = script.read_text().replace("/usr/bin/python3.12 /usr/local/bin/python3.12", "")
    script.write_text(text)
    result = subprocess.run(["/bin/sh", script], env=env, capture_output=True, text=True)
    assert result.returncode == 2
    assert "no Python 3.12 found. Fix: " in result.stderr


def test_an_ended_set_up_leaves_no_installer_behind(tmp_path: Path) -> None:
    """SIGTERM while a step runs ends the step's command as well."""
    marker = tmp_path / "pid"
    code = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
import signal
from pathlib import Path
from bootstrap import cli, steps
signal.signal(signal.SIGTERM, cli._exit_on_sigterm)
steps.run_logged(["sh", "-c", "echo $$ > {marker}; exec sleep 60"], Path({str(tmp_path)!r}) / "log", what="", fix="")
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 20
    while not (marker.exists() and marker.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)


def test_a_second_set_up_waits_for_the_first(layout: Layout, tmp_path: Path) -> None:
    code = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from bootstrap.paths import Layout
from bootstrap.steps import one_set_up_at_a_time
with one_set_up_at_a_time(Layout(Path({str(layout.root)!r}))):
    pass
"""
    with steps.one_set_up_at_a_time(layout):
        second = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        assert second.stderr is not None
        assert "waiting for it" in second.stderr.readline()
        assert second.poll() is None
    assert second.wait(timeout=20) == 0


@pytest.mark.parametrize("command", ["setup", "doctor", "shell"])
def test_help_of_the_own_commands_sets_nothing_up(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: ./jarvis")
