"""Everything that can be scored: bags, episode folders, and folders of either, one result each, faults named.

A folder's record is scored as it stands; the bag beside it is scored too, and both must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_core.episode import EpisodeRecord
from jarvis_core.errors import BadInputError, JarvisError
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.evidence import Evidence, recorded_constants
from jarvis_scoring.inputs import read_record
from jarvis_scoring.protocol import EpisodeScore
from jarvis_tasks.store import TASK_FILE, load_task, task_hash

from jarvis_episode.recording.folder import BAG_FOLDER, RECORD_FILE
from jarvis_episode.recording.replay import replay_bag, try_bag
from jarvis_episode.recording.storage import is_bag

#: A bag alone and a record give the same score, up to this on the scale of 0 to 100.
AGREEMENT = 1e-9


@dataclass(frozen=True, slots=True)
class Scored:
    """One episode.

    Attributes:
        source: the bag, or the episode's folder.
        faults: why it is incomplete and counts zero; empty for a sound one.
        remarks: what is odd but cost nothing.
        record: of an episode's folder.
    """

    source: Path
    evidence: Evidence
    score: EpisodeScore
    faults: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    record: EpisodeRecord | None = None

    @property
    def counted(self) -> float:
        """What it adds to a table: the score, or 0."""
        return 0.0 if self.faults else self.score.score


@dataclass(frozen=True, slots=True)
class Unusable:
    """A source, or an episode in it, that can't be scored at all, and why.

    Attributes:
        evidence: which episode it is, where that is known.
    """

    source: Path
    error: JarvisError
    evidence: Evidence | None = None


def find_sources(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Bags and episode folders that are or lie under ``paths``, a path that is neither as it stands.

    An episode's own bag is no source of its own; the bag of an episode that died (a partial folder) is.

    Raises:
        BadInputError: a folder without any.
    """
    sources: list[Path] = []
    for path in paths:
        found = list(_within(path)) if path.is_dir() else [path]
        if not found:
            raise BadInputError("holds neither an episode nor a bag", where=str(path))
        sources += found
    return tuple(dict.fromkeys(sources))


def _within(folder: Path) -> Iterator[Path]:
    if (folder / RECORD_FILE).is_file() or is_bag(folder):
        yield folder
        return
    for path in sorted(p for p in folder.iterdir() if p.is_dir()):
        yield from _within(path)


def score_all(
    sources: Sequence[Path],
    *,
    config: ScoreConfig | None = None,
    protocol: str | None = None,
    task: Path | None = None,
    with_bags: bool = True,
) -> Iterator[Scored | Unusable]:
    """Score one source after another; one that can't be used does not stop the rest.

    An episode that came before, under another path, can't be used a second time.
    """
    seen: dict[str, Path] = {}
    for source in sources:
        try:
            for scored in _found(source, config, protocol, task, with_bags):
                if isinstance(scored, Unusable):
                    yield scored
                    continue
                episode = scored.evidence.episode_id
                if (first := seen.setdefault(episode, source)) != source:
                    raise BadInputError(
                        f"episode {episode} was given before ({first})",
                        where=str(source),
                        fix="give every episode once",
                    )
                yield scored
        except JarvisError as error:
            yield Unusable(source, error)


def score_source(
    source: Path,
    *,
    config: ScoreConfig | None = None,
    protocol: str | None = None,
    task: Path | None = None,
    with_bags: bool = True,
) -> list[Scored]:
    """Score a bag or an episode's folder.

    Args:
        config: constants to use instead of the recorded ones.
        protocol: by default the one that the constants name.
        task: folder of the task it should be an episode of.
        with_bags: compare an episode's record with its bag.

    Raises:
        BadInputError: it, or one of its episodes, can't be scored, or it is an episode of another task.
    """
    scored: list[Scored] = []
    for found in _found(source, config, protocol, task, with_bags):
        if isinstance(found, Unusable):
            raise found.error
        scored.append(found)
    return scored


def _found(
    source: Path, config: ScoreConfig | None, protocol: str | None, task: Path | None, with_bags: bool
) -> list[Scored | Unusable]:
    refused: tuple[Unusable, ...] = ()
    if (source / RECORD_FILE).is_file():
        scored = [_score_folder(source, config, protocol, with_bags)]
    else:
        scored, refused = _score_bag(source, config, protocol)
    if task is not None:
        for item in scored:
            _check_task(item.evidence, task, source)
    return [*scored, *refused]


def _score_bag(
    source: Path, config: ScoreConfig | None, protocol: str | None
) -> tuple[list[Scored], tuple[Unusable, ...]]:
    bag = try_bag(source, config=config, protocol=protocol)
    scored = [
        Scored(
            source,
            replay.evidence,
            replay.score,
            (*replay.faults, *(bag.damage if replay.faults else ())),
            () if replay.faults else bag.damage,
        )
        for replay in bag.replays
    ]
    return scored, tuple(Unusable(source, error, evidence) for evidence, error in bag.refused)


def _score_folder(folder: Path, config: ScoreConfig | None, protocol: str | None, with_bags: bool) -> Scored:
    record = read_record(folder / RECORD_FILE)
    constants = config or recorded_constants(record)
    evidence = Evidence.of_record(record, constants)
    if (folder / TASK_FILE).is_file():
        _check_task(evidence, folder, folder)
    result = score(record, constants, protocol=protocol)
    faults: tuple[str, ...] = (record.outcome_message,) if record.outcome == "cell_error" else ()
    remarks: tuple[str, ...] = ()
    if with_bags and (folder / BAG_FOLDER).is_dir():
        disagreements, remarks = _compare(folder / BAG_FOLDER, evidence, result, config, protocol)
        faults = (*faults, *disagreements)
    return Scored(folder, evidence, result, faults, remarks, record)


def _compare(
    bag: Path, evidence: Evidence, result: EpisodeScore, config: ScoreConfig | None, protocol: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Faults and remarks from the bag beside a record: the record is whole, so a damaged bag is only a remark."""
    try:
        replays = replay_bag(bag, config=config, protocol=protocol).replays
    except JarvisError as error:
        return (), (f"its bag can't be replayed: {error.what}",)
    own = [r for r in replays if r.evidence.episode_id == evidence.episode_id]
    if not own:
        return ("its bag is of another episode",), ()
    if not own[0].complete:
        return (), tuple(f"its bag: {fault}" for fault in own[0].faults)
    difference = abs(own[0].score.score - result.score)
    return ((f"record and bag differ by {difference:.3g} of 100",) if difference > AGREEMENT else ()), ()


def _check_task(evidence: Evidence, task: Path, source: Path) -> None:
    found = task_hash(load_task(task))
    if found != evidence.task_hash:
        raise BadInputError(
            f"was recorded on a task with hash {evidence.task_hash[:12]}, {task} has {found[:12]}",
            where=str(source),
            fix="give the task it was recorded on",
        )
