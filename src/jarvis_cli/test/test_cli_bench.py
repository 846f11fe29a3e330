"""``jarvis bench`` over a real suite: played, taken up again, reported, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jarvis_agent.baselines.noop import Noop
from jarvis_agent.program import ProgramPolicy
from jarvis_agent.toolbox import Layer
from jarvis_bench.suite_run.attempts import read_attempts
from jarvis_bench.suite_run.plan import RunPlan, begin, read_plan
from jarvis_cli.__main__ import main
from jarvis_cli.bench_agents import agent_of, hashes, keep_programs, parse_agents
from jarvis_cli.bench_report import run_rows
from jarvis_core.errors import BadInputError, MissingCapabilityError
from jarvis_episode.recording.folder import finished

TASK = "duck-s02-s02"


def bench(run: Path, *more: str, agent: str = "noop") -> int:
    options = ["--suite", "open-50", "--agent", agent, "--task", TASK, "--out", str(run), *more]
    return main(["bench", "run", *options])


def test_a_run_from_suite_to_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert bench(run, "--sees", "nothing") == 0
    assert (read_plan(run).sees, read_plan(run).layer) == ("nothing", "primitives")
    (episode,) = finished(run / "episodes")
    assert episode.name == f"{TASK}-noop-0"
    _, (row,) = run_rows(run)
    assert (row.stratum, row.style, row.n_scene, row.n_act, row.score) == ("Easy", "classic", 1, 1, 0.0)
    assert row.complete
    assert f"episodes/{episode.name}/report.html" in (run / "index.html").read_text()
    # The same command again plays nothing.
    capsys.readouterr()
    assert bench(run, "--sees", "nothing") == 0
    assert "goes on: 1 of 1 episodes are there" in capsys.readouterr().out
    assert len(read_attempts(run)[0]) == 1
    # With other eyes it would be another run.
    assert bench(run, "--sees", "perceived") == 2
    assert "differs in sees" in capsys.readouterr().err
    # Against itself nothing changed.
    assert main(["bench", "compare", str(run), str(run), "--format", "json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert compared[0]["rows"] == [["noop", "noop", {"mean": 0.0, "low": 0.0, "high": 0.0, "n": 1}, 0, 1, 0]]
    assert compared[1]["rows"] == []


@pytest.mark.parametrize(
    ("more", "agent", "message"),
    [
        ((), "nobody", "nobody"),
        ((), "noop,noop", "names an agent twice"),
        ((), ",", "names no agent"),
        ((), "missing.py", "missing.py"),
        (("--layer", "generic"), "manual_reader", "uses the calls of the layer primitives"),
        (("--style", "cubist"), "noop", "cubist"),
        (("--seeds", "3-1"), "noop", "are no seeds"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], agent: str, message: str
) -> None:
    assert bench(tmp_path / "run", *more, agent=agent) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_program_is_kept_with_its_run_and_plays_as_it_was(tmp_path: Path) -> None:
    """What it is given follows the run's layer; a program that was changed meanwhile does not go on."""
    file, run = tmp_path / "mine.py", tmp_path / "run"
    file.write_text("print(state().tool)\n")
    names, programs = parse_agents(f"noop,{file}", "generic")
    assert names == ("noop", "mine")
    (tmp_path / "noop.py").write_text("home()\n")
    with pytest.raises(BadInputError, match="is named like the agent 'noop'"):
        parse_agents(str(tmp_path / "noop.py"), "generic")
    plan = RunPlan(
        suite="open-50",
        suite_hash="",
        style="classic",
        layer="generic",
        agents=names,
        seeds=(0,),
        programs=hashes(programs),
        tasks=(),
    )
    begin(run, plan)
    keep_programs(run, programs)
    assert isinstance(agent_of(run, read_plan(run), "noop"), Noop)
    try:
        policy = agent_of(run, read_plan(run), "mine")
    except MissingCapabilityError as error:
        pytest.skip(error.line())
    assert isinstance(policy, ProgramPolicy)
    assert (policy.name, policy.layer) == ("mine", Layer.GENERIC)
    (run / "programs" / "mine.py").write_text("home()\n")
    with pytest.raises(BadInputError, match="not the program that this run began with"):
        agent_of(run, read_plan(run), "mine")
