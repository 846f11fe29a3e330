"""A layer is a class; its public methods are the calls. Signatures and docstrings are all that describes them."""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode_hook
from jarvis_core.pose import Pose

from jarvis_agent.api.answers import Answer

#: What the schema of a pose says.
POSE_SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 7,
    "maxItems": 7,
    "description": "[x, y, z, qx, qy, qz, qw]: metres and a unit quaternion, frame world",
}


@dataclass(frozen=True)
class Call:
    """One call of a layer.

    Attributes:
        name: of the method.
        doc: its docstring, dedented.
        signature: without self.
        returns: type of the answer.
        hints: types of parameters by name.
    """

    name: str
    doc: str
    signature: inspect.Signature
    returns: type[Answer]
    hints: dict[str, Any]

    @classmethod
    def of(cls, method: Any) -> Call:
        signature = inspect.signature(method)
        own = [p for name, p in signature.parameters.items() if name != "self"]
        hints = typing.get_type_hints(method)
        return cls(
            method.__name__,
            inspect.getdoc(method) or "",
            signature.replace(parameters=own),
            hints["return"],
            hints,
        )

    @property
    def summary(self) -> str:
        """The docstring's first line."""
        return self.doc.split("\n", 1)[0]

    @cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """A struct with one field a parameter: what arguments are checked against."""
        fields: list[Any] = []
        for parameter in self.signature.parameters.values():
            kind = self.hints[parameter.name]
            has_default = parameter.default is not inspect.Parameter.empty
            fields.append(
                (parameter.name, kind, parameter.default) if has_default else (parameter.name, kind)
            )
        return msgspec.defstruct(self.name, fields, kw_only=True, forbid_unknown_fields=True)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        (_, components) = msgspec.json.schema_components([self.arguments], schema_hook=_schema_hook)
        schema: dict[str, Any] = components[self.name]
        return {key: value for key, value in schema.items() if key != "title"}

    def convert(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Arguments as the method takes them.

        Raises:
            BadInputError: one is unknown, missing or of the wrong kind.
        """
        try:
            found = msgspec.convert(arguments, self.arguments, dec_hook=decode_hook)
        except (msgspec.ValidationError, ValueError, TypeError) as error:
            raise BadInputError(str(error), where=self.usage) from error
        return {name: getattr(found, name) for name in self.signature.parameters}

    @property
    def usage(self) -> str:
        """``name(parameter, parameter=default)``, for messages."""
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in self.signature.parameters.values()]
        return f"{self.name}{inspect.Signature(bare)}"

    def as_function(self) -> dict[str, Any]:
        """What ``cage.inside.client`` makes a function of."""
        parameters = [
            {
                "name": p.name,
                "required": p.default is inspect.Parameter.empty,
                "default": None if p.default is inspect.Parameter.empty else p.default,
            }
            for p in self.signature.parameters.values()
        ]
        return {"name": self.name, "doc": self.doc, "parameters": parameters}


def calls_of(layer: type) -> dict[str, Call]:
    """All calls of a layer, by name, in the order in which they are written, those it inherits first."""
    found: dict[str, Call] = {}
    for kind in reversed(layer.__mro__[:-1]):
        for name, method in vars(kind).items():
            if not name.startswith("_") and inspect.isfunction(method):
                found[name] = Call.of(method)
    return found


def _schema_hook(kind: type) -> dict[str, Any]:
    if kind is Pose:
        return POSE_SCHEMA
    raise NotImplementedError(f"{kind} has no schema")
