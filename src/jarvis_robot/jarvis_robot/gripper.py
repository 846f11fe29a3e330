"""The parallel gripper as grasp planning and clearance checks need it."""

from __future__ import annotations

from jarvis_bricks.grip import FingerClearance
from jarvis_core.config import Config


class GripperConfig(Config, frozen=True):
    """Geometry and limits of a parallel gripper. The tool frame (tool centre point) lies between the pads:
    z points out of the hand (down when grasping from above), y is the closing direction::

            |  hand  |
          __|________|__
         |  |        |  |   finger: thickness along y, width along x
         |  |        |  |
         |__|  tcp+  |__|   pad_below_tcp_m between the tcp and the pads' lower end
             <------>
              width_m

    Attributes:
        max_width_m: opening between the pads.
        force_n: grip force.
        finger_thickness_m: along the closing direction, from the pad outwards.
        finger_width_m: across the closing direction.
        upper_thickness_m, upper_above_tip_m: the finger is this thick from this height above its lower end on.
        finger_length_m: from the hand's underside to the fingertips.
        pad_below_tcp_m: the fingertips' lower end below the tool centre point.
        hand_size_m: (across, along the closing direction) size of the hand's body above the fingers.
        open_speed_m_s: fingers move no faster (light bricks would be hammered away).
    """

    max_width_m: float
    force_n: float
    finger_thickness_m: float
    finger_width_m: float
    upper_thickness_m: float
    upper_above_tip_m: float
    finger_length_m: float
    pad_below_tcp_m: float
    hand_size_m: tuple[float, float]
    open_speed_m_s: float

    def clearance(self, slack_m: float = 0.002) -> FingerClearance:
        """The space this gripper needs around what it takes, with ``slack_m`` of opening on each side."""
        return FingerClearance(
            max_width_m=self.max_width_m,
            thickness_m=self.finger_thickness_m,
            width_m=self.finger_width_m,
            length_m=self.finger_length_m,
            pad_below_tcp_m=self.pad_below_tcp_m,
            hand_size_m=self.hand_size_m,
            slack_m=slack_m,
            upper_thickness_m=self.upper_thickness_m,
            upper_above_tip_m=self.upper_above_tip_m,
        )
