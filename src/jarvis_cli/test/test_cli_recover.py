"""``jarvis recover``: what it asks for, what it says of what came of it, how it ends. The episodes are made up here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from jarvis_cli.__main__ import main
from jarvis_core.config import load_default
from jarvis_core.episode import Disturbance, EpisodeRecord, PolicyInfo
from jarvis_core.errors import RefusedError
from jarvis_core.objects import GROUND, Box, ObjectState, RigidObject, TargetObject, WorldState
from jarvis_core.pose import Pose
from jarvis_episode.disturbance import Spoiler
from jarvis_episode.runner import EpisodeResult
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig

SHAPE = (Box(Pose((0, 0, -0.0048)), (0.016, 0.016, 0.0096)),)
PLACE, START, FALLEN = Pose((0.5, 0.1, 0.0128)), Pose((0.4, -0.2, 0.0096)), Pose((0.5, 0.12, 0.0128))
CONSTANTS = load_default("score", ScoreConfig)


def played(spoiler: Spoiler, seed: int, outcome: str = "finished") -> EpisodeRecord:
    """An episode of one brick that had been moved two centimetres off its place, and was put back."""
    joined = (("b1", GROUND),)
    return EpisodeRecord(
        episode_id=f"one-{spoiler.name}-oracle-{seed}",
        task_id="one",
        task_hash="0",
        seed=seed,
        policy=PolicyInfo("oracle", privileged=True, caged=False),
        transport="in-process",
        scene_source="true",
        outcome=outcome,
        outcome_message="",
        started_at="",
        wall_s=1.0,
        time_s=20.0,
        budget_s=105.0,
        initial=WorldState(0.0, (ObjectState("b1", START),), ()),
        final=WorldState(20.0, (ObjectState("b1", PLACE),), joined),
        objects=(RigidObject("b1", "3003", 4, START, SHAPE),),
        targets=(
            TargetObject(RigidObject("b1", "3003", 4, PLACE, SHAPE), GROUND, (GROUND,), ((0, 0, 0, 1),), 1),
        ),
        calls=(),
        events=(),
        config={
            "cell": {"table": {"x": [-1.0, 1.0], "y": [-1.0, 1.0]}},
            "score": msgspec.to_builtins(CONSTANTS),
        },
        versions={},
        disturbance=Disturbance(
            kind=spoiler.kind,
            bricks=("b1",),
            prefix=spoiler.prefix,
            values={},
            after=WorldState(9.0, (ObjectState("b1", FALLEN),), ()),
        ),
    )


#: Folders of tasks; the number is that of their bricks.
TASKS = ["tasks/small-2", "tasks/large-7"]


def read_task(folder: Path) -> tuple[Any, None]:
    return SimpleNamespace(id=folder.name, n_required=int(folder.name[-1])), None


class Player:
    """In place of ``run_episode``: keeps what it was asked for; ``refuses`` names a task."""

    def __init__(self, outcome: str = "finished", refuses: str = "") -> None:
        self.asked: list[tuple[str, Spoiler, int]] = []
        self.outcome = outcome
        self.refuses = refuses

    def __call__(
        self, task: Any, manual: Any, policy: Any, seed: int, *rest: Any, **named: Any
    ) -> EpisodeResult:
        spoiler = named["spoiler"]
        self.asked.append((policy.name, spoiler, seed))
        if task.id == self.refuses:
            raise RefusedError("the prefix can't be built: b1: no grasp", fix="give a shorter prefix")
        record = played(spoiler, seed, self.outcome)
        return EpisodeResult(Path("somewhere"), record, score(record, CONSTANTS))


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch) -> Player:
    player = Player()
    monkeypatch.setattr("jarvis_cli.recover.run_episode", player)
    monkeypatch.setattr("jarvis_cli.recover.read_task", read_task)
    monkeypatch.setattr("jarvis_cli.recover.write_episode_page", lambda folder: None)
    return player


def test_the_score_before_and_after_is_told(player: Player, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recover", TASKS[0], "--seed", "4"]) == 0
    ((agent, spoiler, seed),) = player.asked
    assert (agent, spoiler.name, seed) == ("oracle", "knock_off1", 4)
    told = " ".join(capsys.readouterr().out.split())
    assert "one-knock_off1-oracle-4: knock_off of b1 after 1 bricks:" in told
    before, after = (float(word) for word in told.split("bricks: ")[1].split(" (")[0].split(" -> "))
    record = played(spoiler, 4)
    assert record.disturbance is not None
    found = msgspec.structs.replace(record, final=record.disturbance.after, time_s=0.0)
    assert (before, after) == pytest.approx((score(found, CONSTANTS).score, 100.0), abs=0.01)
    assert 0 < before < after


def test_half_of_the_bricks_are_placed_before_unless_told_otherwise(player: Player) -> None:
    for arguments in (["shift"], ["swap"], ["swap", "--prefix", "3"]):
        assert main(["recover", *TASKS, "--agent", "noop", "--disturb", *arguments]) == 0
    asked = [(agent, spoiler.name) for agent, spoiler, _ in player.asked]
    assert asked == [
        *(("noop", "shift1"), ("noop", "shift3")),
        *(("noop", "swap2"), ("noop", "swap3")),
        *(("noop", "swap3"), ("noop", "swap3")),
    ]


def test_one_that_can_not_be_spoilt_stops_no_other(
    player: Player, capsys: pytest.CaptureFixture[str]
) -> None:
    player.refuses = "small-2"
    assert main(["recover", *TASKS, "--disturb", "remove"]) == 1
    assert len(player.asked) == 2
    told = capsys.readouterr()
    assert told.err == ("error: small-2: the prefix can't be built: b1: no grasp - give a shorter prefix\n")
    assert "remove of b1" in told.out


def test_a_cell_that_failed_is_exit_status_1(player: Player) -> None:
    player.outcome = "cell_error"
    assert main(["recover", TASKS[0]]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--disturb", "swap", "--prefix", "1"], "swap needs 2 placed bricks, not 1 - give a longer prefix"),
        (["--agent", "nobody"], "unknown agent 'nobody'"),
        (["--config", "/no/such.yaml"], "/no/such.yaml"),
    ],
)
def test_bad_input_is_one_line(
    player: Player, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["recover", TASKS[0], *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert said in line
    assert player.asked == []
