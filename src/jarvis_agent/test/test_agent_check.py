"""Programs are told kindly what is wrong with them, with all lines, before anything runs."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jarvis_agent.cage.inside import wire
from jarvis_agent.check import check_program
from jarvis_core.errors import BadInputError

API, IMPORTS = {"look", "pick"}, {"numpy", "math"}

FINE = """
from __future__ import annotations
import numpy as np
from math import sin
def go(name):
    return pick(name)
for brick in look().bricks:
    print(go(brick.id).reason, np.pi, sin(0))
"""

FAULTY = {
    "import os": "line 1: os can't be imported; there are math, numpy",
    "\nfrom os.path import join": "line 2: os.path can't be imported",
    "from . import x": r"line 1: \. can't be imported",
    "def look(): pass": "line 1: look is a call of the API and can't be defined anew",
    "look = 1": "can't be defined anew",
    "for pick in range(3): pass": "line 1: pick is a call",
    "import numpy as look": "look is a call",
    "try:\n    pass\nexcept ValueError as pick:\n    pass": "line 3: pick is a call",
    "class look: pass": "look is a call",
    "del look": "look is a call",
    "look.cache = {}": "look is a call of the API and can't be changed",
    "(lambda: 0).__globals__": "line 1: __globals__ is not for programs",
    "().__class__.__base__.__subclasses__()": "__subclasses__ is not for programs",
    "open('/etc/passwd')": r"line 1: open\(\) is not for programs",
    "exec('1')": r"exec\(\) is not for programs",
    "__builtins__ = {}": "__builtins__ can't be changed",
    "x = (": "program:1: not a Python program",
    "x = '\0'": "not a Python program",
    "(" * 5000: "not a Python program",
}


def test_a_good_program_passes() -> None:
    check_program(FINE, API, {*IMPORTS, "__future__"}, where="program")


@pytest.mark.parametrize("source", FAULTY, ids=lambda source: source[:20].strip())
def test_faults_are_named_with_their_line(source: str) -> None:
    with pytest.raises(BadInputError, match=FAULTY[source]):
        check_program(source, API, IMPORTS, where="program")


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(BadInputError) as told:
        check_program("import os\nlook = 1\nopen('x')", API, IMPORTS, where="program")
    assert all(f"line {line}: " in told.value.line() for line in (1, 2, 3))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None, max_examples=25)
@given(plain, hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(max_dims=3, max_side=4)))
def test_frames_bring_values_and_arrays_back(value: object, array: np.ndarray) -> None:  # type: ignore[type-arg]
    sent = {"value": value, "array": array, "more": [array]}
    if array.dtype.kind not in "biuf":
        with pytest.raises(wire.WireError):
            wire.encode(sent)
        return
    frame = wire.encode(sent)
    text_length, body_length = wire.HEADER.unpack_from(frame)
    text = frame[wire.HEADER.size :][:text_length]
    assert len(frame) == wire.HEADER.size + text_length + body_length
    got = wire.decode(text, frame[wire.HEADER.size + text_length :])
    assert got["value"] == value
    for back in (got["array"], got["more"][0]):
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=200), st.binary(max_size=50))
def test_any_bytes_are_a_value_or_a_wire_error(text: bytes, body: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        wire.decode(text, body)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 1j, print, [lambda: 0], np.array(["a"])])
def test_what_is_no_data_is_not_sent(value: object) -> None:
    with pytest.raises(wire.WireError):
        wire.encode(value)
