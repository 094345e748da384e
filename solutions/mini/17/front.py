"""Lesson 17. The door: `compile(function)`.

>>> from mini.tensor import tensor
>>> compile(lambda x: (x + 1).relu().sum())(tensor([1.0, -5.0, 2.0]))
tensor(5.0)
"""

from mini.aot import aot
from mini.breaks import Region
from mini.program import Program

BACKENDS = {"eager": lambda graph: graph.run, "aot_eager": aot(lambda graph: graph.run), "inductor": aot(Program)}


# %% 17.7 the door
def compile(function, backend="inductor", dynamic=False):
    """A function of tensors, or a module, as kernels; `backend` stops the way down earlier, or leads to a GPU."""
    call = function if hasattr(function, "__code__") else lambda *args: function(*args)
    if backend == "cuda":
        from mini.cuda import CudaProgram  # only who has a GPU, or its simulator, can import it

        return Region(call, aot(CudaProgram), dynamic)
    if backend not in BACKENDS:
        raise ValueError(f"backend {backend!r}: there are {', '.join([*BACKENDS, 'cuda'])}")
    return Region(call, BACKENDS[backend], dynamic)
