"""What a bag tells about its episode besides the states, so that the bag can be scored alone.

It is written twice: when the episode begins (``closed`` false: a recorder that is killed leaves at least this) and when
it has ended (``closed`` true: with the final state, the time and the calls).
"""

from __future__ import annotations

from typing import Self

import msgspec
from jarvis_core.config import load_default
from jarvis_core.episode import Disturbance, EpisodeRecord, PolicyInfo
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode, decode_hook

from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.inputs import ScoreInput

#: Version of the layout; a reader refuses any other.
EVIDENCE_SCHEMA = 1


class Evidence(ScoreInput, frozen=True, kw_only=True):
    """Everything a score needs, in one message.

    Attributes:
        task_hash: names the task that the targets were taken from.
        outcome, outcome_message: as in the record; empty until the episode has ended.
        closed: the episode has ended; else ``final`` is the initial state, and time and calls are zero.
        constants: of the score, every one of them.
        disturbance: as in the record.
    """

    schema: int = EVIDENCE_SCHEMA
    episode_id: str
    task_id: str
    task_hash: str
    seed: int
    policy: PolicyInfo
    outcome: str = ""
    outcome_message: str = ""
    closed: bool
    constants: ScoreConfig
    disturbance: Disturbance | None = None

    @classmethod
    def of_record(cls, record: EpisodeRecord, constants: ScoreConfig | None = None) -> Self:
        """Of an episode that has ended; ``constants`` default to those in the record.

        Raises:
            BadInputError: as ScoreInput.from_record and recorded_constants.
        """
        given = ScoreInput.from_record(record)
        return cls(
            **msgspec.structs.asdict(given),
            episode_id=record.episode_id,
            task_id=record.task_id,
            task_hash=record.task_hash,
            seed=record.seed,
            policy=record.policy,
            outcome=record.outcome,
            outcome_message=record.outcome_message,
            closed=True,
            constants=constants if constants is not None else recorded_constants(record),
            disturbance=record.disturbance,
        )

    def disturbed(self) -> ScoreInput | None:
        """What the policy found, to be scored as if the episode had ended there; None where nothing was disturbed."""
        if self.disturbance is None:
            return None
        return msgspec.structs.replace(
            self, final=self.disturbance.after, time_s=0.0, calls=0, failed_calls=0
        )

    def opening(self) -> Self:
        """What is known of the same episode when it begins."""
        return msgspec.structs.replace(
            self,
            final=self.initial,
            time_s=0.0,
            calls=0,
            failed_calls=0,
            outcome="",
            outcome_message="",
            closed=False,
        )


def recorded_constants(record: EpisodeRecord) -> ScoreConfig:
    """The constants a record was made with; the configured ones where it holds none.

    Raises:
        BadInputError: constants of another layout.
    """
    if "score" not in record.config:
        return load_default("score", ScoreConfig)
    try:
        return msgspec.convert(record.config["score"], ScoreConfig, dec_hook=decode_hook)
    except (msgspec.ValidationError, ValueError) as error:
        raise BadInputError(
            f"config.score: {error}",
            where=record.episode_id,
            fix="give the constants with --config config/score.yaml",
        ) from error


class EvidenceOfAnyLayout(msgspec.Struct, frozen=True):
    schema: int | None = None


def read_evidence(text: str, where: str) -> Evidence:
    """From JSON.

    Raises:
        BadInputError: no evidence, or of another layout.
    """
    data = text.encode()
    schema = decode(data, EvidenceOfAnyLayout, where=where).schema
    if schema != EVIDENCE_SCHEMA:
        raise BadInputError(
            f"has evidence of layout {schema}, this version reads {EVIDENCE_SCHEMA}",
            where=where,
            fix="score it with the version that wrote it",
        )
    return decode(data, Evidence, where=where)
