"""Fixed joints of the stud clutch on a live stage."""

from __future__ import annotations

from collections.abc import Mapping

from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.isaac.scene import WORLD  # says if pxr is absent

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics  # isort: skip

JOINTS = WORLD.AppendChild("joints")


class UsdFasteners:
    """``Fasteners`` by UsdPhysics.FixedJoint prims, which PhysX follows while it runs.

    Args:
        bricks: prim path of every loose brick, by id.
        fixed: pose in ``world`` of everything else, by id: joints to it are joints to the world.
    """

    def __init__(self, stage: Usd.Stage, bricks: Mapping[str, str], fixed: Mapping[str, Pose]) -> None:
        self._stage = stage
        self._bricks = dict(bricks)
        self._fixed = dict(fixed)
        self._lower: dict[str, str] = {}
        self._count = 0
        UsdGeom.Scope.Define(stage, JOINTS)

    def fasten(self, upper: str, lower: str, relative: Pose, anchor: FloatArray) -> str:
        self._count += 1
        path = JOINTS.AppendChild(f"joint_{self._count}")
        with Sdf.ChangeBlock():  # PhysX must not see a joint half made
            spec = Sdf.CreatePrimInLayer(self._stage.GetEditTarget().GetLayer(), path)
            spec.specifier, spec.typeName = Sdf.SpecifierDef, "PhysicsFixedJoint"
        joint = UsdPhysics.FixedJoint(self._stage.GetPrimAtPath(path))
        self._lower[str(path)] = lower
        self.move(str(path), relative, anchor)
        joint.CreateExcludeFromArticulationAttr(True)
        joint.CreateCollisionEnabledAttr(True)  # what presses on a brick goes through its contacts as before
        if lower in self._bricks:
            joint.CreateBody0Rel().SetTargets([self._bricks[lower]])
        joint.CreateBody1Rel().SetTargets([self._bricks[upper]])
        return str(path)

    def move(self, joint: str, relative: Pose, anchor: FloatArray) -> None:
        prim = UsdPhysics.FixedJoint(self._stage.GetPrimAtPath(joint))
        frame = self._fixed.get(self._lower[joint])
        held = relative if frame is None else frame @ relative
        x, y, z, w = held.quaternion.tolist()
        with Sdf.ChangeBlock():
            prim.CreateLocalPos0Attr(Gf.Vec3f(*(held @ anchor).tolist()))
            prim.CreateLocalRot0Attr(Gf.Quatf(w, x, y, z))
            prim.CreateLocalPos1Attr(Gf.Vec3f(*anchor.tolist()))
            prim.CreateLocalRot1Attr(Gf.Quatf(1.0))

    def strengthen(self, joint: str, force_n: float, torque_nm: float) -> None:
        prim = UsdPhysics.FixedJoint(self._stage.GetPrimAtPath(joint))
        prim.CreateBreakForceAttr(force_n)
        prim.CreateBreakTorqueAttr(torque_nm)

    def loosen(self, joint: str) -> None:
        self._stage.RemovePrim(joint)
        del self._lower[joint]
