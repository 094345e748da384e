"""The loop IR, interpreted, gives what the NumPy kernels of the prims give."""

import pytest

from minitorch_compile.inductor.ir.interpreter import interpret
from minitorch_compile.inductor.lowering import lower
from tests.inductor.prim_graphs import assert_close, expected, record, tensors_of
from tests.inductor.programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_interpreted_loops_give_what_prims_give(name):
    function, arrays = PROGRAMS[name]
    tensors = tensors_of(arrays)
    module = record(function, tensors)
    results = interpret(lower(module), [t.storage.buffer[t.offset :] for t in tensors])
    for place, (result, reference) in enumerate(zip(results, expected(module, tensors))):
        assert_close(result, reference, f"output {place}")
