# %% [markdown]
# # 10 Function transforms: vmap, grad, jvp, hessian
#
# Here is a function of one vector: its length. Somebody has three vectors, stacked in a matrix, and wants three lengths.

# %%
import minitorch_compile as torch


def length(x):
    return (x * x).sum().sqrt()


rows = torch.tensor([[3.0, 4.0], [6.0, 8.0], [5.0, 12.0]])
print("the matrix at once:", length(rows))
print("one after the other:", torch.stack([length(row) for row in rows]))
print("vmap:               ", torch.func.vmap(length)(rows))

# %% [markdown]
# The first answer is wrong, and nobody said so. `sum()` added up everything, as it was told to. The second is right, and
# slow: every operation is run once for each row. The third is right and does not loop. Nobody has rewritten `length` for
# it. We count what is run, rather than measure time, with an interpreter among the modes of the dispatcher, as in lesson
# 02. It leaves out views, which move no data.

# %%
from minitorch_compile.tensor.dispatch.dispatch import mode


class Count:
    """Notes the operations that compute something."""

    def __init__(self):
        self.names = []

    def process(self, op, args, kwargs):
        if op.kind != "view":
            self.names.append(op.name)
        return op(*args, **kwargs)


def counted(function, *args):
    with mode(Count()) as count:
        function(*args)
    return count.names


print("loop:", len(counted(lambda xs: torch.stack([length(x) for x in xs]), rows)), "operations")
print("vmap:", counted(torch.func.vmap(length), rows))

# %% [markdown]
# Three operations, for three rows or for three million. In this lesson you build `vmap`. The idea is the one of lessons 03
# and 04. There, an interpreter ran the bytecode of a program with *other meanings of its instructions*, and out came a
# graph. Here it is the operations that get another meaning, and out comes a program for a batch. Then it is used a second
# time: a function becomes its derivative.
#
# ## One example stands for all
#
# The function believes that it holds a vector. So we give it something that looks like one, and is a whole batch: a value
# with the batch in its first dimension, which hides that dimension.
#
# And the operations? Each of them asks a stack of interpreters what it means today. The topmost interpreter is asked
# first. It is taken off the stack while it works, so what it calls itself goes to the one below. When none is left, the
# operation is simply run.

# %%
stack = []  # of interpreters, the topmost last


def call(op, *args):
    """An operation, given to the topmost interpreter."""
    if not stack:
        return op(*args)
    top = stack.pop()
    try:
        return top.process(op, args)
    finally:
        stack.append(top)


class Example:
    """Looks like one example of `value`, whose first dimension is the batch of `owner`."""

    def __init__(self, value, owner):
        self.value, self.owner = value, owner
        self.shape = tuple(value.shape[1:])

    def __repr__(self):
        return f"one of {self.value.shape[0]} examples of sizes {self.shape}"


print(Example(rows, owner=None))

# %% [markdown]
# The programs of this lesson are written with five functions, and each is a question to the stack. With an empty stack
# they are what you expect.


# %%
def mul(x, y):
    return call(torch.mul, x, y)


def sub(x, y):
    return call(torch.sub, x, y)


def tanh(x):
    return call(torch.tanh, x)


def total(x, dim):
    return call(torch.sum, x, dim)


def matmul(x, w):
    return call(torch.matmul, x, w)


def energy(x, w):
    """Of one point: a vector x, and a vector w of weights."""
    return total(tanh(mul(x, w)), 0)


point, weights = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])
print(energy(point, weights))

# %% [markdown]
# Now the interpreter. If none of the arguments is a batch of its own, it has nothing to say, and the operation goes down.
# Otherwise it looks up a *batching rule*: what this operation on one example is, on all examples at once. A rule returns a
# value with the batch in front, and the interpreter hides the batch again.

# %%
RULES = {}  # of an operation: a function of the interpreter, the operation and its arguments


# %%
class Batching:
    """Gives operations their meaning on a batch."""

    def holds(self, x):
        return isinstance(x, Example) and x.owner is self

    def process(self, op, args):
        if not any(map(self.holds, args)):
            return call(op, *args)
        return Example(RULES[op](self, op, *args), self)


def batched(function):
    """A function of batches, each with the batch as first dimension."""

    def run(*batches):
        stack.append(Batching())
        try:
            result = function(*(Example(batch, stack[-1]) for batch in batches))
        finally:
            stack.pop()
        return result.value

    return run


# %% [markdown]
# That is all of the machine. It has not a single rule yet, so what it knows now is what to ask for:

# %%
try:
    batched(lambda x: energy(x, weights))(rows)
except KeyError as missing:
    print("no rule for", missing)

# %% [markdown]
# ## Pointwise: dimensions are aligned
#
# Let the examples be vectors of 3, in a batch of 5: the value is (5, 3). Multiply by a vector that is the same for all,
# of sizes (3,). Broadcasting aligns sizes at the right, (5, 3) with (3,), so this is fine as it is. Now multiply each
# vector with a number of its own: the numbers are a value of sizes (5,). Aligned at the right, the 5 meets the 3, which is
# an error, or, for a batch of 3, a wrong answer without a sound. An example that lacks dimensions must get them *behind
# the batch*: (5,) becomes (5, 1).


# %%
def aligned(batching, x, ndim):
    """The batch of x as (batch, 1, ..., sizes), with ndim dimensions behind the batch."""
    if not batching.holds(x):
        return x
    value = x.value
    for _ in range(ndim - len(x.shape)):
        value = call(torch.unsqueeze, value, 1)
    return value


def pointwise(batching, op, *args):
    ndim = max(len(x.shape) for x in args if hasattr(x, "shape"))
    return call(op, *(aligned(batching, x, ndim) for x in args))


for op in (torch.mul, torch.sub, torch.tanh):
    RULES[op] = pointwise

print(batched(mul)(torch.ones(3, 3), torch.tensor([1.0, 2.0, 3.0])))

# %% [markdown]
# Row 1 times 1, row 2 times 2. Plain broadcasting would have multiplied the *columns*. What is not a batch stays as it is:
# its missing dimensions are added by broadcasting, at the left, where the batch is.
#
# ## Reductions: one further to the right
#
# Dimension 0 of an example is dimension 1 of the batch. Dimension -1 is the last of both, but it is safer to turn it into
# a number from the left first, and then to shift. The same holds for everything that names a dimension. We need one more
# of this kind, since `aligned` calls it: `unsqueeze`, when a batch lies inside another batch.


# %%
def reduction(batching, op, x, dim):
    return call(op, x.value, dim % len(x.shape) + 1)


def one_more(batching, op, x, dim):
    return call(op, x.value, dim + 1)


RULES[torch.sum] = reduction
RULES[torch.unsqueeze] = one_more

points = torch.linspace(-1, 1, 12).reshape(6, 2)
at_once = batched(lambda x: energy(x, weights))
by_loop = lambda xs: torch.stack([energy(x, weights) for x in xs])
print(torch.equal(at_once(points), by_loop(points)))
for number in (6, 60):
    xs = torch.ones(number, 2)
    print(f"{number} points: {len(counted(by_loop, xs))} operations, or", counted(at_once, xs))

# %% [markdown]
# ## Products: one tall matrix
#
# A layer multiplies a matrix x of (rows, n) by a weight of (n, m). If the weight is the same for all examples, the batch
# of (B, rows, n) can be seen as *one tall matrix* of B times rows, and one product does it all. This is no trick to save
# words. One large product is what processors are best at; many small ones are what they are worst at.


# %%
def product(batching, op, x, w):
    if batching.holds(w):
        raise TypeError("a weight for each example needs a batch of products: exercise 10.4")
    batch, lines, inner = x.value.shape
    tall = call(torch.reshape, x.value, (batch * lines, inner))
    return call(torch.reshape, call(op, tall, w), (batch, lines, w.shape[1]))


def reshaped(batching, op, x, sizes):
    return call(op, x.value, (x.value.shape[0], *sizes))


RULES[torch.matmul] = product
RULES[torch.reshape] = reshaped

layer = torch.ones(4, 3)
samples = torch.linspace(0, 1, 40).reshape(5, 2, 4)
result = batched(lambda x: tanh(matmul(x, layer)))(samples)
print(result.shape, counted(batched(lambda x: tanh(matmul(x, layer))), samples))
print(torch.allclose(result, torch.stack([torch.tanh(x @ layer) for x in samples])))

# %% [markdown]
# ## Batches of batches
#
# Rules call operations by `call`, and never directly. This pays now. Here are all distances between 4 points and 3 others.
# The function inside knows one point of each. No line of it mentions a batch, let alone two.
#
# *Predict*: four points, three others, one function of a single pair. How many operations will be run in the end?

# %%
from minitorch_compile.course import predict

predict("10.pairs", None)


# %%
def distance(x, y):
    difference = sub(x, y)
    return total(mul(difference, difference), -1)


few = torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]])
many = torch.tensor([[0.0, 0.0], [0.0, 3.0], [1.0, 1.0], [2.0, 2.0]])
table = batched(lambda x: batched(lambda y: distance(x, y))(few))(many)
print(table)
print(counted(batched(lambda x: batched(lambda y: distance(x, y))(few)), many))

# %% [markdown]
# The inner interpreter is on top. It turns "subtract (2,)" into "subtract (3, 2)", hands that down, and the outer one turns
# it into (4, 1, 2) less (3, 2). Three operations, for twelve pairs. Each interpreter owns its own batches, and takes those
# of the other for plain values. This is why an `Example` must remember its owner.
#
# Let's look at the two programs. An interpreter among the modes draws what reaches the bottom; first for one pair, then
# for twelve. An input is named by its sizes.

# %%
from minitorch_compile.fx import Graph


class Draw:
    """A graph of what is run, views left out."""

    def __init__(self):
        self.graph, self.nodes, self.kept = Graph(), {}, []

    def node(self, x, name="input"):
        if not isinstance(x, torch.Tensor):
            return x
        if id(x) not in self.nodes:
            self.nodes[id(x)] = self.graph.placeholder(f"{name}_{'_'.join(map(str, x.shape))}")
        return self.nodes[id(x)]

    def process(self, op, args, kwargs):
        result = op(*args, **kwargs)
        self.kept += [result, *args]  # an id is only unique among the living
        seen = tuple(map(self.node, args))
        self.nodes[id(result)] = (
            seen[0] if op.kind == "view" else self.graph.call_function(op, seen)
        )
        return result


def drawn(function, *args):
    with mode(Draw()) as draw:
        result = function(*args)
    draw.graph.output(draw.nodes[id(result)])
    return draw.graph.draw()


drawn(distance, many[0], few[0])

# %%
drawn(batched(lambda x: batched(lambda y: distance(x, y))(few)), many)

# %% [markdown]
# The same picture: a program for a batch is the program for one example, with other sizes and shifted dimensions.
#
# ## What a rule must not forget
#
# A rule is right if the batch gives what the loop gives, *in every respect*. One respect is easy to forget. In lesson 02 a
# tensor without dimensions counted less in type promotion than one with dimensions: a float32 vector times a float64
# *number* stays float32. In a batch, the numbers are a vector:

# %%
vectors, numbers = torch.ones(2, 3), torch.tensor([1.0, 10.0], dtype=torch.float64)
print("loop:   ", torch.stack([v * n for v, n in zip(vectors, numbers)]).dtype)
print("ours:   ", batched(mul)(vectors, numbers).dtype)
print("package:", torch.func.vmap(torch.mul)(vectors, numbers).dtype)

# %% [markdown]
# Ours is wrong. The package's rule converts the numbers first, to the dtype that the *examples* promote to. There are more
# of these traps: a reduction of a number, `-1` in a view, `argmax` without a dimension, an index that differs between
# examples, writing in place into something shared. Exercise 10.1 is about bugs of this kind.
#
# ## The package's own
#
# Everything above has its counterpart in `func/`. `Example` is `BatchTensor` in `batch_tensor.py`. It is a Tensor without
# data, so any program written for tensors runs with it. `Batching` is `VmapInterpreter`, and the stack is the topmost
# storey of the dispatcher, which you know from lesson 02. Here is the rule for pointwise operations:

# %%
import inspect

from minitorch_compile.func.batching import pointwise as pointwise_rules

print(inspect.getsource(pointwise_rules.pointwise))
print(inspect.getsource(pointwise_rules.aligned))

# %% [markdown]
# Rules are entered for *families*. There are hundreds of operations, and far fewer rules, as most operations are composites
# made of others, and all pointwise ones share the rule above. An operation has a rule or a reason, and a test fails if
# there is a gap. (`docs/ops.md` has a line for each operation.)

# %%
from collections import Counter

from minitorch_compile.course.drawings.table import Table
from minitorch_compile.func.batching.rules import FAMILIES, RULES as ITS_RULES, WITHOUT_A_RULE
from minitorch_compile.tensor import ops


def meaning_under_vmap(op):
    if op.kind in ("composite", "creation"):
        return "made of others" if op.kind == "composite" else "no input, so no batch"
    if op in ITS_RULES:
        return "a rule of its own"
    if getattr(op, "rows", False):
        return "the rule for what works on rows"
    return f"the {op.kind} rule" if op.kind in FAMILIES else "none: " + WITHOUT_A_RULE[op.name]


groups = Counter(map(meaning_under_vmap, ops.table.values()))
Table([{"under vmap": text, "operations": number} for text, number in groups.most_common()])

# %% [markdown]
# Operations without a rule run once for each example, with a warning, or refuse, where the size of the result depends on
# the data. And two kinds of programs can't be batched at all: those that ask for a number, as in `if x.sum() > 0`, since
# one example stands for many that may disagree; and those that draw random numbers without saying whether the examples
# shall share them.

# %%
for program in (lambda x: x if x.sum() > 0 else -x, lambda x: x + torch.rand(())):
    try:
        torch.func.vmap(program)(rows)
    except RuntimeError as error:
        print(str(error).partition(". ")[0])

# %% [markdown]
# ## A function becomes its gradient
#
# The second transform needs no new interpreter: the tape of lesson 08 is one. What remains is a function that enters it.
# Make the argument a leaf, run, walk back:


# %%
def gradient(function):
    """The gradient of a function of one tensor, whose result is one number."""

    def slope_at(x):
        x = x.view_as(x) if x.requires_grad else x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(function(x), x, create_graph=True)
        return slope

    return slope_at


two = torch.tensor(2.0)
print(*(g(two).item() for g in (gradient(torch.exp), gradient(gradient(lambda x: x**3)))))

# %% [markdown]
# One line deserves a second look. If x has a history, somebody outside is differentiating, too, and a fresh leaf would cut
# them off. Then we take a view of x: a place on the tape of its own, and still linked to the rest. That is what makes
# `gradient(gradient(f))` work.
#
# Now batch it. We have weights w, the same for all, and examples, and want the gradient in w *of each example*. A training
# step throws these away, as it only wants their sum. Whoever looks for outliers, measures noise, or trains with
# differential privacy, wants them one by one. Our `energy` is a function of one example and can be batched. So walk back
# through the batch?

# %%
leaf = weights.clone().requires_grad_()
results = batched(lambda x: energy(x, leaf))(points)
print("results:", results.shape)
print("gradient of the sum:", torch.autograd.grad(results.sum(), leaf)[0])

# %% [markdown]
# That is one gradient, the sum over all examples, since there was one leaf. The cure is simple. *Every example gets a leaf
# of its own*: w, repeated (without a copy) along the batch.

# %%
leaves = weights.expand(len(points), 2).detach().requires_grad_()
results = batched(energy)(points, leaves)
(slopes,) = torch.autograd.grad(results.sum(), leaves)
print(slopes.shape)

for i in (0, 5):
    print(slopes[i], gradient(lambda w: energy(points[i], w))(weights))

# %% [markdown]
# We still walk back from the *sum* of the results. Isn't that the same mistake? No, for example 3 doesn't read leaf 5. The
# slope of the whole sum along leaf 5 is that of result 5 alone; the rest is zero. The gradient of the sum has all
# gradients in it, side by side. This is the whole secret of `vmap(grad(f))`.
#
# Note the order of the storeys. Interpreters that batch are on top, the tape is *below* them. It never hears of examples;
# it records operations on whole batches, and walks back through whole batches. So the argument that `grad` makes a leaf
# must first be taken out of all running vmaps, and be given the dimension of each that it lacks. In the package that is
# `stripped`, and `restored` is the way back:

# %%
from minitorch_compile.func.levels import Levels

print(inspect.getsource(Levels.stripped))

# %% [markdown]
# ## Per-sample gradients of a network
#
# With both transforms, the request is one line. Here is a small network, as a function of its parameters:


# %%
def loss(parameters, x, y):
    """Of one sample."""
    hidden = torch.tanh(x @ parameters["first"])
    return ((hidden @ parameters["second"] - y) ** 2).sum()


torch.manual_seed(0)
parameters = {"first": torch.randn(3, 8), "second": torch.randn(8, 1)}
per_sample = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
one = torch.func.grad(loss)

for number in (5, 50):
    x, y = torch.randn(number, 3), torch.randn(number, 1)
    loop = counted(lambda: [one(parameters, a, b) for a, b in zip(x, y)])
    together = counted(per_sample, parameters, x, y)
    print(f"{number} samples: {len(loop)} or {len(together)} operations")

found = per_sample(parameters, x, y)
print({name: tuple(slope.shape) for name, slope in found.items()})
print(torch.allclose(found["first"][7], one(parameters, x[7], y[7])["first"], atol=1e-6))

# %% [markdown]
# `in_dims` says which dimension of each argument is the batch: none for the parameters, the first for x and y. A module
# becomes such a function by `torch.func.functional_call(model, parameters, (x,))`. Several models of one kind become one
# by stacking their parameters, and then it is the *parameters* that have a batch dimension.
#
# ## Forwards, by two passes backwards
#
# Walking back answers: if I nudge *any* input, how does this one result move? Sometimes the question is the other one. All
# inputs move at once, in a direction v; where do *all* results go? With the matrix J of all slopes, a row for each result,
# the walk back computes `u @ J` for weights u on the results; we now want `J @ v`. This is called jvp, for Jacobian-vector
# product. Does it need a second table of derivatives, one for this direction?
#
# It doesn't. The walk back is a function of u, and a *linear* one, since it only multiplies u by J. The slope of a linear
# function doesn't depend on where we are. So record the walk back, for any u, zeros will do, and walk back through *that*,
# with v coming in. Out comes J times v.


# %%
def push_forward(function, x, v):
    """How function(x) moves if x moves along v."""
    x = x.detach().requires_grad_()
    y = function(x)
    u = torch.zeros_like(y).requires_grad_()
    (pulled,) = torch.autograd.grad(y, x, u, create_graph=True)  # u @ J, as a function of u
    (pushed,) = torch.autograd.grad(pulled, u, v)
    return pushed


def curve(x):
    return torch.stack([x[0] * x[1], x[0].sin(), x[1] ** 3])


here = torch.tensor([0.5, 2.0], dtype=torch.float64)
v = torch.tensor([1.0, -1.0], dtype=torch.float64)
print("two passes back:", push_forward(curve, here, v))
print("by nudging:     ", (curve(here + 1e-6 * v) - curve(here - 1e-6 * v)) / 2e-6)
print("package:        ", torch.func.jvp(curve, (here,), (v,))[1])

# %% [markdown]
# The zeros look odd. `pulled` is all zeros, and yet its slope isn't: as with `2 * u` at u = 0. The package's
# `forward_mode.py` is these six lines, made of two calls of `vjp`.
#
# ## Whole matrices
#
# Now everything comes together. The whole of J is `u @ J` for each unit vector u: a row at a time. A row at a time is a
# loop, and a loop is something that we can get rid of. The walk back is itself made of operations, so it can be batched:


# %%
def jacobian(function, x):
    """All slopes: a row for each result, a column for each argument."""
    y, pull_back = torch.func.vjp(function, x)
    return torch.func.vmap(lambda u: pull_back(u)[0])(torch.eye(y.numel(), dtype=y.dtype))


print(jacobian(curve, here))
for size in (5, 50):
    print(size, "arguments:", len(counted(jacobian, torch.sin, torch.ones(size))), "operations")

# %% [markdown]
# In the package this is `jacrev`, for "reverse". The same with `jvp` gives a *column* at a time: `jacfwd`. Both give the
# same matrix. Which one is cheaper? `jacrev` has a batch as large as the number of results, `jacfwd` one as large as the
# number of arguments.
#
# The gradient of a function with one result is a function from n numbers to n numbers. Its Jacobian is the matrix of all
# second derivatives, the Hessian. In the package it takes one line, and you may read it as a poem: forwards, over
# backwards, over f.
#
# *Predict*: below, the Hessian of a function of three numbers is batched over ten points. Which sizes does the result
# have?

# %%
predict("10.hessians", None)

# %%
from minitorch_compile.func import jacobians

print(inspect.getsource(jacobians.hessian))


def bowl(x):
    return (x**3).sum() + x[0] * x[1]


print(torch.func.hessian(bowl)(torch.tensor([1.0, 2.0, 3.0])))
print(torch.func.vmap(torch.func.hessian(bowl))(torch.ones(10, 3)).shape)

# %% [markdown]
# Check the first: 6x on the diagonal, and 1 where the first two meet. The second line is the Hessian at each of ten points.
# Three vmaps and three walks back are stacked there, and none of them knows of the others.
#
# ## Beside PyTorch
#
# The vmap from the beginning, compiled by both:

# %%
from minitorch_compile.course.drawings.beside import beside

beside("10_vmap", torch.compiler.inspect(torch.func.vmap(length), rows).graph.code)

# %% [markdown]
# Both tracers go through the transform and write down the program for *one* example, with sizes of one example: (2,),
# though the rows are (3, 2). Around it stand calls that enter the level, take an example out of the batch, put the
# results back, and leave. The batching rules are applied one floor below, when operations are traced. Only the names
# differ, and PyTorch loads its decompositions first.
#
# ## What PyTorch does differently
#
# - Its functorch has one stack for all transforms: each `vmap`, `grad` or `jvp` that is entered is a *level* inside the
# dispatcher, and a tensor is wrapped once for each. Ours has levels for vmap only, with one tape below all of them. That is
# simpler, and needs the care of `stripped`.
# - It has *formulas for the forward direction*, in `derivatives.yaml` beside those for the backward one. A jvp then takes
# one pass, keeps no tape, and costs less memory. Ours takes two passes back.
# - Its vmap moves the batch dimension lazily: a batched tensor remembers *which* dimension is the batch, and a rule moves
# it only if it must. Ours moves it to the front when vmap is entered. For strided tensors this is a view; a kernel may
# then read less contiguously.
# - `torch.compile` traces through its transforms, so `vmap(grad(f))` becomes one graph, in which calls enter and leave each
# level. Ours does, too; its calls enter a vmap, take an example out of the batch, and put it back.
#
# ## Exercises
#
# Open `work/10_function_transforms.ipynb`. There are seven, in two parts. The first two take half an hour: three planted bugs,
# and second derivatives in many directions without the matrix. The other five, an hour and three quarters, write a file.
#
# ## What you write
#
# `mini/transforms.py`: `vmap` as a layer on your own stack, and `jvp`, which nest in each other and in the `grad` of your tape.
# Your jvp takes two passes back, as above. The package's version, `func/`, has `jacfwd`, `jacrev` and `hessian`, batching rules for all its ops, randomness inside of vmap, results that are
# any nest of containers, chunks, and `functional_call`.
