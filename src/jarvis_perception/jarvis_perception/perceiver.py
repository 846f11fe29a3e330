"""``jarvis_core.ports.Perception`` by classical vision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import PLATE_HEIGHT_M
from jarvis_bricks.grip import FingerClearance
from jarvis_bricks.parametric import PARTS
from jarvis_core.cell import CellConfig
from jarvis_core.errors import RefusedError
from jarvis_core.manual import PartCount
from jarvis_core.observation import CameraFrame, RobotState
from jarvis_core.pose import Pose
from jarvis_core.seen import UNSEEN, SeenBrick, SeenScene, SeenStructure

from jarvis_perception.bricks import Look, explain, seen_brick
from jarvis_perception.calibration import calibrate
from jarvis_perception.checks import check_frame
from jarvis_perception.colours import Palette, gains
from jarvis_perception.config import PerceptionConfig, under_noise
from jarvis_perception.fit import compare, fit, predict
from jarvis_perception.grasps import SeenGrasp, graspable, plan_grasps
from jarvis_perception.identify import Identifier, known_kinds
from jarvis_perception.patch import cut
from jarvis_perception.robot import ArmShape
from jarvis_perception.segment import Segments, segment
from jarvis_perception.structure import cells_under, remembered, see_structure
from jarvis_perception.templates import TURNS, Templates
from jarvis_perception.track import Track, Tracker
from jarvis_perception.view import Mask, View

#: A hidden brick is one of whose corners fewer than this share could be seen.
_SEEN_SHARE = 0.5


class BrickPerception:
    """Sees bricks in pictures of the top camera. Keeps ids and hidden cells from call to call; one thread uses it.

    Args:
        catalogue: geometry and colours of parts.
        arm: the robot's shape, to leave it out of pictures where its state is given; None: by height alone.
        fingers: of the gripper, to tell what can be grasped; None: everything counts as graspable.
    """

    def __init__(
        self,
        cell: CellConfig,
        config: PerceptionConfig,
        catalogue: PartCatalogue,
        *,
        arm: ArmShape | None = None,
        fingers: FingerClearance | None = None,
    ) -> None:
        self._cell = cell
        self._config = config
        self._catalogue = catalogue
        self._arm = arm
        self._fingers = fingers
        self._templates = Templates(catalogue.geometry, config.template)
        self._tracker = Tracker(config.track)
        self._structure: SeenStructure | None = None
        self._last: tuple[View, Mask, tuple[SeenBrick, ...]] | None = None

    def forget(self) -> None:
        """Start anew, as for a new episode."""
        self._tracker, self._structure, self._last = Tracker(self._config.track), None, None

    def plan_grasps(self, brick_id: str) -> tuple[SeenGrasp, ...] | None:
        """Grasps of a brick of the last picture, the best first; None if it was not visible there.

        Raises:
            RefusedError: this perception was not told of a gripper.
        """
        if self._fingers is None:
            raise RefusedError("this perception knows no gripper", fix="give it the gripper's fingers")
        view, hidden, bricks = self._last or (None, None, ())
        brick = next((b for b in bricks if b.id == brick_id and b.visible), None)
        if brick is None or view is None or hidden is None:
            return None
        return plan_grasps(view, hidden, brick, self._fingers, self._config.grasp)

    def perceive(
        self,
        frame: CameraFrame,
        *,
        parts: Sequence[PartCount] = (),
        robot: RobotState | None = None,
        now_s: float | None = None,
    ) -> SeenScene:
        """See ``jarvis_core.ports.Perception``."""
        check_frame(frame, self._cell, self._config.input, now_s)
        calibrated = calibrate(frame, self._cell, self._config)
        view, warnings = calibrated.view, list(calibrated.warnings)
        boxes = self._arm.boxes(robot) if self._arm is not None and robot is not None else ()
        segments = segment(view, self._cell, self._config.segment, boxes)
        look = self._look(calibrated.view, calibrated.table, segments, parts, warnings)
        found = [seen_brick(look, thing, "") for mask in segments.loose for thing in explain(look, mask)]
        now = see_structure(view, self._cell, segments.robot, look.light, look.palette, self._config)
        structure = remembered(now, self._structure)
        bricks = self._tracker.update(
            found, frame.time_s, lambda brick: _is_hidden(look, segments, brick), robot
        )
        settled = (self._settle(look, segments, brick, structure, frame.time_s) for brick in bricks)
        bricks = tuple(brick for brick in settled if brick is not None)
        self._structure = structure
        if self._fingers is not None:
            grips, fingers = self._config.grasp, self._fingers
            bricks = tuple(graspable(view, segments.robot, brick, fingers, grips) for brick in bricks)
        self._last = (view, segments.robot, bricks)
        warnings += _remarks(segments, bricks)
        return SeenScene(frame.time_s, bricks, structure, warnings=tuple(warnings))

    def _look(
        self, view: View, table: Mask, segments: Segments, parts: Sequence[PartCount], warnings: list[str]
    ) -> Look:
        listed = [(line.part, line.colour) for line in parts]
        kinds, unknown = known_kinds(listed, self._templates)
        if unknown:
            warnings.append(
                f"nothing is known of the listed part {', '.join(unknown)}: it will not be recognised"
            )
        if not kinds:
            kinds = {part: frozenset() for part in PARTS}
        config = under_noise(self._config, view.noise_m)
        return Look(
            view=view,
            table=table,
            raised=segments.robot | (view.valid & ~table),
            light=gains(view, table, self._config.reference),
            palette=Palette.of(
                self._catalogue.colours, [colour for _, colour in listed], self._config.reference
            ),
            identifier=Identifier(self._templates, kinds, config.fit),
            templates=self._templates,
            config=config,
        )

    def _settle(
        self, look: Look, segments: Segments, brick: SeenBrick, structure: SeenStructure, time_s: float
    ) -> SeenBrick | None:
        """A brick that was let go: found where it must lie, if that can be seen; None once it is gone from there."""
        track = next(t for t in self._tracker.tracks if t.brick.id == brick.id)
        if not track.placed or brick.part == "unknown":
            return brick
        # Where it was found it lies also when others cover it.
        places = [brick] if track.found else [self._lying(brick, z) for z in self._supports(brick, structure)]
        lying = places[0]
        if not _is_hidden(look, segments, lying):
            found = [seen for place in places if (seen := self._found_at(look, place)) is not None]
            lying = min(
                found, key=lambda seen: seen.fit_m, default=msgspec.structs.replace(lying, visible=False)
            )
            if track.found and not found and self._is_gone(brick, structure):
                self._tracker.drop(brick.id)
                return None
            self._tracker.put(Track(lying, time_s, placed=True, found=track.found or bool(found)))
        elif not track.found:
            self._tracker.put(replace(track, brick=lying))
        return lying

    def _is_gone(self, brick: SeenBrick, structure: SeenStructure) -> bool:
        """Whether nothing at all stands where a brick lay, above its underside."""
        boxes = [msgspec.structs.replace(b, pose=brick.pose @ b.pose) for b in brick.boxes]
        cells = cells_under(boxes, self._cell)
        if not len(cells):
            return True
        bottom = min(float(box.pose.position[2] - box.size_m[2] / 2) for box in boxes)
        plates = round((bottom - float(self._cell.plate.pose.position[2])) / PLATE_HEIGHT_M)
        heights = np.array(structure.heights_plates)[cells[:, 0], cells[:, 1]]
        return bool(((heights != UNSEEN) & (heights <= plates)).all())

    def _supports(self, brick: SeenBrick, structure: SeenStructure) -> list[float]:
        """Heights (``world``) that a brick may lie at, where it was let go.

        First on what was seen there before, then, since that look may have shown the brick already, below what is the
        top there now.
        """
        boxes = [msgspec.structs.replace(b, pose=brick.pose @ b.pose) for b in brick.boxes]
        cells = cells_under(boxes, self._cell)
        if not len(cells):
            return [0.0]
        i, j = cells.T
        before = np.array((self._structure or structure).heights_plates)[i, j]
        top = int(np.bincount(np.maximum(np.array(structure.heights_plates)[i, j], 0)).argmax())
        plate = float(self._cell.plate.pose.position[2])
        body = self._templates.get(brick.part, brick.side_up).body_m[2]
        on, below = max(int(before.max()), 0) * PLATE_HEIGHT_M, top * PLATE_HEIGHT_M - body
        return (
            [plate + on]
            if below < 0.0 or abs(on - below) < PLATE_HEIGHT_M / 2
            else [plate + on, plate + below]
        )

    def _lying(self, brick: SeenBrick, rest: float) -> SeenBrick:
        """The brick flat on a support at a height (``world``), where it is and turned as it is."""
        x, y, _ = brick.pose.position.tolist()
        yaw = (brick.pose @ Pose(quaternion=TURNS[brick.side_up]).inverse()).yaw
        template = self._templates.get(brick.part, brick.side_up)
        lying = Pose.from_yaw((0.0, 0.0, rest), yaw) @ template.part_in_lying
        return msgspec.structs.replace(brick, pose=Pose((x, y, float(lying.position[2])), lying.quaternion))

    def _found_at(self, look: Look, brick: SeenBrick) -> SeenBrick | None:
        """The brick fitted near a place; None if nothing of that shape is there."""
        template, config = self._templates.get(brick.part, brick.side_up), self._config.fit
        lying = brick.pose @ template.part_in_lying.inverse()
        x, y, rest = lying.position.tolist()
        corners = np.array([[sx, sy, z] for sx in (-1, 1) for sy in (-1, 1) for z in (0.0, 1.0)])
        u, v = (
            np.round(look.view.project(lying @ (corners * np.array(template.size_m) / [2, 2, 1])))
            .astype(int)
            .T
        )
        mask = np.zeros(look.view.z.shape, bool)
        mask[max(0, v.min()) : v.max() + 1, max(0, u.min()) : u.max() + 1] = True
        mask &= look.view.valid
        if not mask.any():
            return None
        patch = cut(look.view, mask, np.zeros_like(mask), 2)
        predicted = predict(patch, template, (x, y, lying.yaw), rest)
        near = replace(patch, mask=patch.mask & (predicted > 0.0))
        _, miss = compare(near, predicted, rest, config.cap_m)
        better = fit(
            near,
            template,
            (x, y, lying.yaw),
            msgspec.structs.replace(config, ramps_m=config.ramps_m[1:]),
            rest,
        )
        moved = float(np.hypot(better.x - x, better.y - y))
        if min(better.miss_m, miss) > config.accept_m or moved > self._config.track.place_m:
            return None
        pose = better.pose() if better.miss_m <= miss + 1e-5 else brick.pose
        return msgspec.structs.replace(
            brick, pose=pose, visible=True, held=False, fit_m=min(better.miss_m, miss)
        )


def _is_hidden(look: Look, segments: Segments, brick: SeenBrick) -> bool:
    """Whether the camera could not see most of a brick: the arm is in front of it, or it is out of the picture."""
    points = [
        brick.pose @ box.pose @ np.array([[0.0, 0.0, 0.0], *_around(box.size_m)]) for box in brick.boxes
    ]
    u, v = np.round(look.view.project(np.vstack(points))).astype(int).T
    height, width = look.view.z.shape
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    u, v = np.clip(u, 0, width - 1), np.clip(v, 0, height - 1)
    return float((inside & ~segments.robot[v, u]).mean()) < _SEEN_SHARE


def _around(size_m: tuple[float, float, float]) -> list[list[float]]:
    x, y, z = (edge / 2 for edge in size_m)
    return [[sx * x, sy * y, sz * z] for sx in (-1, 1) for sy in (-1, 1) for sz in (-1, 1)]


def _remarks(segments: Segments, bricks: Sequence[SeenBrick]) -> list[str]:
    said = []
    if segments.specks:
        said.append(f"{segments.specks} specks too small for a brick were left out")
    if segments.cut_off:
        said.append(f"{segments.cut_off} things at the picture's edge were left out")
    if unknown := [brick.id for brick in bricks if not brick.candidates]:
        said.append(f"no listed part explains {', '.join(unknown)}")
    if hidden := [brick.id for brick in bricks if not brick.visible and not brick.held]:
        said.append(f"{', '.join(hidden)} can't be seen now; given where last seen, or let go")
    return said
