# %% [markdown]
# # 12 Exercises: prims and decompositions
#
# Seven exercises, an hour and three quarters: four about rules and passes of the package, an hour, and three steps of
# your own `mini/prims.py`, three quarters of an hour. Each is a sentence, a signature, an example and a check. Write
# your answer in place of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck,
# `hint("12.1")` gives the first of three hints, and calling it again the next; hints cost nothing.

# %%
import copy

import minitorch_compile as torch
from minitorch_compile import prims
from minitorch_compile.aot.passes import show
from minitorch_compile.aot.tracing import trace
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.fx import Graph, Node
from minitorch_compile.tensor import empty_fake, ops

# %% [markdown]
# ## 12.1 Find the bug: four rules that look right
#
# Each of these is meant to be a decomposition of the operation in its docstring, and each fits it for most numbers. For each,
# find arguments for which it gives something else, by more than rounding, without an error. Put them into `faults` as a tuple
# of float32 tensors.


# %%
def sigmoid(x: torch.Tensor) -> torch.Tensor:
    """torch.sigmoid(x)"""
    return x.exp() / (1 + x.exp())


def rounded(x: torch.Tensor) -> torch.Tensor:
    """torch.round(x)"""
    return (x + 0.5).floor()


def larger(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """torch.maximum(x, y)"""
    return torch.where(x > y, x, y)


def hypotenuse(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """torch.hypot(x, y)"""
    return (x * x + y * y).sqrt()


# %% tags=["stub"]
faults = {
    "sigmoid": ...,
    "rounded": ...,
    "larger": ...,
    "hypotenuse": ...,
}

# %% tags=["solution"]
faults = {
    "sigmoid": (torch.tensor([1000.0]),),
    "rounded": (torch.tensor([0.5]),),
    "larger": (torch.tensor([float("nan")]), torch.tensor([1.0])),
    "hypotenuse": (torch.tensor([3e30]), torch.tensor([4e30])),
}

# %%
check("12.1")

# %% tags=["wrong"] says="What about the other side"
faults = faults | {"sigmoid": (torch.tensor([-1000.0]),)}

# %% tags=["wrong"] says="How large may x be"
faults = faults | {"sigmoid": (torch.tensor([20.0]),)}

# %% tags=["wrong"] says="exactly between two whole ones"
faults = faults | {"rounded": (torch.tensor([-0.7]),)}

# %% tags=["wrong"] says="goes to the even neighbour"
faults = faults | {"rounded": (torch.tensor([1.5]),)}

# %% tags=["wrong"] says="Put it on the other side"
faults = faults | {"larger": (torch.tensor([1.0]), torch.tensor([float("nan")]))}

# %% tags=["wrong"] says="Which number compares with nothing"
faults = faults | {"larger": (torch.tensor([-0.0]), torch.tensor([0.0]))}

# %% tags=["wrong"] says="The squares of these still fit"
faults = faults | {"hypotenuse": (torch.tensor([3000.0]), torch.tensor([4000.0]))}

# %% [markdown]
# ## 12.2 A rule that holds: log_softmax
#
# Write the decomposition of `torch.log_softmax`, the logarithm of softmax, in other operations: exponentials, logarithms,
# sums, maxima. It must be within 8 ulps for every row of finite numbers, however large or far apart. If `dtype` is not None,
# convert x to it first. For x = [[0, -200]] along dimension 1 the result is [[0, -200]].


# %%
def log_softmax(x: torch.Tensor, dim: int, dtype: torch.dtype | None) -> torch.Tensor:
    """log(softmax(x)) along dim."""
    ### BEGIN SOLUTION
    if dtype is not None:
        x = x.to(dtype)
    shifted = x - torch.amax(x, dim, True)
    return shifted - torch.log(torch.sum(torch.exp(shifted), dim, True))
    ### END SOLUTION


# %%
check("12.2")

# %% [markdown]
# This is inside every cross entropy, so inside the training of every classifier. With yours in it:

# %%
if passed("12.2"):
    with splice("prims.log_softmax", log_softmax):
        loss = torch.compile(
            torch.nn.functional.cross_entropy, backend="aot_eager_decomp_partition"
        )
        print(loss(torch.tensor([[0.0, 1000.0]]), torch.tensor([0])))


# %% tags=["wrong"] says="e to the 1000 is infinity"
def log_softmax(x, dim, dtype):
    x = x if dtype is None else x.to(dtype)
    return x - torch.log(torch.sum(torch.exp(x), dim, True))


# %% tags=["wrong"] says="Don't go through softmax"
def log_softmax(x, dim, dtype):
    x = x if dtype is None else x.to(dtype)
    e = torch.exp(x - torch.amax(x, dim, True))
    return torch.log(e / torch.sum(e, dim, True))


# %% tags=["wrong"] says="Each row needs its own maximum"
def log_softmax(x, dim, dtype):
    x = x if dtype is None else x.to(dtype)
    shifted = x - x.max()
    return shifted - torch.log(torch.sum(torch.exp(shifted), dim, True))


# %% tags=["wrong"] says="so that they fit each row again"
def log_softmax(x, dim, dtype):
    x = x if dtype is None else x.to(dtype)
    shifted = x - torch.amax(x, dim)
    return shifted - torch.log(torch.sum(torch.exp(shifted), dim))


# %% tags=["wrong"] says="Convert x first, not last"
def log_softmax(x, dim, dtype):
    shifted = x - torch.amax(x, dim, True)
    result = shifted - torch.log(torch.sum(torch.exp(shifted), dim, True))
    return result if dtype is None else result.to(dtype)


# %% tags=["wrong"] says="If dtype is given"
def log_softmax(x, dim, dtype):
    shifted = x - torch.amax(x, dim, True)
    return shifted - torch.log(torch.sum(torch.exp(shifted), dim, True))


# %% [markdown]
# ## 12.3 Few and accurate
#
# If exp(-x) is the probability of something, 1 - exp(-x) is that of the opposite. Give its logarithm, log(1 - exp(-x)), for
# float32 numbers x that are 0 or more, each within 4 ulps, from 1e-20 up to 80. And do it with at most ten prims, counted
# after the passes. For x = 0 the result is -inf, for x = 1e-6 it is -13.8155, for x = 40 it is -4.248e-18.


# %%
def log_opposite(x: torch.Tensor) -> torch.Tensor:
    """log(1 - exp(-x)) for each element."""
    ### BEGIN SOLUTION
    near, far = torch.log(-torch.expm1(-x)), torch.log1p(-torch.exp(-x))
    return torch.where(x < 0.7, near, far)
    ### END SOLUTION


# %%
check("12.3")


# %% tags=["wrong"] says="its digits were lost when exp was rounded"
def log_opposite(x):
    return torch.log(1 - torch.exp(-x))


# %% tags=["wrong"] says="What is log1p for"
def log_opposite(x):
    return torch.log(-torch.expm1(-x))


# %% tags=["wrong"] says="Write -x both times"
def log_opposite(x):
    near = torch.log(-torch.expm1(-1 * x))
    far = torch.log1p(-torch.exp(-x))
    return torch.where(x < torch.log(torch.full((), 2.0) + 0 * x), near, far)


# %% tags=["wrong"] says="The formula is"
def log_opposite(x):
    return torch.log1p(-torch.exp(x))


# %% [markdown]
# ## 12.4 A pass: mm and add become addmm
#
# BLAS can add a matrix to a product for free. Write the pass that makes use of it: in a graph of ops, each `ops.add` of a
# product `ops.mm` and a tensor becomes `ops.addmm(tensor, mat1, mat2)`, if nobody else reads the product, and the add has no
# third argument (it is called alpha). Return a new graph; the one that comes in stays as it is. The graph
# `x, w, b -> relu(add(mm(x, w), b))` becomes `x, w, b -> relu(addmm(b, x, w))`.


# %%
def merge_addmm(graph: Graph) -> Graph:
    """The graph with addmm for mm and add."""
    ### BEGIN SOLUTION
    graph = copy.deepcopy(graph)
    for add in graph.find_nodes(op="call_function", target=ops.add):
        if len(add.args) != 2:
            continue
        for product, other in (add.args, add.args[::-1]):
            is_product = isinstance(product, Node) and product.target is ops.mm
            if is_product and len(product.users) == 1 and isinstance(other, Node):
                with graph.inserting_before(add):
                    merged = graph.call_function(ops.addmm, (other, *product.args))
                merged.meta = dict(add.meta)
                add.replace_all_uses_with(merged)
                break
    graph.eliminate_dead_code()
    return graph
    ### END SOLUTION


# %%
check("12.4")

# %%
sizes = [(2, 3), (3, 4), (4,)]
program = trace(lambda x, w, b: (x @ w + b).relu(), [empty_fake(each) for each in sizes])
show(merge_addmm, program) if passed("12.4") else None


# %% tags=["wrong"] says="Begin with copy.deepcopy"
def merge_addmm(graph):
    for add in graph.find_nodes(op="call_function", target=ops.add):
        for product, other in (add.args, add.args[::-1]):
            if isinstance(product, Node) and product.target is ops.mm:
                with graph.inserting_before(add):
                    merged = graph.call_function(ops.addmm, (other, *product.args))
                merged.meta = dict(add.meta)
                add.replace_all_uses_with(merged)
                break
    graph.eliminate_dead_code()
    return graph


# %% tags=["wrong"] says="the product may stand on either"
def merge_addmm(graph):
    graph = copy.deepcopy(graph)
    for add in graph.find_nodes(op="call_function", target=ops.add):
        product, other = add.args[:2]
        if isinstance(product, Node) and product.target is ops.mm and len(product.users) == 1:
            with graph.inserting_before(add):
                merged = graph.call_function(ops.addmm, (other, *product.args))
            merged.meta = dict(add.meta)
            add.replace_all_uses_with(merged)
    graph.eliminate_dead_code()
    return graph


# %% tags=["wrong"] says="Now it is computed twice"
def merge_addmm(graph):
    graph = copy.deepcopy(graph)
    for add in graph.find_nodes(op="call_function", target=ops.add):
        for product, other in (add.args, add.args[::-1]):
            if isinstance(product, Node) and product.target is ops.mm:
                with graph.inserting_before(add):
                    merged = graph.call_function(ops.addmm, (other, *product.args))
                merged.meta = dict(add.meta)
                add.replace_all_uses_with(merged)
                break
    graph.eliminate_dead_code()
    return graph


# %% tags=["wrong"] says="the summand comes first"
def merge_addmm(graph):
    graph = copy.deepcopy(graph)
    for add in graph.find_nodes(op="call_function", target=ops.add):
        product, other = add.args[:2]
        if isinstance(product, Node) and product.target is ops.mm and len(product.users) == 1:
            with graph.inserting_before(add):
                merged = graph.call_function(ops.addmm, (*product.args, other))
            merged.meta = dict(add.meta)
            add.replace_all_uses_with(merged)
    graph.eliminate_dead_code()
    return graph


# %% tags=["wrong"] says="and this is a number"
def merge_addmm(graph):
    graph = copy.deepcopy(graph)
    for add in graph.find_nodes(op="call_function", target=ops.add):
        for product, other in (add.args[:2], add.args[:2][::-1]):
            is_product = isinstance(product, Node) and product.target is ops.mm
            if is_product and len(product.users) == 1 and len(add.args) == 2:
                with graph.inserting_before(add):
                    merged = graph.call_function(ops.addmm, (other, *product.args))
                merged.meta = dict(add.meta)
                add.replace_all_uses_with(merged)
                break
    graph.eliminate_dead_code()
    return graph


# %% [markdown]
# ## Your own stack: `mini/prims.py`
#
# Your tracer records some thirty ops, and your compiler would have to know each of them. After this file it has to know the
# prims only: the other ops are made of them by rules. It imports your ops, your recorder of graphs and your tape. Its grown-up
# version is `prims/`: `decompositions/` has the rules, `decomposer.py` applies them.

# %% [markdown]
# ## 12.5 The rules of your own stack
#
# `DECOMPOSITIONS` has for each op that is no prim a function of the same arguments, which calls other ops: sub, neg, sigmoid,
# relu, clone, detach and view. `ops.view(x, sizes)` becomes `ops.regroup(x, sizes)`, which means the same and
# never asks how memory lies; clone and detach give x itself, as nothing is ever written to here, and no gradient is asked
# for any more. Dtypes have to be the op's own: an int32 minus 2 is an int32.


# %% step="12.5"
DECOMPOSITIONS = {
    ops.neg: lambda x: x * -1,
}

# %%
check("12.5")

# %% tags=["wrong"] step="12.5" says="a number has to stay a number"
# -     ops.sub: lambda x, y: x + y * -1,
# +     ops.sub: lambda x, y: ops.add(x, ops.mul(y, -1)),

# %% tags=["wrong"] step="12.5" says="e^-x, not e^x, is right here"
# -     ops.sigmoid: lambda x: 1 / (1 + (-x).exp()),
# +     ops.sigmoid: lambda x: x.exp() / (1 + x.exp()),

# %% tags=["wrong"] step="12.5" says="the same elements in the same order"
# -     ops.view: lambda x, sizes: ops.regroup(x, sizes),
# +     ops.view: lambda x, sizes: ops.regroup(x.t(), sizes),

# %% tags=["wrong"] step="12.5" says="one for each op that is no prim"
# -     ops.clone: lambda x: x,

# %% tags=["wrong"] step="12.5" says="may not call its own op"
# -     ops.neg: lambda x: x * -1,
# +     ops.neg: lambda x: 0 - x,
# -     ops.sub: lambda x, y: x + y * -1,
# +     ops.sub: lambda x, y: x + -y,

# %% [markdown]
# ## 12.6 A layer of prims
#
# An op that is called goes down through the layers of the stack, and each may do something else instead. `Decompose` lets prims
# pass and replaces the others by their `rules`. `call(op, args)` is called for each op; while it runs, the layer is off the stack,
# so what a rule calls would pass by: `compute` enters the layer again for it. And it remembers: the same op of the same
# arguments gives the same tensor as the first time. Tensors are the same if they are the same object. For numbers `==` is not
# enough, as 0.0 == -0.0.


# %% step="12.6"
class Decompose(Layer):
    """Below it come prims only. The same op of the same arguments is computed once."""

    def __init__(self, rules=DECOMPOSITIONS):
        self.rules, self.known = rules, {}

    def call(self, op, args):
        """What is known, or is computed now."""

    def compute(self, op, args):
        """By the op's rule, whose own calls come here, too; or below, if it is a prim."""


# %%
check("12.6")

# %% tags=["wrong"] step="12.6" says="enter it again"
# -         with self:
# -             return self.rules[op](*args)
# +         return self.rules[op](*args)

# %% tags=["wrong"] step="12.6" says="takes them for one key"
# -         key = op, *[id(arg) if isinstance(arg, Tensor) else repr(arg) for arg in args]  # 1 == 1.0, and 0.0 == -0.0
# +         key = op, *[id(arg) if isinstance(arg, Tensor) else arg for arg in args]

# %% tags=["wrong"] step="12.6" says="Keep the arguments with the result"
# -             self.known[key] = self.compute(op, args), args  # arguments are kept: nobody else gets their ids
# +             self.known[key] = self.compute(op, args), None

# %% tags=["wrong"] step="12.6" says="Keep each result under its op and arguments"
# -         if key not in self.known:
# +         if True:

# %% tags=["wrong"] step="12.6" says="Another op of x is another value"
# -         key = op, *[id(arg) if isinstance(arg, Tensor) else repr(arg) for arg in args]  # 1 == 1.0, and 0.0 == -0.0
# +         key = tuple(id(arg) if isinstance(arg, Tensor) else repr(arg) for arg in args)

# %% [markdown]
# ## 12.7 The decomposer
#
# `decompose(graph)` gives a new graph of prims with the same inputs and outputs. Run the old one within your layer, and trace
# that: `trace(run, *examples, position=0)` records at the bottom of the stack. The examples are the fakes of the inputs. Leave
# the tape out (`no_grad`). A target may have other `rules`, which your layer is given. A graph that writes (`node.writes`) is refused with a RuntimeError.


# %% step="12.7"
def decompose(graph, rules=DECOMPOSITIONS):
    """The same outputs in prims. A graph with writes is made functional first: what is written to has two values."""


# %%
check("12.7")

# %% tags=["wrong"] step="12.7" says="below your layer"
# -     with no_grad():
# -         return trace(run, *[node.value for node in graph.inputs], position=0)
# +     with no_grad(), Decompose():
# +         return trace(graph.run, *[node.value for node in graph.inputs])

# %% tags=["wrong"] step="12.7" says="decompose within no_grad()"
# -     with no_grad():
# -         return trace(run, *[node.value for node in graph.inputs], position=0)
# +     return trace(run, *[node.value for node in graph.inputs], position=0)

# %% tags=["wrong"] step="12.7" says="would take them for one"
# -     ops.ensure(not any(node.writes for node in graph.nodes), "decompose: the graph writes: use Functional(graph)")
# +     ops.ensure(graph.nodes, "decompose: nothing to do")

# %% tags=["wrong"] step="12.7" says="in their order"
# -             return graph.run(*inputs)
# +             return graph.run(*inputs)[::-1]

# %%
if passed("12.7"):
    from mini.graph import trace as my_trace
    from mini.prims import decompose as my_decompose
    from mini.tensor import fake

    print(my_decompose(my_trace(lambda x: x.log_softmax(1), fake((2, 3)))))

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("12")

# %%
with own_parts():
    print(torch.compile(lambda x: x.log_softmax(1) + 1)(torch.ones(2, 2)))
