"""The door: `compile(function)`."""

from mini.aot import aot
from mini.breaks import Region
from mini.program import Program

BACKENDS = {"eager": lambda graph: graph.run, "aot_eager": aot(lambda graph: graph.run), "inductor": aot(Program)}


def compile(function, backend="inductor"):
    """A function of tensors, or a module, that runs as kernels.

    >>> from mini.tensor import tensor
    >>> compile(lambda x: (x + 1).relu().sum())(tensor([1.0, -5.0, 2.0]))
    tensor(5.0)
    """
    call = function if hasattr(function, "__code__") else lambda *args: function(*args)
    return Region(call, BACKENDS[backend])
