"""What the cell needs of Isaac Sim: the port that ``api.py`` fills, and fakes in tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray, Pose

#: For ``Fasteners.strengthen``: the joint holds whatever pulls at it.
UNBREAKABLE = float("inf")


@dataclass(frozen=True, slots=True)
class Touch:
    """One contact point of a loose brick.

    Attributes:
        brick: id of the loose brick.
        other: id of the brick it touches, GROUND, or the path of a prim that is neither.
        force: (3,) newton in ``world`` that the other one exerts on the brick, without friction.
    """

    brick: str
    other: str
    force: FloatArray


class App(Protocol):
    """As much of Isaac Sim's ``SimulationApp`` as is used."""

    def update(self) -> None: ...

    def is_running(self) -> bool: ...


class Fasteners(Protocol):
    """Fixed joints between bricks."""

    def fasten(self, upper: str, lower: str, relative: Pose, anchor: FloatArray) -> str:
        """Join a brick to what is below it at ``relative`` (upper in the lower's frame); gives the joint's name.

        Args:
            anchor: (3,) in the upper's frame, the point at which forces and moments are measured.
        """

    def move(self, joint: str, relative: Pose, anchor: FloatArray) -> None:
        """Change the pose a joint holds."""

    def strengthen(self, joint: str, force_n: float, torque_nm: float) -> None:
        """What breaks a joint; UNBREAKABLE for nothing."""

    def loosen(self, joint: str) -> None:
        """Take a joint away, whole or broken."""


@dataclass(frozen=True, slots=True)
class Handles:
    """What of an opened scene is commanded and measured.

    Attributes:
        dofs: names of the robot's joints: the arm's, then the two fingers'.
        bricks: prim path of every loose brick, by id.
        others: id by prim path of all else that has studs (structure, plate).
        fixed: pose in ``world`` of all else that has studs, by id.
        cameras: (width, height) by name.
    """

    dofs: tuple[str, ...]
    bricks: dict[str, str]
    others: dict[str, str]
    fixed: dict[str, Pose]
    cameras: dict[str, tuple[int, int]]


class Simulator(Fasteners, Protocol):
    """Isaac Sim with one scene open. Belongs to one thread: the process's main thread."""

    def robot_address(self) -> str:
        """Full address of the robot's asset."""

    def open(self, scene: Path, handles: Handles) -> None:
        """Open a scene and make it ready to step."""

    def step(self) -> None:
        """One step of physics; nothing is drawn."""

    def render(self) -> None:
        """Draw a frame; no time passes."""

    def dofs(self) -> tuple[FloatArray, FloatArray]:
        """(n + 2,) measured positions and velocities: rad, m and seconds."""

    def drive(self, positions: FloatArray, velocities: FloatArray) -> None:
        """(n + 2,) targets of the joints' drives."""

    def limit_grip(self, force_n: float) -> None:
        """Largest force of each finger."""

    def place_dofs(self, positions: FloatArray) -> None:
        """Put the robot somewhere at once, at rest."""

    def poses(self) -> dict[str, Pose]:
        """Pose of every loose brick in ``world``."""

    def place(self, poses: dict[str, Pose]) -> None:
        """Put loose bricks somewhere at once, at rest."""

    def touches(self) -> Sequence[Touch]:
        """Contacts of the loose bricks in the last step."""

    def capture(self, camera: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
        """(h, w, 3) colours and (h, w) distance along the optical axis in metres, 0 where unknown."""

    def is_running(self) -> bool:
        """Whether nobody has closed the window."""
