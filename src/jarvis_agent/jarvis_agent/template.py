"""The beginning of a policy of one's own: a package that this workspace finds by its entry point."""

from __future__ import annotations

import keyword
from pathlib import Path

from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.files import write_text

#: Entry points by which policies are found.
GROUP = "jarvis.policies"

PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.12"

[project.entry-points."jarvis.policies"]
{name} = "{name}:{kind}"

[tool.setuptools]
py-modules = ["{name}"]
"""

MODULE = '''\
"""A policy for the JARVIS assembly workspace."""

from __future__ import annotations

from jarvis_core.ports import Tools


class {kind}:
    """Puts nothing in its place yet. Runs in the harness's own process, uncaged, and every record says so."""

    name = "{name}"
    privileged = False

    def run(self, tools: Tools) -> None:
        brief = tools.brief()
        print(f"{{brief.n_required}} bricks, {{len(brief.manual.pages) - 1}} steps")
        seen = tools.observe()
        print(f"the top camera sees {{seen.camera.rgb.shape}}")
        # Find bricks in the picture, decide where they belong, then for each of them:
        # result = tools.pick_and_place(brick_id, pose); look at result.ok and result.message.
        tools.home()
'''

README = """\
# {name}

A policy for the JARVIS assembly workspace. `{name}.py` is all there is; `jarvis_core.ports.Tools` lists what it
may call.

    pip install --no-deps -e .      # into the workspace's environment
    jarvis run TASK --agent {name} --sees perceived
"""


def write_template(name: str, where: Path) -> Path:
    """Write the package into ``where/name``; returns that folder.

    Raises:
        BadInputError: the name is no name of a Python module.
        RefusedError: the folder is there already.
    """
    if not (name.isidentifier() and name.isascii() and name.islower()) or keyword.iskeyword(name):
        raise BadInputError(f"{name!r} is no name for a policy", fix="use small letters, digits and _")
    folder = where / name
    if folder.exists():
        raise RefusedError("is there already", where=str(folder), fix="choose another name or --out")
    words = {"name": name, "kind": "".join(part.capitalize() for part in name.split("_"))}
    for file, text in (("pyproject.toml", PYPROJECT), (f"{name}.py", MODULE), ("README.md", README)):
        write_text(folder / file, text.format(**words))
    return folder
