"""The robot: links, drives, gripper and pads, from a RobotModel."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from jarvis_core.errors import ConfigError
from jarvis_core.objects import Box
from jarvis_core.observation import RobotState, Wrench
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.meshes import ColouredMesh, simplified
from jarvis_robot.model import RobotModel
from jarvis_robot.urdf import Joint, Link, Shape

from jarvis_sim.config import ArmConfig, ContactConfig, GripperDriveConfig
from jarvis_sim.control import ArmController
from jarvis_sim.creep import CreepCorrection
from jarvis_sim.engine import Engine, PassiveComponent, WorldError
from jarvis_sim.gripper_control import GripperController
from jarvis_sim.shapes import COLLISION_GROUP, ROBOT, ROBOT_LOOKS_GROUP, add_box, material, surface, to_mujoco

#: What is in the gripper is looked up this often.
_SAMPLE_S = 0.01
_PAD_PRIORITY = 2
_TOOL_SITE = "tool"
#: Below this speed of the joints nothing that is gripped creeps.
_STANDING_RAD_S = 0.01
#: MuJoCo's solver parameters of joint limits and of the fingers' coupling: as stiff as the time step allows.
_STIFF, _STIFF_IMPEDANCE = [0.004, 1.0], [0.999, 0.9999, 0.001, 0.5, 2.0]


class Arm(PassiveComponent):
    """An arm with a parallel gripper, standing with its base link at the world's origin.

    Attributes:
        robot: the model it was made from.
        controller, gripper: take commands; the arm runs them every step.
    """

    name = "arm"

    def __init__(
        self,
        robot: RobotModel,
        arm: ArmConfig,
        drive: GripperDriveConfig,
        contact: ContactConfig,
        detail: float = 1.0,
    ) -> None:
        self.robot = robot
        self._detail = detail
        self._config = arm
        self._drive = drive
        self._contact = contact
        gripper = robot.config.gripper
        self.controller = ArmController(robot.config.arm_joints, robot.limits, arm, arm.control_s)
        self.gripper = GripperController(
            gripper.max_width_m, gripper.force_n, gripper.open_speed_m_s, drive, arm.control_s
        )
        self._held: frozenset[int] = frozenset()
        self._external = np.zeros(robot.n_joints)

    def build(self, spec: mujoco.MjSpec) -> None:
        bodies = {self.robot.config.base_link: spec.worldbody.add_body(name=self.robot.config.base_link)}
        for joint in self.robot.joints:
            body = bodies[joint.parent].add_body(
                name=joint.child, pos=joint.origin.position, quat=to_mujoco(joint.origin)
            )
            bodies[joint.child] = body
            self._add_joint(body, joint)
        for name, body in bodies.items():
            body.gravcomp = 1.0
            self._add_link(spec, body, self.robot.links[name])
        bodies[self.robot.config.tool_link].add_site(name=_TOOL_SITE, size=[0.002] * 3, group=COLLISION_GROUP)
        self._add_drives(spec)

    def bind(self, engine: Engine) -> None:
        self._engine = engine
        model = engine.model
        data, joints = engine.data, [model.joint(j.name) for j in self.robot.arm_joints]
        fingers = [model.joint(j.name) for j in self.robot.finger_joints]
        self._dofs = _run([int(j.dofadr[0]) for j in joints])
        finger_dofs = _run([int(j.dofadr[0]) for j in fingers])
        # Views: the engine's arrays stay where they are.
        self._qpos, self._qvel = (
            data.qpos[_run([int(j.qposadr[0]) for j in joints])],
            data.qvel[self._dofs],
        )
        self._finger_qpos = data.qpos[_run([int(j.qposadr[0]) for j in fingers])]
        self._finger_qvel = data.qvel[finger_dofs]
        controls = _run([int(model.actuator(j.name).id) for j in self.robot.arm_joints])
        self._torque = data.ctrl[controls]
        self._bias, self._gravity = data.qfrc_bias[self._dofs], data.qfrc_gravcomp[self._dofs]
        self._constraint = data.qfrc_constraint[self._dofs]
        self._external_share = engine.timestep_s / (engine.timestep_s + self._config.wrench_filter_s)
        self._acceleration, self._inertial = np.zeros((2, model.nv))
        self._demand, self._arm_inertial = self._acceleration[self._dofs], self._inertial[self._dofs]
        omega = self._config.bandwidth_rad_s
        self._stiffness, self._damping = omega**2, 2 * self._config.damping_ratio * omega
        self._controls = data.ctrl
        self._gripper_control = int(model.actuator("gripper").id)
        self._pads = tuple(int(model.geom(f"pad {i}").id) for i in range(2))
        hand = engine.body(self.robot.config.hand_link)
        self._creep = CreepCorrection(engine, self._drive.pad, self._pads, hand, self._dofs)
        self._site = int(model.site(_TOOL_SITE).id)
        self._every = engine.steps_in(_SAMPLE_S)
        self._control_every = _steps_exactly(self._config.control_s, engine)

    def reset(self) -> None:
        home = np.array(self.robot.config.home_rad)
        width = self.robot.config.gripper.max_width_m
        self.place(home, width)
        self._held = frozenset()
        self._external[:] = 0.0

    def place(self, joints: FloatArray, width_m: float) -> None:
        """Put the robot somewhere at once, at rest (initial states and tests)."""
        self._qpos[:], self._qvel[:] = joints, 0.0
        self._finger_qpos[:], self._finger_qvel[:] = width_m / 2, 0.0
        self._engine.moved()
        self.controller.hold(np.array(joints))
        self.gripper.hold(width_m)

    def before_solve(self) -> None:
        """Drive joints and fingers; inertia and bias forces are those of this very step."""
        if self._engine.steps % self._control_every == 0:
            self._drive_joints()
            fingers, speed = self._finger_qpos, self._finger_qvel
            setpoint = self.gripper.update(float(fingers[0] + fingers[1]), float(speed[0] + speed[1]))
            self._controls[self._gripper_control] = setpoint
        if self._held and self._qvel.dot(self._qvel) > _STANDING_RAD_S**2:
            self._creep.apply()

    def _drive_joints(self) -> None:
        """Computed torque: inertia times the wanted acceleration, corrected by position and velocity errors.

        Not MuJoCo's position drives: they know nothing of the inertia, which the arm's posture changes.
        """
        joints, speeds = self._qpos, self._qvel
        wanted = self.controller.update(joints, speeds)
        demand = self._demand
        np.subtract(wanted.position, joints, out=demand)
        demand *= self._stiffness
        demand += self._damping * (wanted.velocity - speeds)
        demand += wanted.acceleration
        mujoco.mj_mulM(self._engine.model, self._engine.data, self._inertial, self._acceleration)
        # Bias forces less gravity, which every link's compensation takes care of.
        np.add(self._arm_inertial, self._bias, out=self._torque)
        self._torque -= self._gravity

    def after_step(self) -> None:
        self._external += self._external_share * (self._constraint - self._external)
        if self._engine.steps % self._every == 0:
            self._held = self._between_pads()
            # What hangs still in the hand must not be found asleep when the hand lets go: it would float.
            for body in self._held:
                if body < self._engine.model.nbody:
                    self._engine.sleep.keep_awake(body)

    def save(self) -> Any:
        return {
            "arm": self.controller.save(),
            "gripper": self.gripper.save(),
            "held": sorted(self._held),
            "external": self._external.tolist(),
        }

    def load(self, state: Any) -> None:
        self.controller.load(state["arm"])
        self.gripper.load(state["gripper"])
        self._held = frozenset(state["held"])
        self._external[:] = state["external"]

    @property
    def joints(self) -> FloatArray:
        """(n,) measured joint positions, rad."""
        joints: FloatArray = self._qpos.copy()
        return joints

    @property
    def width_m(self) -> float:
        """Measured distance between the pads."""
        return float(self._finger_qpos[0] + self._finger_qpos[1])

    def tool(self) -> Pose:
        """Pose of the tool frame in ``world``."""
        self._engine.sync()
        data = self._engine.data
        return Pose.from_rotation(data.site_xpos[self._site], data.site_xmat[self._site].reshape(3, 3))

    def state(self) -> RobotState:
        return RobotState(self._engine.time_s, tuple(self.joints.tolist()), self.width_m, self.tool())

    def wrench(self) -> Wrench:
        """As a real arm estimates it from torques its own model can't explain: the F whose J^T F is nearest to them.

        Weight and inertia of what the hand holds are part of it.
        """
        self._engine.sync()
        model, data = self._engine.model, self._engine.data
        jacobian = np.zeros((6, model.nv))
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], self._site)
        found = np.linalg.lstsq(jacobian[:, self._dofs].T, self._external, rcond=None)[0].tolist()
        return Wrench(self._engine.time_s, (found[0], found[1], found[2]), (found[3], found[4], found[5]))

    @property
    def held(self) -> frozenset[int]:
        """What both pads touch, as ``Engine.owners`` calls it."""
        return self._held

    def holds(self, body: int) -> bool:
        """Whether both pads touch a body."""
        return body in self._held

    def _between_pads(self) -> frozenset[int]:
        geoms, owners = self._engine.touching()
        if not geoms:
            return frozenset()
        first, second = self._pads
        by_first, by_second = set(), set()
        for (one, other), (owner, others) in zip(geoms, owners, strict=True):
            if one == first or other == first:
                by_first.add(others if one == first else owner)
            elif one == second or other == second:
                by_second.add(others if one == second else owner)
        return frozenset(by_first & by_second)

    def _add_joint(self, body: mujoco.MjsBody, joint: Joint) -> None:
        if joint.kind == "fixed":
            return
        kinds = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}
        finger = joint.name in self.robot.config.finger_joints
        body.add_joint(
            name=joint.name,
            type=kinds[joint.kind],
            axis=joint.axis,
            range=[joint.lower, joint.upper],
            limited=mujoco.mjtLimited.mjLIMITED_TRUE,
            armature=self._drive.armature_kg if finger else self._config.armature,
            solref_limit=_STIFF,
            solimp_limit=_STIFF_IMPEDANCE,
        )

    def _add_link(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, link: Link) -> None:
        if link.inertial is not None and link.inertial.mass_kg > 0.0:
            turn = link.inertial.pose.rotation
            inertia = turn @ link.inertial.inertia @ turn.T
            body.explicitinertial = True
            body.mass = link.inertial.mass_kg
            body.ipos = link.inertial.pose.position
            body.fullinertia = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        pad = self._pad_of(link)
        for i, shape in enumerate(link.collisions):
            if shape is pad:
                geom = add_box(body, _box_of(shape), self._drive.pad, ROBOT)
                geom.name, geom.priority = f"pad {self._finger_index(link)}", _PAD_PRIORITY
            else:
                self._add_collision(spec, body, shape, f"{link.name} {i}")
        for i, (pose, mesh) in enumerate(self.robot.visual_meshes(link.name)):
            _add_look(spec, body, pose, simplified(mesh, self._detail), f"{link.name} look {i}")

    def _finger_index(self, link: Link) -> int:
        return [joint.child for joint in self.robot.finger_joints].index(link.name)

    def _pad_of(self, link: Link) -> Shape | None:
        """The collision box at a finger's tip: the one that reaches farthest out of the hand."""
        if link.name not in (joint.child for joint in self.robot.finger_joints):
            return None
        boxes = [shape for shape in link.collisions if shape.size_m is not None]
        if not boxes:
            raise ConfigError(
                f"finger {link.name!r} has no collision box for its pad", where=self.robot.config.urdf
            )
        return max(boxes, key=lambda shape: float(shape.pose.position[2]) + _box_of(shape).size_m[2] / 2)

    def _add_collision(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, shape: Shape, name: str) -> None:
        if shape.size_m is not None:
            add_box(body, _box_of(shape), self._contact, ROBOT)
            return
        spec.add_mesh(name=name, file=str(self.robot.mesh_path(shape)), scale=shape.scale)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, pos=shape.pose.position, quat=to_mujoco(shape.pose),
            group=COLLISION_GROUP, mass=0.0, **surface(self._contact, ROBOT),
        )  # fmt: skip

    def _add_drives(self, spec: mujoco.MjSpec) -> None:
        for joint, effort in zip(self.robot.arm_joints, self.robot.limits.effort, strict=True):
            motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            motor.gainprm[0] = 1.0
            _limit_force(motor, float(effort))
        first, second = (joint.name for joint in self.robot.finger_joints)
        width = spec.add_tendon(name="gripper width")
        width.wrap_joint(first, 1.0)
        width.wrap_joint(second, 1.0)
        force = self.robot.config.gripper.force_n
        self._add_gripper_servo(spec, force)
        mimic = spec.add_equality(
            name="mimic", type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1=second, name2=first,
            active=True, solref=_STIFF, solimp=_STIFF_IMPEDANCE,
        )  # fmt: skip
        mimic.data[:5] = [0.0, 1.0, 0.0, 0.0, 0.0]

    def _add_gripper_servo(self, spec: mujoco.MjSpec, force: float) -> None:
        """A position drive of the width: force = kp (setpoint - width) - kv speed, limited."""
        servo = spec.add_actuator(name="gripper", target="gripper width", trntype=mujoco.mjtTrn.mjTRN_TENDON)
        servo.gaintype = mujoco.mjtGain.mjGAIN_FIXED
        servo.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        servo.gainprm[0] = self._drive.kp
        servo.biasprm[1], servo.biasprm[2] = -self._drive.kp, -self._drive.kv
        _limit_force(servo, force)


def _box_of(shape: Shape) -> Box:
    if shape.size_m is None:
        raise ValueError("the shape is a mesh, not a box")
    return Box(shape.pose, shape.size_m)


def _limit_force(actuator: mujoco.MjsActuator, force: float) -> None:
    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
    actuator.forcerange = [-force, force]


def _steps_exactly(seconds: float, engine: Engine) -> int:
    steps = engine.steps_in(seconds)
    if abs(steps * engine.timestep_s - seconds) > 1e-9:
        raise ConfigError(
            f"{seconds:g} s is no whole number of time steps", where="arm.control_s",
            fix=f"choose a multiple of engine.timestep_s, {engine.timestep_s:g} s",
        )  # fmt: skip
    return steps


def _run(indices: list[int]) -> slice:
    """Consecutive indices as a slice: reading and writing through it copies nothing."""
    if indices != list(range(indices[0], indices[0] + len(indices))):
        raise WorldError(f"joints or actuators of the arm do not follow one another: {indices}")
    return slice(indices[0], indices[0] + len(indices))


def _add_look(spec: mujoco.MjSpec, body: mujoco.MjsBody, pose: Pose, mesh: ColouredMesh, name: str) -> None:
    paint = "robot " + " ".join(f"{value:.3f}" for value in mesh.rgba)
    if spec.material(paint) is None:
        material(spec, paint, mesh.rgba, shine=0.4)
    spec.add_mesh(
        name=name,
        uservert=mesh.vertices.astype(np.float64).ravel(),
        userface=mesh.triangles.ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, pos=pose.position, quat=to_mujoco(pose), material=paint,
        group=ROBOT_LOOKS_GROUP, contype=0, conaffinity=0, mass=0.0,
    )  # fmt: skip
