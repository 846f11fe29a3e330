# ruff: noqa: E402 - nothing below can be imported where there is no ROS
"""The contract against a cell that is already up, whatever simulates it::

JARVIS_CELL=isaac JARVIS_CELL_DOMAIN=0 ./jarvis shell -c 'pytest src/jarvis_bringup/test/test_cell_contract.py'
"""

from __future__ import annotations

import os
import threading

import pytest

NAME = os.environ.get("JARVIS_CELL")
if not NAME:
    pytest.skip("JARVIS_CELL names no running cell", allow_module_level=True)
rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

from cell_contract import problems_of
from jarvis_robot.config import load_robot_config
from jarvis_robot.model import RobotModel
from jarvis_skills.ros.ros_robot import RosRobot
from rclpy.executors import SingleThreadedExecutor


def test_the_running_cell_keeps_the_contract() -> None:
    # Tests get a domain of their own; the cell has one that a person chose.
    rclpy.init(domain_id=int(os.environ.get("JARVIS_CELL_DOMAIN", "0")))
    node = rclpy.create_node("contract")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    spinner = threading.Thread(target=executor.spin, daemon=True)
    spinner.start()
    try:
        config = load_robot_config("panda")
        robot = RosRobot(node, config, RobotModel.load(config).tool)
        robot.connect()
        problems = problems_of(node, robot)
    finally:
        executor.shutdown()
        spinner.join(5.0)
        node.destroy_node()
        rclpy.shutdown()
    assert not problems, f"{NAME}: " + "; ".join(problems)
