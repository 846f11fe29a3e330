"""What can be said of a program before it runs. Kindness, not a wall: the wall is the cage."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from jarvis_core.errors import BadInputError

#: Built-ins that reach beyond what a program is given.
_FORBIDDEN_CALLS = {"exec", "eval", "compile", "open", "input", "breakpoint", "__import__", "globals", "vars"}
#: Attributes by which Python's insides are reached.
_FORBIDDEN_ATTRIBUTES = {
    "__globals__", "__builtins__", "__subclasses__", "__bases__", "__base__", "__mro__", "__code__", "__closure__",
    "__loader__", "__spec__", "__reduce__", "__reduce_ex__", "__getattribute__", "__dict__", "f_globals", "f_locals",
    "f_back", "tb_frame", "gi_frame", "cr_frame",
}  # fmt: skip


def check_program(source: str, api: Collection[str], imports: Collection[str], *, where: str) -> None:
    """Refuse a program that can't work or breaks the rules.

    Args:
        api: names of the calls, which it may not define anew.
        imports: top-level modules it may import.

    Raises:
        BadInputError: with every fault found and its line.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise BadInputError(
            f"not a Python program ({error})", where=f"{where}:{line}" if line else where
        ) from error
    faults = sorted(set(_faults(tree, api, imports)))
    if faults:
        words = "; ".join(f"line {line}: {what}" for line, what in faults)
        raise BadInputError(words, where=where, fix="see `jarvis agent docs` for what a program may do")


def _faults(tree: ast.Module, api: Collection[str], imports: Collection[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        for module in _imported(node):
            if module.split(".")[0] not in imports:
                yield line, f"{module} can't be imported; there are {', '.join(sorted(imports))}"
        for name in _bound(node):
            if name in api:
                yield line, f"{name} is a call of the API and can't be defined anew; choose another name"
            elif name == "__builtins__":
                yield line, "__builtins__ can't be changed"
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _FORBIDDEN_CALLS
        ):
            yield line, f"{node.func.id}() is not for programs"
        if isinstance(node, ast.Attribute) and node.attr in _FORBIDDEN_ATTRIBUTES:
            yield line, f"{node.attr} is not for programs"
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _root(node) in api:
            yield line, f"{_root(node)} is a call of the API and can't be changed"


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield "." * node.level + (node.module or "")


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a node binds: definitions, assignments, loops, parameters, imports, handlers, patterns."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names


def _root(node: ast.Attribute) -> str:
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""
