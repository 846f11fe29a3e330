"""The licence is accepted by a person's act and by nothing else; an answer is kept."""

import json
from pathlib import Path

import pytest

from bootstrap import eula
from bootstrap.eula import Answer, answer


def never() -> Answer:
    raise AssertionError("the person was asked")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def test_nobody_to_ask_means_not_accepted(env: dict[str, str]) -> None:
    assert answer(env, False, eula.do_not_ask) is Answer.NOT_ASKED
    assert not eula.record_path(env).exists()


@pytest.mark.parametrize("word", ["YES", "yes", "Y", " yes "])
def test_nvidias_variable_accepts(env: dict[str, str], word: str) -> None:
    assert answer(env | {eula.VARIABLE: word}, False, never) is Answer.ACCEPTED


@pytest.mark.parametrize("word", ["NO", "no", "0", "perhaps"])
def test_any_other_word_in_the_variable_declines(env: dict[str, str], word: str) -> None:
    answer(env, True, never)
    assert answer(env | {eula.VARIABLE: word}, False, never) is Answer.DECLINED


def test_the_option_accepts_and_is_remembered(env: dict[str, str]) -> None:
    assert answer(env, True, never) is Answer.ACCEPTED
    assert answer(env, False, never) is Answer.ACCEPTED
    assert json.loads(eula.record_path(env).read_text())["how"] == "--accept-eula"


@pytest.mark.parametrize("said", [Answer.ACCEPTED, Answer.DECLINED])
def test_the_question_is_asked_once(env: dict[str, str], said: Answer) -> None:
    assert answer(env, False, lambda: said) is said
    assert answer(env, False, never) is said


def test_a_no_can_be_taken_back(env: dict[str, str]) -> None:
    answer(env, False, lambda: Answer.DECLINED)
    assert answer(env, True, never) is Answer.ACCEPTED
    assert answer(env, False, never) is Answer.ACCEPTED


@pytest.mark.parametrize("text", ["", "{", "[]", '{"answer": "sure"}'])
def test_a_broken_record_is_no_acceptance(env: dict[str, str], text: str) -> None:
    eula.record_path(env).parent.mkdir(parents=True)
    eula.record_path(env).write_text(text)
    assert answer(env, False, eula.do_not_ask) is Answer.NOT_ASKED


def test_the_question_says_what_is_accepted_and_what_goes_without() -> None:
    assert "NVIDIA Omniverse licence" in eula.EXPLANATION
    assert "https://" in eula.EXPLANATION
    assert "Without it" in eula.EXPLANATION
