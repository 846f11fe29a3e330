# ruff: noqa: E402 - nothing below can be imported where there is no ROS
"""The contract against a cell that is already up, whatever simulates it::

JARVIS_CELL=isaac JARVIS_CELL_DOMAIN=0 ./jarvis shell -c 'pytest src/jarvis_bringup/test/test_cell_contract.py'
"""

from __future__ import annotations

import os

import pytest

NAME = os.environ.get("JARVIS_CELL")
if not NAME:
    pytest.skip("JARVIS_CELL names no running cell", allow_module_level=True)
rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

from cell_contract import problems_of
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_robot.config import load_robot_config
from jarvis_robot.model import RobotModel
from jarvis_skills.ros.ros_robot import RosRobot


def test_the_running_cell_keeps_the_contract() -> None:
    # Tests get a domain of their own; the cell has one that a person chose.
    rclpy.init(domain_id=int(os.environ.get("JARVIS_CELL_DOMAIN", "0")))
    node = rclpy.create_node("contract")
    executor = BackgroundExecutor(node)
    try:
        config = load_robot_config("panda")
        robot = RosRobot(node, config, RobotModel.load(config).tool)
        robot.connect()
        problems = problems_of(node, robot)
    finally:
        executor.close()
        node.destroy_node()
        rclpy.shutdown()
    assert not problems, f"{NAME}: " + "; ".join(problems)
