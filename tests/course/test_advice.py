"""Advice belongs to the error that it is about."""

from __future__ import annotations

from minitorch_compile.course.checking.lessons import find_exercise
from minitorch_compile.course.mini.reference import step

from .notebooks import judged_here


def test_an_unrelated_error_gets_no_advice_about_walks():
    exercise, text = find_exercise("08.9"), step("08.9").text
    assert "found = walk_back(" in text
    slip = text.replace("found = walk_back(", "found = walk_back()  #")
    told = [case for case in judged_here(exercise, [f"%%mini tape 08.9\n{slip}"]).cases if case.verdict == "fail"]
    raised = [case for case in told if "TypeError: walk_back() missing" in case.fact]
    assert raised and all(case.why == "" for case in raised)
