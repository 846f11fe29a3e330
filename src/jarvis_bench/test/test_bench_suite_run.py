"""Runs of a suite: plans, the diary, and processes that crash, hang, or are stopped. The processes are real."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import msgspec
import numpy as np
import psutil
import pytest
from jarvis_bench.run_page import write_run_page
from jarvis_bench.suite_run import workers as workers_module
from jarvis_bench.suite_run.attempts import ATTEMPTS_FILE, Attempt, append, read_attempts
from jarvis_bench.suite_run.plan import (
    EPISODES_FOLDER,
    LOGS_FOLDER,
    PlannedEpisode,
    PlannedTask,
    RunPlan,
    begin,
    is_done,
    read_plan,
)
from jarvis_bench.suite_run.workers import Workers
from jarvis_core.errors import BadInputError
from jarvis_core.files import encode
from jarvis_scoring.protocol import EpisodeScore
from jarvis_scoring.rows import ResultRow
from jarvis_scoring.tables import ResultTable

PLAN = RunPlan(
    suite="open-50",
    suite_hash="0" * 64,
    style="classic",
    agents=("oracle", "noop"),
    seeds=(0, 1),
    tasks=(PlannedTask("house-s01-s01", "Easy", 0, 2), PlannedTask("dog-s09-s09", "Hard", 24, 1)),
)
SCORE = EpisodeScore(
    protocol="brick-score-1",
    constants="",
    score=75.0,
    q=0.75,
    s_pose=0.75,
    s_pose_ungated=0.75,
    s_comp=0.75,
    s_valid=1.0,
    s_exact=0.5,
    time_penalty=0.0,
    time_s=1.0,
    budget_s=60.0,
    n_required=2,
    calls=1,
    failed_calls=0,
    bricks=(),
)
#: As a process of an episode that ends well: leaves a folder with a score, and a record last.
FINISH = f"""
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
(folder / "score.json").write_bytes({encode(SCORE)!r})
(folder / "record.json").write_text("{{}}")
"""
CRASH = "import sys; print('what went before'); sys.exit('error: it broke')"
HANG = "import time; print('on it', flush=True); time.sleep(600)"


def test_a_plan_holds_every_task_agent_and_seed_once() -> None:
    ids = [episode.id for episode in PLAN.episodes()]
    assert len(set(ids)) == len(ids) == 8
    # A run cut short in the middle has played every task once.
    assert {id_.rpartition("-")[2] for id_ in ids[:4]} == {"0"}
    assert PLAN.episode("dog-s09-s09-noop-1") == PlannedEpisode(PLAN.tasks[1], "noop", 1)
    with pytest.raises(BadInputError, match="no episode dog-s09-s09-noop-2 is planned"):
        PLAN.episode("dog-s09-s09-noop-2")


def test_a_run_is_taken_up_only_with_its_own_plan(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert not begin(run, PLAN)
    assert begin(run, PLAN)
    assert read_plan(run) == PLAN
    with pytest.raises(BadInputError, match=r"differs in suite_hash, seeds .*give a new --out"):
        begin(run, msgspec.structs.replace(PLAN, suite_hash="1" * 64, seeds=(0,)))
    assert read_plan(run) == PLAN


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("do not lose me")
    with pytest.raises(BadInputError, match="not empty, and no run"):
        begin(tmp_path, PLAN)
    with pytest.raises(BadInputError, match="is no run"):
        read_plan(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_line_cut_off_by_a_kill_costs_itself_only(tmp_path: Path) -> None:
    first, second = (
        Attempt("a-noop-0", True, 1.0, "now", 50.0, 0.5),
        Attempt("b-noop-0", False, 2.0, "now", reason="x"),
    )
    append(tmp_path, first)
    with (tmp_path / ATTEMPTS_FILE).open("ab") as file:
        file.write(b'{"episode_id":"half')
    append(tmp_path, second)
    assert read_attempts(tmp_path) == ([first, second], 1)


def play(run: Path, scripts: dict[str, str], *, jobs: int = 2, limit_s: float = 60.0) -> dict[str, Attempt]:
    begin(run, PLAN)
    workers = Workers(run, command_of(run, scripts), jobs, limit_s)
    return {attempt.episode_id: attempt for attempt in workers.play(episodes(scripts))}


def episodes(scripts: dict[str, str]) -> list[PlannedEpisode]:
    return [PLAN.episode(name) for name in scripts]


def command_of(run: Path, scripts: dict[str, str]):  # type: ignore[no-untyped-def]
    def command(episode: PlannedEpisode) -> Sequence[str]:
        return [sys.executable, "-c", scripts[episode.id], str(run / EPISODES_FOLDER / episode.id)]

    return command


def test_one_that_crashes_costs_the_others_nothing(tmp_path: Path) -> None:
    found = play(tmp_path, {"house-s01-s01-oracle-0": CRASH, "dog-s09-s09-oracle-0": FINISH})
    bad, good = found["house-s01-s01-oracle-0"], found["dog-s09-s09-oracle-0"]
    assert not bad.done
    assert bad.reason == "no record: what went before / error: it broke"
    assert (good.done, good.score, good.s_exact) == (True, 75.0, 0.5)
    assert is_done(tmp_path, PLAN.episode("dog-s09-s09-oracle-0"))
    assert not is_done(tmp_path, PLAN.episode("house-s01-s01-oracle-0"))


def test_one_that_never_ends_is_ended(tmp_path: Path) -> None:
    found = play(tmp_path, {"house-s01-s01-oracle-0": HANG}, limit_s=1.0)
    assert found["house-s01-s01-oracle-0"].reason == "took longer than 0 min"


def test_one_that_ignores_the_interrupt_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "GRACE_S", 0.5)
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); " + HANG
    assert not play(tmp_path, {"house-s01-s01-oracle-0": deaf}, limit_s=2.0)["house-s01-s01-oracle-0"].done


def test_leaving_the_loop_stops_what_runs_and_says_nothing_of_it(tmp_path: Path) -> None:
    begin(tmp_path, PLAN)
    scripts = {"dog-s09-s09-oracle-0": FINISH, "house-s01-s01-oracle-0": HANG, "house-s01-s01-oracle-1": HANG}
    seen = []
    for attempt in Workers(tmp_path, command_of(tmp_path, scripts), 2, 60.0).play(episodes(scripts)):
        seen.append(attempt.episode_id)
        break
    assert seen == ["dog-s09-s09-oracle-0"]
    wait_until(lambda: not hanging())


def test_a_killed_run_takes_its_processes_along(tmp_path: Path) -> None:
    begin(tmp_path, PLAN)
    child = "from jarvis_bench.suite_run.workers import end_with_parent; end_with_parent(); " + HANG
    parent = f"""
import sys
from pathlib import Path
from jarvis_bench.suite_run.plan import read_plan
from jarvis_bench.suite_run.workers import Workers
run = Path({str(tmp_path)!r})
command = lambda episode: [sys.executable, "-c", {child!r}]
for _ in Workers(run, command, 1, 600.0).play(read_plan(run).episodes()[:1]):
    pass
"""
    process = subprocess.Popen([sys.executable, "-c", parent])
    log = tmp_path / LOGS_FOLDER / f"{PLAN.episodes()[0].id}.log"
    try:
        wait_until(lambda: log.is_file() and "on it" in log.read_text())
        (started,) = psutil.Process(process.pid).children()
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: not started.is_running() or started.status() == psutil.STATUS_ZOMBIE)


def hanging() -> list[int]:
    """Processes under this one that hang."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            command = " ".join(process.cmdline())
        except psutil.NoSuchProcess:
            continue
        if "time.sleep(600)" in command:
            found.append(process.pid)
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_page_of_a_run_shows_every_episode(tmp_path: Path) -> None:
    rows = [
        ResultRow(
            episode_id=e.id,
            task_id=e.task.id,
            agent=e.agent,
            seed=e.seed,
            stratum=e.task.stratum,
            score=100.0 if e.agent == "oracle" else 0.0,
            s_exact=1.0 if e.agent == "oracle" else 0.0,
            complete=e.seed == 0,
            reason="" if e.seed == 0 else "<it broke>",
        )
        for e in PLAN.episodes()
    ]
    folder = tmp_path / EPISODES_FOLDER / rows[0].episode_id
    folder.mkdir(parents=True)
    (folder / "report.html").write_text("its page")
    picture = np.full((48, 64, 3), 200, np.uint8)
    assert cv2.imwrite(str(folder / "after.png"), picture)
    table = ResultTable("t", "A table", ("agent", "score"), (("oracle", 50.0),))
    text = write_run_page(tmp_path, PLAN, rows, [table], b"png").read_text()
    assert "4 of 8 episodes" in text
    assert text.count('class="episode') == len(rows) + 1  # the grid itself is one
    assert text.count(f'<a href="{EPISODES_FOLDER}/{rows[0].episode_id}/report.html"') == 1
    assert text.count("data:image/jpeg") == 1
    assert "&lt;it broke&gt;" in text
    assert "<it broke>" not in text
    assert text.index('<span class="score">50.0</span>') < text.index('<span class="score">0.0</span>')
    assert not {"http://", "https://", 'src="/'} & set(text.split())
