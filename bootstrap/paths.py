"""Where things lie: the sources in the clone, everything made from them under .jarvis/."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Every folder the bootstrap reads or writes, for one clone of the workspace."""

    root: Path

    @property
    def state(self) -> Path:
        """Ignored by git; may be deleted at any time, the next start makes it anew."""
        return self.root / ".jarvis"

    @property
    def venv(self) -> Path:
        """The project's virtual environment: runtime, build and test packages."""
        return self.state / "venv"

    @property
    def venv_python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def ros(self) -> Path:
        """The ROS 2 runtime tree that comes by pip, where no ROS 2 is installed."""
        return self.state / "ros"

    @property
    def rosidl(self) -> Path:
        """The virtual environment with the message generators, used only to build against `ros`."""
        return self.state / "rosidl"

    @property
    def build(self) -> Path:
        return self.state / "build"

    @property
    def install(self) -> Path:
        return self.state / "install"

    @property
    def log(self) -> Path:
        return self.state / "log"

    @property
    def lock(self) -> Path:
        return self.state / "lock"

    @property
    def stamps(self) -> Path:
        """One small file for each finished step, saying what it was made from."""
        return self.state / "stamps"

    @property
    def environments(self) -> Path:
        """Cached environment variables, see environment.py."""
        return self.state / "environments"

    @property
    def requirements(self) -> Path:
        return self.root / "requirements"

    @property
    def sources(self) -> Path:
        return self.root / "src"

    @property
    def ros2_shims(self) -> Path:
        return self.root / "bootstrap" / "ros2_shims"


def config_folder(env: Mapping[str, str]) -> Path:
    """The person's own configuration folder for this project, shared by all clones."""
    base = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME") or str(Path.home()), ".config")
    return Path(base) / "jarvis"
