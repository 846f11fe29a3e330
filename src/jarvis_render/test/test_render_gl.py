import threading

import pytest
from jarvis_core.errors import MissingCapabilityError

from jarvis_render import gl as gl_module


def test_a_backend_that_is_not_there_is_told_in_one_line():
    failure = gl_module.probe("nonsense")
    assert failure is not None
    assert "nonsense" in failure
    assert "\n" not in failure


def test_without_any_backend_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setattr(gl_module, "BACKENDS", ("nonsense",))
    gl_module.working_backend.cache_clear()
    try:
        with pytest.raises(MissingCapabilityError, match="libegl1") as caught:
            gl_module.working_backend()
    finally:
        gl_module.working_backend.cache_clear()
    assert "nonsense" in caught.value.line()


def test_another_thread_may_not_draw_with_the_context(gl):
    raised: list[BaseException] = []

    def draw():
        try:
            with gl.active():
                pass
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=draw)
    thread.start()
    thread.join()
    assert "thread" in str(raised[0])


def test_each_thread_gets_a_context_of_its_own(gl):
    others = []
    thread = threading.Thread(target=lambda: others.append(gl_module.shared_context()))
    thread.start()
    thread.join()
    assert others[0] is not gl
    assert gl_module.shared_context() is gl
