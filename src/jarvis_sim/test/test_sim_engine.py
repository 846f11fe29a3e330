from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import mujoco
import pytest
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_sim.config import EngineConfig, SimConfig
from jarvis_sim.engine import Engine, PassiveComponent, WorldError


class Ball(PassiveComponent):
    """A ball above a floor, that counts its steps."""

    def __init__(self, name: str = "ball", radius: float = 0.05) -> None:
        self.name = name
        self.radius = radius
        self.count = 0

    def build(self, spec: mujoco.MjSpec) -> None:
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1])
        body = spec.worldbody.add_body(name=self.name, pos=[0, 0, 0.2])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[self.radius, 0, 0], mass=0.5)

    def bind(self, engine: Engine) -> None:
        self.index = engine.body(self.name)

    def reset(self) -> None:
        self.count = 0

    def after_step(self) -> None:
        self.count += 1

    def save(self) -> Any:
        return self.count

    def load(self, state: Any) -> None:
        self.count = state


@pytest.fixture
def config() -> EngineConfig:
    return load_default("sim", SimConfig).engine


@pytest.fixture
def sleepless(config: EngineConfig) -> EngineConfig:
    return msgspec.structs.replace(config, sleep_tolerance=0.0)


def test_a_falling_ball_comes_to_rest_with_its_weight_as_contact_force(sleepless: EngineConfig) -> None:
    ball = Ball()
    engine = Engine([ball], sleepless)
    engine.advance(1.5)
    assert engine.time_s == 1.5
    assert ball.count == 750
    contacts = engine.contacts()
    assert contacts.bodies.tolist() == [[0, ball.index]]
    assert contacts.normals[0] == pytest.approx([0, 0, 1])
    assert contacts.forces[0] == pytest.approx(0.5 * 9.81, rel=1e-3)
    assert engine.pose(ball.index).position[2] == pytest.approx(0.05, abs=1e-3)


def test_no_contacts_in_the_air(config: EngineConfig) -> None:
    engine = Engine([Ball()], config)
    engine.step()
    assert engine.contacts().forces.shape == (0,)
    assert engine.contacts().bodies.shape == (0, 2)


def test_a_loaded_snapshot_goes_on_identically(config: EngineConfig) -> None:
    ball = Ball()
    engine = Engine([ball], config)
    engine.advance(0.19)  # just about to touch
    saved = engine.save()
    engine.advance(0.3)
    later = engine.save()
    engine.load(saved)
    assert (engine.save(), ball.count, engine.time_s) == (saved, 95, 0.19)
    engine.advance(0.3)
    assert engine.save() == later
    other = Engine([Ball()], config)
    other.load(saved)
    other.advance(0.3)
    assert other.save() == later


def test_reset_is_the_beginning(config: EngineConfig) -> None:
    engine = Engine([Ball()], config)
    first = engine.save()
    engine.advance(0.4)
    engine.reset()
    assert engine.save() == first


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x80"])
def test_bytes_that_are_no_snapshot_are_refused(config: EngineConfig, data: bytes) -> None:
    with pytest.raises(BadInputError, match="not a snapshot"):
        Engine([Ball()], config).load(data)


def test_a_snapshot_of_another_model_is_refused(config: EngineConfig) -> None:
    saved = Engine([Ball(radius=0.06)], config).save()
    with pytest.raises(BadInputError, match="another world"):
        Engine([Ball()], config).load(saved)


def test_an_unstable_state_is_an_error_that_names_time_and_body(
    config: EngineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    engine = Engine([Ball()], config)
    engine.advance(0.01)
    engine.data.qvel[2] = float("nan")
    with pytest.raises(WorldError, match=r"unstable at 0\.012 s: 'ball'"):
        engine.step()
    assert "unstable" in caplog.text
    assert list(tmp_path.iterdir()) == []  # no log file dropped


def test_a_world_that_can_not_be_built_is_an_error(config: EngineConfig) -> None:
    with pytest.raises(WorldError, match="refuses"):
        Engine([Ball(radius=0.0)], config)


def test_observers_are_called_at_their_period_until_removed(config: EngineConfig) -> None:
    engine = Engine([Ball()], config)
    times: list[float] = []
    handle = engine.observe(0.02, lambda: times.append(engine.time_s))
    engine.advance(0.07)
    assert times == [0.02, 0.04, 0.06]
    engine.unobserve(handle)
    engine.advance(0.1)
    assert len(times) == 3


def test_components_need_names_of_their_own(config: EngineConfig) -> None:
    with pytest.raises(ValueError, match="different names"):
        Engine([Ball(), Ball()], config)
