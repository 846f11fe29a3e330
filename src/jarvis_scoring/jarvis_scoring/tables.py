"""A table of results, and its forms: text, CSV, JSON, LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import msgspec
from jarvis_core.files import encode

from jarvis_scoring.estimates import Estimate

Cell = str | int | float | Estimate | None
FORMATS = ("text", "csv", "json", "latex")
_ABSENT = "–"
_LATEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "–": "--", "×": r"$\times$", "≥": r"$\geq$"}
)


class ResultTable(msgspec.Struct, frozen=True):
    """Numbers stay numbers until they are printed.

    Attributes:
        name: short, for files (``table2-agents``).
        notes: what a reader must know, a sentence each.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def render(tables: Sequence[ResultTable], form: str) -> str:
    """All tables in one of FORMATS, ends with a newline."""
    if form == "json":
        return encode(tables).decode()
    one = {"text": _text, "csv": to_csv, "latex": _latex}[form]
    return "\n".join(one(table) for table in tables)


def _text(table: ResultTable) -> str:
    rows = [table.columns, *(tuple(_cell(c) for c in row) for row in table.rows)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.columns))]
    lines = [table.title]
    for number, row in enumerate(rows):
        cells = [
            cell.rjust(width) if _is_number(table, k) else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
        if number == 0:
            lines.append("  " + "  ".join("-" * width for width in widths))
    if not table.rows:
        lines.append("  (nothing of this kind in the results)")
    return "\n".join([*lines, *(f"  {note}" for note in table.notes)]) + "\n"


def to_csv(table: ResultTable) -> str:
    """An estimate takes four columns: mean, low, high, n."""
    spread = [any(isinstance(row[k], Estimate) for row in table.rows) for k in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head: list[str] = []
    for name, wide in zip(table.columns, spread, strict=True):
        head += [f"{name} {part}" for part in ("mean", "low", "high", "N")] if wide else [name]
    writer.writerow(["table", *head])
    for row in table.rows:
        cells: list[object] = []
        for cell, wide in zip(row, spread, strict=True):
            if isinstance(cell, Estimate):
                cells += [cell.mean, cell.low, cell.high, cell.n]
            else:
                cells += [cell, "", "", ""] if wide else [cell]
        writer.writerow([table.name, *cells])
    return out.getvalue()


def _latex(table: ResultTable) -> str:
    """A table that needs no package."""
    align = "".join("r" if _is_number(table, k) else "l" for k in range(len(table.columns)))
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{table.title.translate(_LATEX)}}}"]
    lines += [rf"\begin{{tabular}}{{{align}}}", r"\hline", _latex_row(table.columns), r"\hline"]
    lines += [_latex_row([_cell(c) for c in row]) for row in table.rows]
    lines += [r"\hline", r"\end{tabular}"]
    lines += [rf"\par\small {note.translate(_LATEX)}" for note in table.notes]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cell.translate(_LATEX) for cell in cells) + r" \\"


def _is_number(table: ResultTable, column: int) -> bool:
    return bool(table.rows) and not any(isinstance(row[column], str) for row in table.rows)


def _cell(cell: Cell) -> str:
    if cell is None:
        return _ABSENT
    if isinstance(cell, Estimate):
        return f"{cell.mean:.2f} [{cell.low:.2f}, {cell.high:.2f}] ({cell.n})"
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)
