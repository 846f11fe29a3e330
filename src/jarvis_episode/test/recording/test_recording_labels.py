"""Labels: derived by rule, overridden by whoever knows better."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from episode_factory import BRICKS, SCENE, make_record, start_pose, target_pose
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_json
from jarvis_core.objects import ObjectState, WorldState
from jarvis_episode.recording.bag import BagWriter
from jarvis_episode.recording.labels import AUTO_FILE, LABELS_FILE, Labels, read_labels, write_auto_labels
from jarvis_episode.recording.scored import Scored, score_source
from jarvis_scoring.config import ScoreConfig

#: b1, b2 and b4 of the episode's five calls succeed; one of the two on b3 fails.
ENDS_S = (16.0, 33.0, 37.5, 67.0, 84.0)


def episode(root: Path, door: str | None = None, *, bag: bool = True) -> Scored:
    """An episode in whose bag one brick after another stands at its place."""
    config = msgspec.to_builtins(load_default("score", ScoreConfig))
    record = make_record({"b4": start_pose("b4")})
    record = msgspec.structs.replace(record, config=record.config | {"score": config})
    folder = root / record.episode_id
    write_json(folder / "record.json", record)
    if door is not None:
        write_json(folder / "agent" / "report.json", {"door": door, "layer": "generic", "isolation": "none"})
    if bag:
        with BagWriter(folder / "bag") as writer:
            for time_s in range(0, 88, 2):
                done = sum(end <= time_s for end in ENDS_S)
                standing = [b for b, at in zip(BRICKS, (1, 2, 4, 9), strict=True) if done >= at]
                states = tuple(
                    ObjectState(b, target_pose(b) if b in standing else start_pose(b)) for b in BRICKS
                )
                writer.write_world_state(
                    WorldState(float(time_s), (ObjectState("s1", SCENE.pose), *states), ())
                )
    (scored,) = score_source(folder, with_bags=False)
    return scored


def test_a_baseline_does_not_reflect(tmp_path: Path) -> None:
    scored = episode(tmp_path, bag=False)
    write_auto_labels(scored)
    found = read_labels(scored.source, AUTO_FILE)
    assert (found.origin, found.api, found.mode, found.rounds) == ("auto", None, "none", None)
    assert list(found.failures) == ["b4"]


def test_an_agent_that_works_in_steps_has_a_score_for_every_round(tmp_path: Path) -> None:
    scored = episode(tmp_path, "steps")
    write_auto_labels(scored)
    found = read_labels(scored.source, AUTO_FILE)
    assert (found.api, found.mode) == ("generic", "reflection")
    assert found.rounds is not None
    # One more brick after every call but the third, which failed, and the last, which left its brick where it was.
    assert [round(points) for points, _ in found.rounds] == [25, 50, 50, 75, 75]


def test_without_a_bag_rounds_are_refused(tmp_path: Path) -> None:
    scored = episode(tmp_path, "steps", bag=False)
    with pytest.raises(BadInputError, match="no such file"):
        write_auto_labels(scored)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"stile": "sketch"}', "unknown field `stile`"),
        ('{"failures": {"b1": "boredom"}}', "'boredom' is no stage"),
        ('{"mode": "daydreaming"}', "mode"),
    ],
)
def test_what_is_no_label_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / LABELS_FILE).write_text(text)
    with pytest.raises(BadInputError) as refused:
        read_labels(tmp_path)
    assert said in refused.value.line()


def test_no_labels_say_nothing(tmp_path: Path) -> None:
    assert read_labels(tmp_path) == Labels()
