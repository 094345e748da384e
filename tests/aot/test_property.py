"""Generated programs: those of the pipeline's battery, and programs of in-place operations on views."""

from __future__ import annotations

import pytest

from tests.aot.aliasing.check import case_of, compare
from tests.aot.compare import BACKENDS, compiled
from tests.pipeline.compare import check_values, evaluate
from tests.pipeline.programs import generate
from tests.pipeline.rules import FAMILIES

BACKEND_NAMES = ("aot_eager", "aot_eager_decomp_partition")


@pytest.fixture(params=BACKENDS.values(), ids=BACKENDS.keys())
def backend(request):
    return request.param


@pytest.mark.parametrize("family", FAMILIES)
def test_programs_of_the_battery(family, backend):
    for seed in range(8):
        program = generate(family, seed)
        expected = evaluate(program, "float64")
        actual = evaluate(program, "float64", lambda function: compiled(function, backend))
        check_values(program, actual, expected.values)
        for got, want in zip(actual.gradients, expected.gradients, strict=True):
            assert abs(got - want).max(initial=0) <= 1e-9 * (1 + abs(want).max(initial=0)), program.source


# ------------------------------------------------------------------------------------------ writes through views


@pytest.mark.parametrize("first", range(0, 500, 25))
def test_programs_that_write_through_views(first):
    """See tests/aot/aliasing; `make fuzz` runs more."""
    refused = 0
    for seed in range(first, first + 25):
        case = case_of(seed, BACKEND_NAMES[seed % 2])
        found = compare(case)
        refused += found.startswith("refused")
        assert not found or found.startswith("refused"), f"seed {seed}: {found}\n{case.script}"
    assert refused <= 3
