"""A wrong value in the environment names itself once, and nothing else comes of it."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from minitorch_compile import environment_variables
from minitorch_compile.environment_variables import CUDA, VARIABLES, without_wrong_values

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def nothing_reported(monkeypatch):
    monkeypatch.setattr(environment_variables, "_reported", set())


NUMBERS = [variable for variable in VARIABLES if variable.name != "MTC_CACHE_DIR"]


@pytest.mark.parametrize("variable", NUMBERS, ids=lambda variable: variable.name)
@pytest.mark.parametrize("text", ["-1", "many", "1.5", "1e9", "0x10", "1GB", "\u0663", "9" * 5000, "1 2", "\udcff"])
def test_a_wrong_value_names_itself_once_and_the_default_holds(monkeypatch, variable, text):
    monkeypatch.setenv(variable.name, text)
    with pytest.warns(UserWarning) as told:
        assert [variable.value(), variable.value()] == [variable.default] * 2
    (warning,) = told
    assert f"{variable.name}={text[:80]!r}" in str(warning.message)
    assert f"it can be {variable.allowed}. Used instead: {variable.otherwise}." in str(warning.message)
    assert len(str(warning.message)) < 400


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda variable: variable.name)
@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_the_default(monkeypatch, variable, text):
    monkeypatch.setenv(variable.name, text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert variable.value() == variable.default


def test_a_process_that_is_started_is_not_told_what_was_reported(monkeypatch):
    monkeypatch.setenv("MTC_CACHE_BYTES", "much")
    monkeypatch.setenv("MTC_COMPILE_THREADS", "2")
    with pytest.warns(UserWarning):
        environment_variables.CACHE_BYTES.value()
    assert "MTC_CACHE_BYTES" not in without_wrong_values() and without_wrong_values()["MTC_COMPILE_THREADS"] == "2"


@pytest.mark.slow
def test_no_value_of_any_variable_keeps_the_package_from_working():
    wrong = dict.fromkeys([*(variable.name for variable in VARIABLES), "MTC_LOGS"], "\x01 wrong")
    # Several kernels, since a single one doesn't ask how many processes compile.
    function = "lambda x: (x + 1, t.softmax(x, -1), x.sum(0), x.cumsum(0), x @ x.T)"
    program = f"import minitorch_compile as t; print(t.compile({function})(t.zeros(2, 3))[2].tolist())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **wrong, "MTC_CACHE_DIR": "/dev/null/folder"},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert done.stdout == "[0.0, 0.0, 0.0]\n"
    assert "Traceback" not in done.stderr
    not_told = {"MTC_CACHE_DIR", *(variable.name for variable in CUDA)}  # the latter aren't read without a GPU
    for name in wrong:
        assert done.stderr.count(f"{name}='") == (name not in not_told), done.stderr


def test_every_variable_that_is_read_is_in_the_table():
    """So that no new one is read in a way that can fail."""
    others = {
        "MTC_LOGS",
        "MTC_AS_TORCH_PATH",
        "MTC_AS_TORCH_PACKAGE",
        "MTC_CHECK_TOKEN",
    }  # a list of names; between own processes
    texts = [path.read_text() for path in (ROOT / "minitorch_compile").rglob("*.py")]
    named = {name for text in texts for name in re.findall("[\"'](MTC_[A-Z_]+)[\"']", text)}
    assert named - others - {"MTC_FRIENDS"} == {variable.name for variable in VARIABLES}
