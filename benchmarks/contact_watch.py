"""What robot and held brick touch though they should not, as the simulator's own contacts have it."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Self

import msgspec
import mujoco
from jarvis_core.objects import GROUND
from jarvis_sim.engine import Engine
from jarvis_sim.world import SimWorld

TABLE = "table"
#: From here on a brick has left what it lay on, and may touch what it is joined to.
_CARRYING = "transfer"


class Touch(msgspec.Struct):
    """An unexpected contact.

    Attributes:
        what: both sides, and the skill's phase, in words.
        force_n: largest normal force of one of its points, newton.
        steps: of the simulator's, with this contact.
    """

    what: str
    force_n: float = 0.0
    steps: int = 0


class ContactWatch:
    """Looks at every step while one brick is picked and placed; a context manager.

    Expected are contacts of the robot with that brick, and of the brick in the hand with what it lay on (until it is
    carried away) and with what it is to be joined to (from then on). Any other contact of the two is not. What the
    robot's own links touch of each other is left out.

    Args:
        robot: names of the robot's links.
        brick: the one to place.
        joined: ids of what it will be connected to.
    """

    def __init__(self, world: SimWorld, robot: Iterable[str], brick: str, joined: Iterable[str]) -> None:
        self._world = world
        self._robot = frozenset(robot)
        self._brick = brick
        self._joined = frozenset(joined)
        self._scene = frozenset(brick.id for brick in world.task.scene)
        self._phase = ""
        self._carried = False
        self._engine: Engine | None = None
        self._names: list[str] = []
        self._seen: set[str] = set()
        self.found: dict[str, Touch] = {}

    def __enter__(self) -> Self:
        self._handle = self._world.add_observer(self._world.timestep_s, self._look)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._world.remove_observer(self._handle)

    def on_phase(self, phase: str) -> None:
        """To be told by the skills."""
        self._phase = phase
        self._seen.add(phase)
        self._carried = phase == _CARRYING or (self._carried and phase != "approach")

    @property
    def moved(self) -> bool:
        """Whether any phase came in which something moves."""
        return bool(self._seen - {"plan_grasp"})

    def _look(self) -> None:
        engine = self._world.engine
        if engine is not self._engine:  # bricks that come off a structure make another one
            self._engine, self._names = engine, _names_of(engine)
        geoms, _ = engine.touching()
        held: bool | None = None
        counted: set[str] = set()
        for number, (one, other) in enumerate(geoms):
            first, second = self._names[one], self._names[other]
            if second in self._robot:
                first, second = second, first
            if first in self._robot:
                if second in self._robot or second == self._brick:
                    continue
                who = first
            elif self._brick in (first, second):
                second = second if first == self._brick else first
                held = self._world.is_held(self._brick) if held is None else held
                if not held or second in self._allowed():
                    continue
                who = "held brick"
            else:
                continue
            what = f"{who} - {self._kind(second)} ({self._phase})"
            touch = self.found.setdefault(what, Touch(what))
            touch.force_n = max(touch.force_n, float(engine.contacts().forces[number]))
            touch.steps += what not in counted
            counted.add(what)

    def _allowed(self) -> frozenset[str]:
        return self._joined if self._carried else frozenset((TABLE,))

    def _kind(self, name: str) -> str:
        if name in self._scene:
            return "structure"
        return name if name in (TABLE, GROUND, "floor") else "loose brick"


def _names_of(engine: Engine) -> list[str]:
    """What each geom belongs to: the name of its body, or of the brick that is baked into the world."""
    model = engine.model
    named: list[str] = []
    for geom in range(model.ngeom):
        body = int(model.geom_bodyid[geom])
        own = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) or ""
        named.append(str(model.body(body).name) if body else own.rpartition(" ")[0])
    return named
