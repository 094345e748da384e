"""The exercise on leaky guards, of lesson 05: what the learner reads is what is judged."""

from __future__ import annotations

import inspect
from types import FunctionType

from authoring.checks.lesson_05_guards_and_the_cache import leaky_versions

from .notebooks import AUTHORING


def test_the_functions_in_the_notebook_are_the_ones_that_are_judged():
    text = (AUTHORING / "05_guards_and_the_cache.py").read_text()
    functions = [f for f in vars(leaky_versions).values() if isinstance(f, FunctionType)]
    functions = [function for function in functions if function.__module__ == leaky_versions.__name__]
    assert len(functions) == 8
    assert all(inspect.getsource(function) in text for function in functions)
