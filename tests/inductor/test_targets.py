"""Every target gives what the NumPy kernels of the prims give."""

import numpy as np
import pytest

from minitorch_compile.inductor import compile_graph
from tests.inductor.prim_graphs import expected, record, tensors_of
from tests.inductor.programs import PROGRAMS


@pytest.mark.parametrize("target", ["loops", "cpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs_give_what_prims_give(name, target):
    function, arrays = PROGRAMS[name]
    tensors = tensors_of(arrays)
    module = record(function, tensors)
    results = compile_graph(module, target=target)(*tensors)
    for place, (result, reference) in enumerate(zip(results, expected(module, tensors))):
        assert result.dtype.numpy == reference.dtype and tuple(result.sizes) == reference.shape
        np.testing.assert_allclose(result.array, reference, rtol=3e-6, atol=1e-6, err_msg=f"output {place}")
