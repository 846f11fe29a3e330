"""The documentation an agent is shown, made from the code that answers it."""

from __future__ import annotations

import inspect
import re
import textwrap
import typing
from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from jarvis_agent.api.answers import Answer
from jarvis_agent.api.common import Common
from jarvis_agent.api.layer import Call, calls_of

#: How types are written for agents.
_TYPE_NAMES = (
    (r"<class '([^']+)'>", r"\1"),
    (r"NDArray\[numpy\.(\w+)\]", r"array of \1"),
    (r"(jarvis_\w+\.)[\w.]*\.", ""),
    (r"typing\.", ""),
    (r"NoneType", "None"),
)

RULES = """\
# The robot's calls ({layer})

{summary}

**Values.** Metres, seconds and radians, unless a name says otherwise. A Pose is a list [x, y, z, qx, qy, qz, qw]:
position and unit quaternion in frame `world` (z up, x forward, origin on the tabletop under the robot's base). A part's
frame is the middle of its top without studs, z up. A tool pose is that of the point between the finger pads: z out of
the hand, y along which the fingers close; straight down is [x, y, z, 1, 0, 0, 0], fingers closing along world y.

**Answers.** Every call returns an answer with `ok`, `status` and `reason`, and what else is listed with it. A failed
action is an answer, never an exception: look at `ok`, read `reason`. A call with unknown or wrong arguments raises
`ApiError`.

**Limits**, the same for every agent: {max_calls} calls, and what `budget()` tells. Failed actions are counted.
"""

PROGRAMS = """\
## Programs

A program is Python. The calls below are there without an import, and may not be redefined. Fields of answers are
attributes (`answer.reason`). It runs in a process of its own without files, network or other processes; what it prints
is kept. It ends when its last line ran, or by `finish()`. It may import

    {imports}

For example:

```python
{example}
```
"""

EXAMPLES = {
    "Primitives": """\
step = next_step()
brick = find_brick(part="3001", colour="Red").bricks[0]
target = pose_on(brick.id, "plate", x_studs=2, y_studs=0)
placed = pick_and_place(brick.id, target.pose)
if not placed.ok:
    print(placed.reason)
home()""",
    "Generic": """\
home()
seen = cloud()
top = seen.points[seen.points[:, 2].argmax()]
above = [float(top[0]), float(top[1]), float(top[2]) + 0.1, 1.0, 0.0, 0.0, 0.0]
moved = move_to(above)
print(moved.ok, moved.reason)""",
}


def documentation(layer: type[Common], *, max_calls: int, imports: Collection[str]) -> str:
    """Markdown of a layer: rules, every call with its arguments and answer, every type that answers hold."""
    name, calls = layer.__name__, calls_of(layer).values()
    head = RULES.format(layer=name.lower(), summary=inspect.getdoc(layer) or "", max_calls=max_calls)
    programs = PROGRAMS.format(
        imports=textwrap.fill(", ".join(imports), 110, subsequent_indent="    "), example=EXAMPLES[name]
    )
    answers = dict.fromkeys(call.returns for call in calls)
    parts = [head, programs, "## Calls\n", *map(_call, calls), "## Answers\n", *map(_type, answers)]
    held = dict.fromkeys(kind for answer in answers for kind in _structs_in(answer))
    return "\n".join([*parts, "## What answers hold\n", *map(_type, held)]).rstrip() + "\n"


def _call(call: Call) -> str:
    """A call's heading, signature and docstring."""
    parameters = []
    for parameter in call.signature.parameters.values():
        text = f"{parameter.name}: {_written(call.hints[parameter.name])}"
        if parameter.default is not inspect.Parameter.empty:
            text += f" = {parameter.default!r}"
        parameters.append(text)
    signature = f"{call.name}({', '.join(parameters)}) -> {call.returns.__name__}"
    return f"### {call.name}\n\n```\n{signature}\n```\n\n{_as_list(call.doc)}\n"


def _type(kind: type[msgspec.Struct]) -> str:
    hints = typing.get_type_hints(kind)
    inherited = set(Answer.__struct_fields__) if issubclass(kind, Answer) else set()
    own = [f for f in kind.__struct_fields__ if f not in inherited]
    fields = "".join(f"- `{name}`: {_written(hints[name])}\n" for name in own)
    return f"### {kind.__name__}\n\n{_as_list(inspect.getdoc(kind) or '')}\n\n{fields}"


def _as_list(doc: str) -> str:
    """Docstring sections as Markdown lists."""
    lines = []
    for line in doc.splitlines():
        if re.fullmatch(r"(Args|Attributes):", line):
            continue
        entry = re.fullmatch(r"    (\S.*?): (.*)", line)
        if entry and not line.startswith("     "):
            lines.append(f"- {entry[1]}: {entry[2]}")
        else:
            lines.append(re.sub(r"^ {8}", "  ", line))
    return "\n".join(lines).rstrip()


def _written(hint: Any) -> str:
    text = hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
    for pattern, replacement in _TYPE_NAMES:
        text = re.sub(pattern, replacement, text)
    return text


def _structs_in(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """Structs that a struct's fields are made of, at any depth; the struct itself is not among them."""
    for hint in typing.get_type_hints(kind).values():
        for part in _parts(hint):
            if isinstance(part, type) and issubclass(part, msgspec.Struct):
                yield part
                yield from _structs_in(part)


def _parts(hint: Any) -> Iterator[Any]:
    yield hint
    for argument in typing.get_args(hint):
        yield from _parts(argument)
