"""Reading a URDF (or xacro) file into plain data."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xacro
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray, Pose
from scipy.spatial.transform import Rotation


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass properties of a link.

    Attributes:
        mass_kg: mass.
        pose: of the centre of mass in the link frame; the inertia's axes are this pose's.
        inertia: (3, 3) kg m^2 about the centre of mass.
    """

    mass_kg: float
    pose: Pose
    inertia: FloatArray


@dataclass(frozen=True, slots=True)
class Shape:
    """A visual or collision shape: either a mesh or a box.

    Attributes:
        pose: of the shape in the link frame.
        mesh: the mesh's name as the URDF gives it (``package://...``), or None.
        scale: (x, y, z) of the mesh.
        size_m: full edge lengths (x, y, z) of a box, or None.
    """

    pose: Pose
    mesh: str | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    size_m: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid body. ``inertial`` is None for a mere frame."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Shape, ...]
    collisions: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between two links.

    Attributes:
        kind: ``fixed``, ``revolute`` or ``prismatic``.
        origin: pose of the joint (and of the child's frame at position 0) in the parent link's frame.
        axis: (3,) unit vector in the joint's frame.
        lower, upper: position limits, rad or m.
        velocity, effort: limits, rad/s and Nm, or m/s and N.
        mimic: name of the joint whose position this one copies, or None.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: FloatArray
    lower: float = 0.0
    upper: float = 0.0
    velocity: float = 0.0
    effort: float = 0.0
    mimic: str | None = None


def read_urdf(path: Path) -> str:
    """URDF text of a ``.xacro`` or ``.urdf`` file.

    Raises:
        BadInputError: the file can't be read, or xacro refuses it.
    """
    try:
        return str(xacro.process_file(str(path)).toxml())
    except (OSError, xacro.XacroException, ET.ParseError) as error:
        raise BadInputError(f"can't be expanded by xacro ({error})", where=str(path)) from error


def parse_urdf(text: str, *, where: str) -> tuple[dict[str, Link], tuple[Joint, ...]]:
    """Links by name, and joints ordered from the root outwards.

    Raises:
        BadInputError: no XML, an unsupported joint or shape, a bad number, or links that form no tree.
    """
    try:
        root = ET.fromstring(text)
        links = {element.attrib["name"]: _link(element) for element in root.findall("link")}
        joints = [_joint(element) for element in root.findall("joint")]
    except (ET.ParseError, KeyError, ValueError) as error:
        raise BadInputError(f"is no URDF this project can read ({error!r})", where=where) from error
    return links, _from_root(links, joints, where)


def _from_root(links: dict[str, Link], joints: list[Joint], where: str) -> tuple[Joint, ...]:
    children = {joint.child for joint in joints}
    known = [name for name in links if name not in children]
    if len(known) != 1:
        raise BadInputError(f"needs exactly one root link, found {known}", where=where)
    ordered: list[Joint] = []
    for name in known:  # grows while it is walked
        for joint in joints:
            if joint.parent == name:
                ordered.append(joint)
                known.append(joint.child)
    if len(known) != len(links):
        raise BadInputError("links and joints form no tree", where=where)
    return tuple(ordered)


def _numbers(text: str, count: int) -> list[float]:
    values = [float(word) for word in text.split()]
    if len(values) != count:
        raise ValueError(f"expected {count} numbers, got {text!r}")
    return values


def _pose(element: ET.Element | None) -> Pose:
    if element is None:
        return Pose()
    roll_pitch_yaw = _numbers(element.get("rpy", "0 0 0"), 3)
    return Pose(
        _numbers(element.get("xyz", "0 0 0"), 3),
        Rotation.from_euler("xyz", roll_pitch_yaw).as_quat(canonical=True),
    )


def _link(element: ET.Element) -> Link:
    return Link(
        element.attrib["name"],
        _inertial(element.find("inertial")),
        tuple(_shape(e) for e in element.findall("visual")),
        tuple(_shape(e) for e in element.findall("collision")),
    )


def _inertial(element: ET.Element | None) -> Inertial | None:
    if element is None:
        return None
    mass, inertia = element.find("mass"), element.find("inertia")
    if mass is None or inertia is None:
        raise ValueError("an inertial needs mass and inertia")
    xx, xy, xz, yy, yz, zz = (
        float(inertia.attrib[f"i{axes}"]) for axes in ("xx", "xy", "xz", "yy", "yz", "zz")
    )
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertial(float(mass.attrib["value"]), _pose(element.find("origin")), matrix)


def _shape(element: ET.Element) -> Shape:
    pose = _pose(element.find("origin"))
    mesh, box = element.find("geometry/mesh"), element.find("geometry/box")
    if mesh is not None:
        x, y, z = _numbers(mesh.get("scale", "1 1 1"), 3)
        return Shape(pose, mesh=mesh.attrib["filename"], scale=(x, y, z))
    if box is not None:
        x, y, z = _numbers(box.attrib["size"], 3)
        return Shape(pose, size_m=(x, y, z))
    raise ValueError("only mesh and box shapes are supported")


def _joint(element: ET.Element) -> Joint:
    kind = element.attrib["type"]
    if kind not in ("fixed", "revolute", "prismatic"):
        raise ValueError(f"joint type {kind!r} is not supported")
    parent, child = element.find("parent"), element.find("child")
    if parent is None or child is None:
        raise ValueError(f"joint {element.attrib['name']!r} needs parent and child")
    axis_element, limit, mimic = element.find("axis"), element.find("limit"), element.find("mimic")
    axis = np.array(_numbers(axis_element.attrib["xyz"] if axis_element is not None else "1 0 0", 3))
    limits = {key: float(value) for key, value in (limit.attrib if limit is not None else {}).items()}
    return Joint(
        name=element.attrib["name"],
        kind=kind,
        parent=parent.attrib["link"],
        child=child.attrib["link"],
        origin=_pose(element.find("origin")),
        axis=axis / np.linalg.norm(axis),
        mimic=mimic.attrib["joint"] if mimic is not None else None,
        **limits,
    )
