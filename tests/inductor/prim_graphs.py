"""Graphs of prims for the tests of floor 6, written as Python functions."""

import operator

import numpy as np

from minitorch_compile import prims
from minitorch_compile.fx import Graph, GraphModule, Interpreter
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like, wrap


class PrimRecorder:
    """`p.add(x, y)` appends a node that calls prims.add, with its shape worked out."""

    def __init__(self):
        self.graph = Graph()

    def __getattr__(self, name):
        prim = prims.table[name]

        def record(*args):
            node = self.graph.call_function(prim, args)
            node.meta["val"] = prim.meta(*map_arg(args, lambda n: n.meta["val"]))
            node.meta["stack"] = ("model.py", len(self.graph.nodes), f"{name}(...)")
            return node

        return record

    def input(self, tensor):
        node = self.graph.placeholder(f"arg{len(self.graph.nodes)}")
        node.meta["val"] = fake_like(tensor)
        return node

    def item(self, node, position):
        result = self.graph.call_function(operator.getitem, (node, position))
        result.meta["val"] = node.meta["val"][position]
        return result


def record(function, tensors):
    """The graph module of function(p, *inputs), where p is a PrimRecorder."""
    recorder = PrimRecorder()
    result = function(recorder, *[recorder.input(t) for t in tensors])
    outputs = result if isinstance(result, tuple) else (result,)
    node = recorder.graph.output(outputs)
    node.meta["val"] = tuple(n.meta["val"] for n in outputs)
    return GraphModule({}, recorder.graph)


def tensors_of(arrays):
    return [a if isinstance(a, TensorBase) else wrap(np.asarray(a)) for a in arrays]


def expected(module, tensors):
    """What the NumPy kernels of the prims give."""
    with np.errstate(all="ignore"):
        return [t.array for t in Interpreter(module).run(*tensors)]


def assert_close(result, reference, what=""):
    """Equal up to the rounding that a different order of summation brings."""
    assert result.dtype == reference.dtype and result.shape == reference.shape, what
    if reference.dtype.name in ("float16", "bfloat16"):  # one rounding where the prims round at each step
        steps = 2.0**-9 if reference.dtype.name == "float16" else 2.0**-6
        wide = [np.asarray(x, np.float32) for x in (result, reference)]
        np.testing.assert_allclose(*wide, rtol=2 * steps, atol=2 * steps, err_msg=what)
        return
    finite = np.abs(reference[np.isfinite(reference)]) if reference.dtype.kind == "f" else np.zeros(0)
    scale = 1.0 + finite.max(initial=0)
    np.testing.assert_allclose(result, reference, rtol=3e-6, atol=min(3e-6 * scale, 1e-3), err_msg=what)
