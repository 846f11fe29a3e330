"""Parquet files of rows, written and read a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from jarvis_core.errors import BadInputError

_TYPES = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}
_BATCH = 4096
_REBUILD = "build the dataset again"


def schema_of(kind: type[msgspec.Struct]) -> pa.Schema:
    """The columns of a row's type."""
    return pa.schema([(name, _TYPES[hint]) for name, hint in get_type_hints(kind).items()])


class RowWriter:
    """Collects rows and writes them in groups; use as a context manager.

    Args:
        path: written as it is: the caller sees to it that nobody finds half a file.
        group: rows held in memory.
    """

    def __init__(self, path: Path, kind: type[msgspec.Struct], group: int) -> None:
        self._schema = schema_of(kind)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._group = group
        self._rows: list[dict[str, object]] = []

    def write(self, row: msgspec.Struct) -> None:
        self._rows.append(msgspec.structs.asdict(row))
        if len(self._rows) >= self._group:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._rows, self._schema))
        self._rows = []

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._rows:
            self._flush()
        self._writer.close()


def read_rows[T: msgspec.Struct](path: Path, kind: type[T]) -> Iterator[T]:
    """All rows in order, a few thousand in memory at once.

    Raises:
        BadInputError: no such file, a damaged one, or one with other columns.
    """
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(schema_of(kind)):
                raise BadInputError(
                    f"has not the columns of a {kind.__name__}", where=str(path), fix=_REBUILD
                )
            for batch in file.iter_batches(batch_size=_BATCH):
                yield from msgspec.convert(batch.to_pylist(), list[kind])  # type: ignore[valid-type]
    except FileNotFoundError as error:
        raise BadInputError("no such file", where=str(path), fix=_REBUILD) from error
    except (pa.ArrowException, OSError) as error:
        raise BadInputError(f"a damaged parquet file ({error})", where=str(path), fix=_REBUILD) from error


def count_rows(path: Path) -> int:
    """From the file's end, without reading rows; errors as read_rows."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except FileNotFoundError as error:
        raise BadInputError("no such file", where=str(path), fix=_REBUILD) from error
    except (pa.ArrowException, OSError) as error:
        raise BadInputError(f"a damaged parquet file ({error})", where=str(path), fix=_REBUILD) from error
