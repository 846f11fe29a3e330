"""``jarvis score``: episodes scored from what was recorded, without a simulator; faults named, nothing left out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from jarvis_core.config import load_config, load_default
from jarvis_core.files import encode, write_bytes
from jarvis_episode.recording.scored import Scored, Unusable, find_sources, score_all
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.text import table
from rich.console import Console
from rich.table import Table

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.progress import track

EXAMPLES = """
jarvis score results/demo/oracle/house-s08-s11-oracle-0
jarvis score recorded_bag/ --protocol brick-score-1-world
jarvis score results/ --out scores.json
jarvis score --protocols"""
INCOMPLETE = "INCOMPLETE"
#: Of what is piped into a file.
_WIDTH = 180


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "score",
        "score bags, episodes, or folders of them, from what was recorded (exit status: 1 something is "
        "incomplete, 2 something can't be used)",
        EXAMPLES,
    )
    parser.add_argument("paths", metavar="BAG|EPISODE|FOLDER", type=Path, nargs="*")
    parser.add_argument("--protocol", metavar="NAME", help="another than the one the constants name")
    parser.add_argument("--protocols", action="store_true", help="print the protocols and their constants")
    parser.add_argument(
        "--config", type=Path, metavar="YAML", help="constants (default: those each recording holds)"
    )
    parser.add_argument("--task", type=Path, metavar="FOLDER", help="refuse recordings of any other task")
    parser.add_argument("--no-bags", action="store_true", help="don't compare records with their bags")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write everything there as JSON as well")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    config = load_config(options.config, ScoreConfig) if options.config is not None else None
    if options.protocols:
        _print_protocols(config or load_default("score", ScoreConfig))
        return 0
    sources = find_sources(options.paths)
    if not sources:
        print("error: nothing to score - give a bag, an episode or a folder of them", file=sys.stderr)
        return 2
    found = list(
        score_all(
            list(track(sources, "scoring")),
            config=config,
            protocol=options.protocol,
            task=options.task,
            with_bags=not options.no_bags,
        )
    )
    scored = [f for f in found if isinstance(f, Scored)]
    bad = [f for f in found if isinstance(f, Unusable)]
    if options.out is not None:
        write_bytes(options.out, encode([as_json(f) for f in found]))
    if options.format == "json":
        print(encode([as_json(f) for f in found]).decode(), end="")
    elif len(found) == 1 and scored:
        print(one_text(scored[0]), end="")
    elif scored:
        _print_batch(scored, bad)
    for unusable in bad:
        print(f"error: {unusable.error.line()}", file=sys.stderr)
    return 2 if bad else 1 if any(s.faults for s in scored) else 0


def as_json(found: Scored | Unusable) -> dict[str, Any]:
    """One source as plain data."""
    if isinstance(found, Unusable):
        return {"source": found.source, "status": "unusable", "error": found.error.line()}
    evidence = found.evidence
    return {
        "source": found.source,
        "status": "incomplete" if found.faults else "complete",
        "episode_id": evidence.episode_id,
        "task_id": evidence.task_id,
        "task_hash": evidence.task_hash,
        "policy": evidence.policy,
        "seed": evidence.seed,
        "outcome": evidence.outcome,
        "counted": found.counted,
        "faults": found.faults,
        "remarks": found.remarks,
        "score": found.score,
        "constants": evidence.constants,
    }


def one_text(scored: Scored) -> str:
    """The whole score of one episode, and what is wrong with its recording."""
    head = f"{scored.evidence.episode_id}   ({scored.source})\n"
    if scored.faults:
        head += f"{INCOMPLETE}, counts 0 in tables: {'; '.join(scored.faults)}\n"
    notes = "".join(f"note: {remark}\n" for remark in scored.remarks)
    return head + table(scored.score) + notes


def _print_batch(scored: Sequence[Scored], bad: Sequence[Unusable]) -> None:
    rows = Table(box=None, pad_edge=False)
    for name in ("episode", "score", "exact", "complete", "pose", "time s", "calls", "state"):
        rows.add_column(name, justify="left" if name in ("episode", "state") else "right", overflow="fold")
    for item in scored:
        result = item.score
        rows.add_row(
            item.evidence.episode_id,
            f"{result.score:.2f}",
            f"{result.s_exact:.1%}",
            f"{result.s_comp:.1%}",
            f"{result.s_pose:.3f}",
            f"{result.time_s:.1f}",
            f"{result.calls} ({result.failed_calls} failed)",
            f"{INCOMPLETE} (counts 0): {'; '.join(item.faults)}" if item.faults else "; ".join(item.remarks),
        )
    Console(width=None if sys.stdout.isatty() else _WIDTH).print(rows)
    mean = sum(item.counted for item in scored) / len(scored)
    incomplete = sum(bool(item.faults) for item in scored)
    protocols = ", ".join(sorted({item.score.protocol for item in scored}))
    print(
        f"\n{protocols}: {len(scored)} episodes, mean {mean:.2f}; {incomplete} incomplete (counted 0), "
        f"{len(bad)} could not be used\n{scored[0].score.note}"
    )


def _print_protocols(config: ScoreConfig) -> None:
    rows = Table("constant", *config.protocols, box=None, pad_edge=False)
    plain = {name: msgspec.to_builtins(p) for name, p in config.protocols.items()}
    for key in ("position", "gated"):
        rows.add_row(key, *(str(p[key]) for p in plain.values()))
    for term in ("position", "z", "theta", "anchor"):
        rows.add_row(f"weight of {term}", *(f"{p['weights'][term]:g}" for p in plain.values()))
    for name in config.__struct_fields__:
        value = getattr(config, name)
        if isinstance(value, float):
            rows.add_row(name, *([f"{value:g}"] * len(plain)))
    Console().print(rows)
    print(f"\nreported: {config.protocol}")
