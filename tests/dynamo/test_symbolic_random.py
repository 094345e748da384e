"""Random programs, plain against compiled: results, all reachable state, printed text, exceptions, grad mode.

MTC_FUZZ=5000 runs that many programs; a failing seed is the test's parameter.
"""

import linecache
import os
import warnings

import pytest

import minitorch_compile as torch
from minitorch_compile import dynamo
from minitorch_compile.dynamo.comparing import behaviour
from minitorch_compile.dynamo.testing import eager
from tests.dynamo.random_programs import CALLS, WORLD, RandomProgram

PROGRAMS = int(os.environ.get("MTC_FUZZ", "150"))


def run(source, seed, compiled):
    """Three calls in a fresh world: twice the same kind, then another kind; what each did."""
    torch.manual_seed(0)
    world = {"torch": torch, "dynamo": dynamo, "__name__": "user"}
    filename = f"<program {seed}>"
    linecache.cache[filename] = (len(source), None, (WORLD + source).splitlines(keepends=True), filename)
    exec(compile(WORLD + source, filename, "exec"), world)
    function = dynamo.optimize(world["f"], eager) if compiled else world["f"]
    seen = []
    for call in range(3):
        arguments = eval(CALLS[(seed + call // 2) % len(CALLS)], world)
        reachable = [world["history"], world["table"], world["Box"].kind]
        seen.append((behaviour(function, arguments, state=reachable), world["counter"], torch.is_grad_enabled()))
    return seen


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program(seed):
    source = RandomProgram(seed).source()
    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        assert run(source, seed, compiled=True) == run(source, seed, compiled=False), source
