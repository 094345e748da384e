"""Runs programs in Numba's CUDA simulator and compares; a process of its own, since Numba decides once what cuda is.

NUMBA_ENABLE_CUDASIM=1 python -m tests.inductor.simulate softmax layer_norm ...
"""

import sys
import warnings

from minitorch_compile.inductor import compile_graph
from tests.inductor.prim_graphs import assert_close, expected, record, tensors_of
from tests.inductor.programs import PROGRAMS


def simulate(names):
    warnings.simplefilter("ignore")  # NumPy scalars warn where a GPU gives inf
    for name in names:
        function, arrays = PROGRAMS[name]
        tensors = tensors_of(arrays)
        module = record(function, tensors)
        results = compile_graph(module, target="cuda_sim")(*tensors)
        for place, (result, reference) in enumerate(zip(results, expected(module, tensors))):
            assert_close(result.array, reference, f"{name}, output {place}")
        print("right:", name)


if __name__ == "__main__":
    simulate(sys.argv[1:])
