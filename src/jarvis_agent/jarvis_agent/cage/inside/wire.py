"""Frames on the pipe between harness and program: JSON, with arrays beside it as plain bytes. Never pickle.

A frame is two big-endian 32-bit numbers (length of the JSON, length of the bytes), the JSON, the bytes. In the JSON an
array stands as ``{"$array": [dtype, shape, offset]}``; its elements lie in the bytes from ``offset`` on, C order.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

HEADER = struct.Struct("!II")
ARRAY = "$array"


class WireError(ValueError):
    """Bytes that are no frame, or values that have no place in one."""


def encode(value: Any) -> bytes:
    """A frame of plain data: None, booleans, numbers, strings, lists, dicts with string keys, arrays.

    Raises:
        WireError: something in it has no such form.
    """
    blobs: list[bytes] = []
    try:
        text = json.dumps(_plain(value, blobs), separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(str(error)) from error
    body = b"".join(blobs)
    return HEADER.pack(len(text), len(body)) + text + body


def _plain(value: Any, blobs: list[bytes]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise WireError(f"arrays of {value.dtype} can't be sent")
        offset = sum(map(len, blobs))
        blobs.append(np.ascontiguousarray(value).tobytes())
        return {ARRAY: [value.dtype.str, list(value.shape), offset]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): _plain(item, blobs) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, blobs) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise WireError(f"a {type(value).__name__} can't be sent; send numbers, strings, lists and dicts")


def decode(text: bytes, body: bytes, make_dict: Callable[[dict[str, Any]], Any] = dict) -> Any:
    """The value of a frame; dicts are made by ``make_dict``.

    Raises:
        WireError: it is no JSON, or names an array that isn't there.
    """

    def hook(found: dict[str, Any]) -> Any:
        return _array(found[ARRAY], body) if set(found) == {ARRAY} else make_dict(found)

    try:
        return json.loads(text, object_hook=hook)
    except (ValueError, TypeError, LookupError, SyntaxError, RecursionError, OverflowError) as error:
        raise WireError(f"not a frame ({error})") from error


def _array(told: Any, body: bytes) -> Any:
    kind, shape, offset = told
    dtype = np.dtype(str(kind))
    if dtype.kind not in "biuf":
        raise WireError(f"arrays of {dtype} can't be sent")
    shape = [int(n) for n in shape]
    count = 1
    for n in shape:
        count *= n
    return np.frombuffer(body, dtype, count, int(offset)).reshape(shape).copy()
