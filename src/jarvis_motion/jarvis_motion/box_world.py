"""A roboplan scene of one robot and many boxes that come, go and move.

Adding a box to a scene is slow (it grows with the square of their number), moving one is fast, and a box that
was in the description the scene was made from costs next to nothing but can't be moved. So a bulk of boxes is
baked into the description; later changes switch baked boxes off and take boxes from a pool that is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.files import package_folder
from jarvis_robot.model import RobotModel
from roboplan import core
from scipy.spatial.transform import Rotation

_ROOT = "universe"
_GREY = np.array([0.5, 0.5, 0.5, 1.0])
#: Unused boxes wait far away, one metre apart: obstacles at one distance, boxes for the hand, which turn with the
#: tool and may be anywhere around it, at another, so that the two never meet.
_FAR_M = 1000.0
_FAR_OBSTACLES_M = 3 * _FAR_M

Boxes = Mapping[str, tuple[Box, ...]]


class BoxWorld:
    """Robot, obstacles and held boxes in one roboplan scene.

    Attributes:
        scene: the roboplan scene; another object after a rebuild, so it must not be kept.
        group: name of the arm's joint group in it.
    """

    group = "planned_arm"

    def __init__(self, robot: RobotModel, near_the_tool: Iterable[str], rebuild_above: int) -> None:
        self._robot = robot
        self._near_the_tool = tuple(near_the_tool)
        self._rebuild_above = rebuild_above
        self._colliders = [name for name, link in robot.links.items() if link.collisions]
        poses = robot.forward(np.array(robot.config.ready_rad))
        self._joint_to_tool = poses[robot.arm_joints[-1].child].inverse() @ poses[robot.config.tool_link]
        self._width_m = 0.0
        self._held: tuple[Box, ...] = ()
        self._build({})

    # -- obstacles

    def place(self, wanted: Boxes) -> None:
        """Make the obstacles those of ``wanted`` (id -> boxes in ``world``)."""
        gone = [name for name, boxes in self._placed.items() if wanted.get(name) != boxes]
        new = [name for name, boxes in wanted.items() if self._placed.get(name) != boxes]
        pooled = sum(len(boxes) for boxes in self._free.values())
        growth = sum(len(wanted[name]) for name in new) - pooled
        if max(growth, 0) + sum(name in self._baked for name in gone) > self._rebuild_above:
            self._build(wanted)
            return
        for name in gone:
            self._remove(name)
        for name in new:
            self._add(name, wanted[name])

    # -- robot

    def hold(self, boxes: Sequence[Box]) -> None:
        """Carry boxes, given in the tool frame, instead of those held so far."""
        for size, slots in self._held_slots.items():
            for slot in slots:
                self._move_held(slot, Pose((0.0, 0.0, _FAR_M + float(slot.split("_")[1]))), size)
        used: dict[tuple[float, ...], int] = {}
        for box in boxes:
            size = _size(box)
            index = used.get(size, 0)
            used[size] = index + 1
            slots = self._held_slots.setdefault(size, [])
            if index == len(slots):
                slots.append(self._new_held(size))
            self._move_held(slots[index], box.pose, size)
        self._held = tuple(boxes)

    def set_gripper_width(self, width_m: float) -> None:
        """Distance between the pads, for all later checks."""
        self._width_m = width_m
        self.scene.setJointPositions(self.full(np.array(self._robot.config.ready_rad)))

    def full(self, joints: FloatArray) -> FloatArray:
        """The scene's configuration vector for (n,) arm joints: the fingers added."""
        q = self._template.copy()
        q[self._arm_index] = joints
        q[self._finger_index] = self._width_m / 2
        return q

    def collides(self, joints: FloatArray) -> bool:
        """Whether anything touches anything it should not at (n,) joint positions."""
        return bool(self.scene.hasCollisions(self.full(joints)))

    # -- inside

    def _build(self, obstacles: Boxes) -> None:
        robot = self._robot
        links = {f"baked_{i}": name for i, name in enumerate(obstacles)}
        extra = "".join(
            _baked_link(link, obstacles[name], robot.config.base_link) for link, name in links.items()
        )
        urdf = robot.urdf.replace("</robot>", extra + "</robot>")
        packages = sorted(
            {
                shape.mesh.split("/")[2]
                for link in robot.links.values()
                for shape in (*link.visuals, *link.collisions)
                if shape.mesh
            }
        )
        folders = [package_folder(name).parent for name in packages]
        self.scene: Any = core.Scene(robot.config.name, core.loadUrdfSceneDescriptionFromXml(urdf, folders))
        self.scene.importSrdf(robot.srdf)
        self.scene.addGroup(self.group, list(robot.config.arm_joints))
        self._template: FloatArray = np.array(self.scene.getCurrentJointPositions())
        self._arm_index = np.array(self.scene.getJointPositionIndices(list(robot.config.arm_joints)))
        # The second finger mimics the first, so the scene has one position for both.
        self._finger_index = np.array(self.scene.getJointPositionIndices([robot.config.finger_joints[0]]))
        self._placed: dict[str, tuple[Box, ...]] = dict(obstacles)
        self._baked: dict[str, str] = {name: link for link, name in links.items()}
        self._slots: dict[str, list[tuple[str, tuple[float, ...]]]] = {}
        self._free: dict[tuple[float, ...], list[str]] = {}
        self._pool: list[str] = []
        self._held_slots: dict[tuple[float, ...], list[str]] = {}
        self._all_baked = list(links)
        self.set_gripper_width(self._width_m)
        self.hold(self._held)

    def _remove(self, name: str) -> None:
        del self._placed[name]
        link = self._baked.pop(name, None)
        if link is not None:
            self.scene.setCollisions([(link, other) for other in self._colliders], False)
            held = [slot for slots in self._held_slots.values() for slot in slots]
            self.scene.setCollisions([(link, slot) for slot in held], False)
        for slot, size in self._slots.pop(name, []):
            self._move(slot, Pose((0.0, 0.0, -_FAR_OBSTACLES_M - float(slot.split("_")[1]))))
            self._free.setdefault(size, []).append(slot)

    def _add(self, name: str, boxes: tuple[Box, ...]) -> None:
        slots = []
        for box in boxes:
            size = _size(box)
            waiting = self._free.get(size)
            slot = waiting.pop() if waiting else self._new_slot(size)
            self._move(slot, box.pose)
            slots.append((slot, size))
        self._slots[name] = slots
        self._placed[name] = boxes

    def _new_slot(self, size: tuple[float, ...]) -> str:
        slot = f"box_{len(self._pool)}"
        self.scene.addBoxGeometry(
            slot, _ROOT, core.Box(*size), _matrix(Pose((0.0, 0.0, -_FAR_OBSTACLES_M))), _GREY
        )
        others = [*self._pool, *self._all_baked, self._robot.config.base_link]
        self.scene.setCollisions([(slot, other) for other in others], False)
        self._pool.append(slot)
        return slot

    def _new_held(self, size: tuple[float, ...]) -> str:
        others = [slot for slots in self._held_slots.values() for slot in slots]
        slot = f"held_{len(others)}"
        frame = self._robot.config.tool_link
        self.scene.addBoxGeometry(slot, frame, core.Box(*size), _matrix(Pose((0.0, 0.0, _FAR_M))), _GREY)
        switched_off = [link for link in self._all_baked if link not in self._baked.values()]
        ignored = [*others, *self._near_the_tool, *switched_off]
        self.scene.setCollisions([(slot, other) for other in ignored], False)
        return slot

    def _move(self, slot: str, pose: Pose) -> None:
        self.scene.updateGeometryPlacement(slot, _ROOT, _matrix(pose))

    def _move_held(self, slot: str, in_tool: Pose, size: tuple[float, ...]) -> None:
        # The library takes placements relative to the joint that moves the named frame.
        place = _matrix(self._joint_to_tool @ in_tool)
        self.scene.updateGeometryPlacement(slot, self._robot.config.tool_link, place)


def _size(box: Box) -> tuple[float, ...]:
    return tuple(round(edge, 6) for edge in box.size_m)


def _matrix(pose: Pose) -> FloatArray:
    return np.asfortranarray(pose.matrix)


def _baked_link(link: str, boxes: tuple[Box, ...], parent: str) -> str:
    shapes = "".join(_collision(box) for box in boxes)
    return (
        f'<link name="{link}">{shapes}</link><joint name="{link}_joint" type="fixed">'
        f'<parent link="{parent}"/><child link="{link}"/></joint>'
    )


def _collision(box: Box) -> str:
    xyz = " ".join(f"{v:.9f}" for v in box.pose.position)
    # A box on its side has a pitch of 90 degrees, where one of many right triples of angles is as good as any.
    angles = Rotation.from_quat(box.pose.quaternion).as_euler("xyz", suppress_warnings=True)
    rpy = " ".join(f"{v:.9f}" for v in angles)
    size = " ".join(f"{v:.9f}" for v in _size(box))
    return (
        f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry><box size="{size}"/></geometry></collision>'
    )
