"""The examples in the docstrings of mini."""

import doctest
import importlib

import pytest

from .conftest import FILES


@pytest.mark.parametrize("file", FILES)
def test_the_examples_of_a_file_hold(file):
    module = importlib.import_module(f"mini.{file}" if file != "__init__" else "mini")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    found = doctest.testmod(module, optionflags=flags, extraglobs={"__name__": "example"})  # they are a program's own
    assert found.failed == 0
