"""For every test of the workspace: a ROS domain for each worker, and a count of what was skipped."""

import collections
import fcntl
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import IO

import hypothesis
import pytest

# The same examples in every run, and no clock: what passed here passes on any machine. To look for new failures:
# HYPOTHESIS_PROFILE=explore.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# 0 is where people work; above 101 the ports run into those that Linux hands out itself.
TEST_DOMAINS = range(1, 102)
_domain = pytest.StashKey[IO[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Give this process a ROS domain, and let tests import helper modules that lie beside them."""
    config.stash[_domain] = take_a_ros_domain()
    sys.path += [str(folder) for folder in sorted(config.rootpath.glob("src/*/test"))]


def take_a_ros_domain() -> IO[str]:
    """Set ROS_DOMAIN_ID to one that no other test process on this machine holds, until the file is closed."""
    for domain in TEST_DOMAINS:
        lock = open(Path(tempfile.gettempdir()) / f"ros-domain-{domain}.lock", "w")  # noqa: SIM115 (held while we run)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        return lock
    raise pytest.UsageError(
        "every ROS domain from 1 to 101 is taken by another test run; wait for one to end"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Keep launch_testing's plugin to launch tests.

    Left alone it imports every test file in its own way to see whether it is one, so that a module-level skip
    would silently skip the whole folder, and two files of one name in different packages would clash.
    """
    if "generate_test_description" in module_path.read_text(encoding="utf-8"):
        return None
    return pytest.Module.from_parent(parent, path=module_path)


def pytest_runtest_setup() -> None:
    """Undo what importing `launch` (as its pytest plugin does) does to our loggers: caplog would see nothing."""
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("jarvis_") and isinstance(logger, logging.Logger):
            logger.propagate = True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what did not run, and why."""
    reasons = collections.Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section(f"{reasons.total()} skipped, by reason")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:5d}  {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return str(report.longrepr)
