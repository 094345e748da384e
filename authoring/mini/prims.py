"""Lesson 12. All ops in terms of a few: what the compiler has to know.

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
from mini.graph import trace
from mini.ops import OPS
from mini.tape import no_grad
from mini.tensor import fake  # noqa: F401


def exp_shifted(x, dim):
    return (x - x.amax(dim, True)).exp()


DECOMPOSITIONS = {
    ops.sub: lambda x, y: ops.add(x, ops.mul(y, -1)),
    ops.neg: lambda x: x * -1,
    ops.sigmoid: lambda x: 1 / (1 + (-x).exp()),
    ops.relu: lambda x: x.maximum(0),
    ops.clone: lambda x: x,
    ops.view: lambda x, sizes: ops.regroup(x, sizes),
    ops.softmax: lambda x, dim: exp_shifted(x, dim) / exp_shifted(x, dim).sum(dim, True),
    ops.log_softmax: lambda x, dim: (x - x.amax(dim, True)) - exp_shifted(x, dim).sum(dim, True).log(),
}
PRIMS = set(OPS.values()) - set(DECOMPOSITIONS) - {ops.copy_}


def decompose(graph):
    """Until only prims are left; what is computed twice from the same arguments is computed once."""
    while True:
        seen = {}

        def step(node, args, seen=seen):
            key = node.op, *[(id(arg) if isinstance(arg, ops.Tensor) else (type(arg), arg)) for arg in args]
            if key not in seen:
                seen[key] = DECOMPOSITIONS.get(node.op, node.op)(*args), args  # the arguments are kept: ids stay theirs
            return seen[key][0]

        with no_grad():
            graph = trace(lambda *xs, g=graph, s=step: g.run(*xs, step=s), *[x.value for x in graph.inputs], position=0)
        if all(node.op in PRIMS or node.op == "constant" for node in graph.nodes):
            return graph
