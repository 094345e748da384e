"""Artifacts are named as in PyTorch, cost nothing when off, and go to stderr."""

import os
import subprocess
import sys

import pytest

from minitorch_compile import logs


@pytest.fixture(autouse=True)
def _keep_the_users_setting():
    before = logs.enabled()
    yield
    logs.set_logs(*before)


def test_an_artifact_that_is_off_prints_nothing(capsys):
    logs.set_logs()
    logs.artifact("guards")("text")
    assert capsys.readouterr() == ("", "")


def test_text_goes_to_stderr_under_its_name(capsys):
    logs.set_logs(guards=True)
    logs.artifact("guards")("x is 3")
    logs.artifact("fusion")("not wanted")
    assert capsys.readouterr() == ("", "[guards] x is 3\n")


def test_a_long_text_is_left_untouched_so_that_it_can_be_pasted(capsys):
    logs.set_logs("output_code")
    logs.artifact("output_code")("def f():\n    return 1")
    assert capsys.readouterr().err == "[output_code]\ndef f():\n    return 1\n"


def test_set_logs_turns_everything_else_off():
    logs.set_logs("guards", "fusion")
    logs.set_logs("graph_breaks", fusion=True)
    assert logs.enabled() == ["graph_breaks", "fusion"]


def test_all_and_minus():
    logs.set_logs("all", "-guards", fusion=False)
    assert set(logs.ARTIFACTS) - set(logs.enabled()) == {"guards", "fusion"}


@pytest.mark.parametrize("use", [logs.artifact, logs.set_logs, lambda name: logs.set_logs(**{name: True})])
def test_an_unknown_name_is_a_value_error_that_lists_the_valid_ones(use):
    with pytest.raises(ValueError, match="no artifact named 'gaurds'. Did you mean 'guards'.*aot_graphs.*output_code"):
        use("gaurds")


def test_capture_collects_instead_of_printing_and_restores(capsys):
    logs.set_logs("fusion")
    with logs.capture("guards") as records:
        logs.artifact("guards")("held")
        logs.artifact("fusion")("printed")
    assert records == [("guards", "held")]
    assert capsys.readouterr().err == "[fusion] printed\n"
    assert logs.enabled() == ["fusion"]


def test_an_inner_capture_does_not_starve_the_outer_one():
    with logs.capture("guards", "fusion") as outer:
        with logs.capture("fusion") as inner:
            logs.artifact("guards")("a")
            logs.artifact("fusion")("b")
    assert outer == [("guards", "a"), ("fusion", "b")]
    assert inner == [("fusion", "b")]


@pytest.mark.parametrize(
    "setting, expected",
    [
        ("guards, fusion", "['guards', 'fusion']"),
        ("", "[]"),
        ("gaurds, fusion", "['fusion']"),
        ("gaurds, fusion", "MTC_LOGS='gaurds' is not used: it can be 'guards', or"),
        ("help", "why and where a graph was broken"),
    ],
)
@pytest.mark.heavy
def test_the_environment_variable_is_read_at_import(setting, expected):
    program = "from minitorch_compile import logs; print(logs.enabled())"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "MTC_LOGS": setting}, capture_output=True, text=True
    )
    assert expected in done.stdout + done.stderr
