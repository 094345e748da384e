"""The battery of plain Python programs, compiled: value, output and exception are those of CPython."""

import warnings

import pytest

from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import eager
from tests.dynamo.programs import observe, program_id, programs


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_a_compiled_program_does_what_the_plain_one_does(program):
    compiled = optimize(program, eager)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = observe(program)
        assert observe(compiled) == expected
        assert observe(compiled) == expected
