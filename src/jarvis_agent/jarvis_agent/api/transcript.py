"""Everything an agent called, with the pictures it was shown: one line of JSON a call."""

from __future__ import annotations

import json
import queue
import threading
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from jarvis_agent.api.answers import as_data

TRANSCRIPT_FILE = "transcript.jsonl"
IMAGE_FOLDER = "images"
#: Pictures waiting to be written; more make the agent wait.
_WAITING = 32
_QUALITY = 92


class Transcript:
    """Writes into a folder as the episode goes on; pictures are encoded by a thread of their own."""

    def __init__(self, folder: Path) -> None:
        self._images = folder / IMAGE_FOLDER
        self._images.mkdir(parents=True, exist_ok=True)
        self._file = (folder / TRANSCRIPT_FILE).open("w", encoding="utf-8")
        self._index = self._pictures = 0
        self._queue: queue.Queue[tuple[Path, np.ndarray[Any, Any]] | None] = queue.Queue(_WAITING)
        self._fault: Exception | None = None
        self._writer = threading.Thread(target=self._write_images, name="transcript", daemon=True)
        self._writer.start()

    def call(
        self, name: str, arguments: dict[str, Any], answer: Any, *, start_s: float, wall_s: float
    ) -> None:
        """One call: what was asked and what was answered (an answer's data, or a refusal's words)."""
        self._index += 1
        self._line(
            {
                "index": self._index,
                "call": name,
                "arguments": self._plain(as_data(arguments)),
                "answer": self._plain(answer),
                "start_s": start_s,
                "wall_s": wall_s,
            }
        )

    def note(self, kind: str, **fields: Any) -> None:
        """Something else that happened: a program, a round, an end."""
        self._line({"note": kind, **self._plain(fields)})

    def close(self) -> None:
        """Write what is left; raises the error that kept a picture from being written."""
        self._queue.put(None)
        self._writer.join()
        self._file.close()
        if self._fault is not None:
            raise self._fault

    def _line(self, value: dict[str, Any]) -> None:
        self._file.write(json.dumps(value, default=str) + "\n")
        self._file.flush()

    def _plain(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if value.dtype == np.uint8 and value.ndim == 3 and value.shape[2] == 3:
                self._pictures += 1
                path = self._images / f"{self._index:05d}-{self._pictures:05d}.jpg"
                self._queue.put((path, value))
                return {"image": f"{IMAGE_FOLDER}/{path.name}"}
            return {"array": list(value.shape), "dtype": str(value.dtype)}
        if isinstance(value, dict):
            return {str(key): self._plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._plain(item) for item in value]
        return value

    def _write_images(self) -> None:
        while (waiting := self._queue.get()) is not None:
            path, image = waiting
            bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
            try:
                if not cv2.imwrite(str(path), bgr, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY]):
                    raise OSError(f"{path} can't be written")
            except (OSError, cv2.error) as error:
                self._fault = self._fault or OSError(str(error))
