"""Lesson 12. All ops in terms of a few, the prims: what the compiler has to know.

>>> print(decompose(trace(lambda x: (x - x.sigmoid()).relu(), fake((3,)))))
def graph(x0):
    mul = mul(x0, -1)                               # (3,)
    exp = exp(mul)                                  # (3,)
    add = add(exp, 1)                               # (3,)
    div = div(1, add)                               # (3,)
    mul1 = mul(div, -1)                             # (3,)
    add1 = add(x0, mul1)                            # (3,)
    maximum = maximum(add1, 0)                      # (3,)
    return maximum
"""

from mini import ops
from mini.graph import Layer, Tensor, fake, trace  # noqa: F401
from mini.tape import no_grad

# %% 12.5 the rules of your own stack
DECOMPOSITIONS = {
    ops.sub: lambda x, y: x + y * -1,
    ops.neg: lambda x: x * -1,
    ops.sigmoid: lambda x: 1 / (1 + (-x).exp()),
    ops.relu: lambda x: x.maximum(0),
    ops.clone: lambda x: x,
    ops.detach: lambda x: x,
    ops.view: lambda x, sizes: ops.regroup(x, sizes),
}


# %% 12.6 a layer of prims
class Decompose(Layer):
    """Below it come prims only. The same op of the same arguments is computed once."""

    def __init__(self, rules=DECOMPOSITIONS):
        self.rules, self.known = rules, {}

    def call(self, op, args):
        key = op, *[id(arg) if isinstance(arg, Tensor) else repr(arg) for arg in args]  # 1 == 1.0, and 0.0 == -0.0
        if key not in self.known:
            self.known[key] = self.compute(op, args), args  # arguments are kept: nobody else gets their ids
        return self.known[key][0]

    def compute(self, op, args):
        """By the op's rule, whose own calls come here, too; or below, if it is a prim."""
        if op not in self.rules:
            return op(*args)
        with self:
            return self.rules[op](*args)


# %% 12.7 the decomposer
def decompose(graph, rules=DECOMPOSITIONS):
    """The same outputs in prims. A graph with writes is made functional first: what is written to has two values."""
    ops.ensure(not any(node.writes for node in graph.nodes), "decompose: the graph writes: use Functional(graph)")

    def run(*inputs):
        with Decompose(rules):
            return graph.run(*inputs)

    with no_grad():
        return trace(run, *[node.value for node in graph.inputs], position=0)
