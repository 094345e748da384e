# %% [markdown]
# # 08 Autograd: the tape
#
# Here is a function of two thousand numbers, and a question about it: if I nudge the first number a little, how much
# does the result change? And the second? And each of the others? The obvious method is to nudge them, one after the
# other.

# %%
import minitorch_compile as torch

numbers = torch.linspace(-1, 1, 2000, dtype=torch.float64)


def loss(x):
    return ((x * x).sin() * x.exp()).sum()


def nudge_each(f, x, step=1e-6):
    """The slope of f along each element of x, by trying."""
    slopes = torch.zeros_like(x)
    for i in range(x.numel()):
        up, down = x.clone(), x.clone()
        up[i] += step
        down[i] -= step
        slopes[i] = (f(up) - f(down)) / (2 * step)
    return slopes


def walk_back(f, x):
    """The same by automatic differentiation."""
    x = x.clone().requires_grad_()
    f(x).backward()
    return x.grad


# %% tags=["varies"]
import time

for method in (nudge_each, walk_back):
    start = time.perf_counter()
    slopes = method(loss, numbers)
    took = 1e3 * (time.perf_counter() - start)
    print(f"{method.__name__:<12} {took:9.2f} ms   first slope {slopes[0].item():.9f}")

# %% [markdown]
# The second method is hundreds of times faster, and exact. It would be just as fast, relative to the function itself,
# for a hundred million numbers: computing *all* slopes costs a small multiple of what computing the function costs, however
# many there are. Neural networks are possible because of this one fact. In this lesson you build the machine behind it,
# in less than fifty lines, and it will look like nothing at all.
#
# ## Slopes multiply
#
# Take two functions in a row: first `u = x * x`, then `y = sin(u)`. At x = 3, a nudge of x by a tiny h changes u by
# 6 h, since the slope of a square is 2x. A change of u by 6 h changes y by cos(9) times that. So y changes by
# `cos(9) * 6 * h`. Slopes along a chain multiply. That is the chain rule, and there is nothing more to it.
#
# Now with many numbers and many steps there are two ways to multiply. Start at the input, and carry along how everything
# depends on x[0]; then again for x[1], and so on: two thousand walks. Or start at the *output*, and carry backwards how
# the result depends on everything seen so far: one walk, which ends with all two thousand answers. Backwards is the
# right direction whenever there are many inputs and one output. The price: you must know what was computed, in order to
# walk through it again. Somebody has to keep a record. We call it the tape.
#
# ## A tape in twenty lines
#
# A number that takes part in the recording has its value, and the *node* that made it. A node knows the numbers it was
# made from, and a *formula*: given the slope of the final result with respect to its output, what are the slopes with
# respect to its inputs?

# %%
import numpy as np


class Node:
    """One recorded step."""

    def __init__(self, op, inputs, formula):
        self.op, self.inputs, self.formula = op, inputs, formula


class Var:
    """An array that remembers where it came from. A leaf has no node."""

    def __init__(self, value, node=None):
        self.value, self.node, self.grad = np.asarray(value, float), node, None


def mul(x, y):
    return Var(x.value * y.value, Node(np.multiply, [x, y], lambda g: [g * y.value, g * x.value]))


def add(x, y):
    return Var(x.value + y.value, Node(np.add, [x, y], lambda g: [g, g]))


def sin(x):
    return Var(np.sin(x.value), Node(np.sin, [x], lambda g: [g * np.cos(x.value)]))


def exp(x):
    out = Var(np.exp(x.value))
    out.node = Node(np.exp, [x], lambda g: [g * out.value])
    return out


def total(x):
    return Var(x.value.sum(), Node(np.sum, [x], lambda g: [np.full(x.value.shape, g)]))


# %% [markdown]
# Read the formulas one by one. A product passes the slope on, times the *other* factor. A sum passes it on unchanged, to
# both. A sine multiplies by a cosine, an exponential by its own output, which it has kept. Adding everything up gives
# every element the same slope. None of them knows what it is part of. Each formula is local, and that is the secret: the
# chain rule needs only local knowledge.
#
# Notice as well what the formulas *hold on to*. `mul` needs both its inputs, later, in the walk back. They can't be freed
# when the forward pass is done with them. This is where the memory of training goes.
#
# ## The walk back
#
# Begin with slope 1 at the result. Ask its node for the slopes of its inputs, go to those, ask again. Here is a first try,
# in the way one would write it down without thinking:

# %%
visits = 0


def walk_naively(var, slope):
    global visits
    visits += 1
    var.grad = slope if var.grad is None else var.grad + slope
    if var.node is not None:
        for x, part in zip(var.node.inputs, var.node.formula(slope)):
            walk_naively(x, part)


x = Var(0.5)
y = mul(x, sin(x))
walk_naively(y, 1.0)
print("slope:", x.grad, " expected:", np.sin(0.5) + 0.5 * np.cos(0.5))

# %% [markdown]
# It is right. x was used twice, so two slopes arrive, and they are added: how much the result changes if x changes is the
# sum over all the ways in which x matters. Now a longer program, which doubles a number again and again by adding it to
# itself:
#
# *Predict*: each of five additions adds a number to itself. How often will `walk_naively` be called?

# %%
from minitorch_compile.course import predict

predict("08.visits", None)

# %%
for length in (5, 10, 15):
    visits, x = 0, Var(1.0)
    y = x
    for _ in range(length):
        y = add(y, y)
    walk_naively(y, 1.0)
    print(f"{length} additions: {visits:6} visits, slope {x.grad:.0f}")

# %% [markdown]
# Fifteen additions, sixty-five thousand visits. Each node is walked through once for *every path* that leads to it, and
# paths double with every step. The cure is patience. Before a node passes its slope on, it waits until all slopes that
# are due have arrived. Then every node is visited once. So first count how many slopes each node has to wait for; then
# start at the result, and go on to a node as soon as its count is down to zero.


# %%
def backward(result):
    """Adds to .grad of every Var that `result` depends on. No recursion: a tape may be long."""
    waiting, found = {}, [result]
    for var in found:  # the list grows while we go
        for x in var.node.inputs if var.node else []:
            if x not in waiting:
                waiting[x] = 0
                found.append(x)
            waiting[x] += 1
    slopes, ready = {result: np.ones_like(result.value)}, [result]
    while ready:
        var = ready.pop()
        slope = slopes.pop(var)
        if var.node is None:
            var.grad = slope if var.grad is None else var.grad + slope
            continue
        for x, part in zip(var.node.inputs, var.node.formula(slope)):
            slopes[x] = slopes[x] + part if x in slopes else part
            waiting[x] -= 1
            if waiting[x] == 0:
                ready.append(x)


x = Var(1.0)
y = x
for _ in range(50):
    y = add(y, y)
backward(y)
print(f"50 additions: slope {x.grad:.0f} = 2 ** 50")

# %% [markdown]
# That is a complete engine. Give it the function we started with:

# %%
leaf = Var(numbers.numpy())
whole = total(mul(sin(mul(leaf, leaf)), exp(leaf)))
backward(whole)
differences = np.abs(leaf.grad - walk_back(loss, numbers).numpy())
print("largest difference from the package:", differences.max())

# %% [markdown]
# ## Look at it
#
# The tape is a graph, and a graph can be drawn. Time runs downwards; the walk back runs upwards. Two arrows leave x. The
# one to `multiply` stands for two uses, so three slopes will be added up at x.

# %%
from minitorch_compile.fx import Graph


def draw_tape(result, **names):
    """The recorded steps, from the leaves down to the result."""
    graph, drawn = Graph(), {}

    def draw(var):
        if var not in drawn:
            if var.node is None:
                drawn[var] = graph.placeholder(
                    next((n for n, v in names.items() if v is var), "leaf")
                )
            else:
                drawn[var] = graph.call_function(var.node.op, tuple(map(draw, var.node.inputs)))
        return drawn[var]

    graph.output(draw(result))
    return graph.draw()


draw_tape(whole, x=leaf)

# %% [markdown]
# ## Broadcasting, turned round
#
# Our `add` has a bug. Let x be (3, 4) and y be (4,): the sum is (3, 4), and so is the slope that arrives. But y has only
# four numbers, and each of them was read three times. Three ways to matter, three slopes to add. So the formula has to sum
# over every dimension that was stretched on the way in. In the package this is one function, and every formula of an op
# that broadcasts ends with it:

# %%
import inspect

from minitorch_compile.autograd import derivative_table

print(inspect.getsource(derivative_table.sum_to))

# %% [markdown]
# You will write your own in exercise 08.3. Stretching forward is summing backward, and the other way round: the
# slope of a sum is a stretch, as in `total` above. Most formulas come in such pairs. The backward of a gather is a
# scatter, of a transpose another transpose, of a matrix product two matrix products.
#
# How does one find such a formula? By asking our question of a single number. Let C be A @ B. The element A[i, j] takes
# part in row i of C, and nowhere else: it is multiplied with B[j, k] and added to C[i, k], for every k. So a nudge of
# A[i, j] by h moves C[i, k] by h times B[j, k], and if G is the slope that arrives at C, the slope of A[i, j] is the sum
# over k of G[i, k] times B[j, k]. That is a matrix product again, of G and B turned on its side. For B it is A on its
# side, times G. If you forget which is which, the sizes leave you no choice.
#
# ## The package's own tape
#
# `requires_grad` marks a leaf. Every op that touches it leaves a node, which you can look at: `grad_fn` is our `node`, and
# `next_functions` are the edges towards the inputs.

# %%
x = torch.tensor([0.5, 2.0], requires_grad=True)
y = (x * x).sin() * x.exp()
print(y.grad_fn.name())
for node, _ in y.grad_fn.next_functions:
    print("   ", node.name(), [n.name() for n, _ in node.next_functions])

# %% [markdown]
# The formulas stand in a table keyed by op, in `autograd/derivatives/`. Here are two rows. They say the same as ours:

# %%
from minitorch_compile.autograd.derivative_table import DERIVATIVES
from minitorch_compile.tensor import ops

for op in (ops.mul, ops.exp):
    print(inspect.getsource(inspect.unwrap(DERIVATIVES[op].formula)))

# %% [markdown]
# The annotations tell the tape what to keep. `Tensor` is a value that the formula needs, so it is held until the walk back;
# `Unused` and `Layout` are not, and the memory is free. `exp` keeps its output and not its input. The engine is
# `autograd/engine.py`: the same walk as our `backward`, but it takes the latest node that is ready instead of counting, with
# hooks and threads around it.
#
# ## Slopes of slopes
#
# There is one difference between our formulas and the package's, and it is a large one. Ours compute with NumPy. Theirs
# are written in *ops*, `grad * y`, the same ops that user programs consist of. So the walk back is itself a program that
# can be recorded, and walked back through. Ask for it with `create_graph=True`:

# %%
x = torch.tensor(2.0, requires_grad=True)
y = x**4
(first,) = torch.autograd.grad(y, x, create_graph=True)
(second,) = torch.autograd.grad(first, x, create_graph=True)
(third,) = torch.autograd.grad(second, x)
print(first.item(), second.item(), third.item(), " expected: 4x^3 = 32, 12x^2 = 48, 24x = 48")

# %% [markdown]
# Second derivatives of a whole model would be a matrix as large as the number of parameters squared. But a *product* of
# that matrix with a vector is just the slope of a slope, and costs about as much as two backward passes. Exercise 10.2
# takes many of them at once. It is also why a compiler can do its work ahead of time: lesson 11 records the walk back like any other program.
#
# ## What can go wrong
#
# The tape holds on to values. What if somebody overwrites one, before the walk back needs it?

# %%
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
z = y * 1
y.add_(1)
try:
    z.sum().backward()
except RuntimeError as error:
    print("RuntimeError:", error)

# %% [markdown]
# `exp` had kept its output, and the output is no longer e to the x. The result would have been wrong by one, in silence.
# Every storage therefore counts how often it was written to. A node notes the count when it keeps a tensor, and compares
# when it uses it. A view shares the storage of its base, so writing through any view is noticed, too.
#
# Three more rules, each of which somebody runs into every day. Slopes arrive in `.grad` of *leaves*, and there they are
# **added** to what is there. That lets you split a batch in two and walk back twice, and it is why a training loop begins
# with `zero_grad()`. Second, the tape is spent when it has been walked: its kept values are freed. A second walk needs
# `retain_graph=True` on the first. And third, code that needs no tape can say so, and runs faster and with less memory.

# %%
w = torch.ones(2, requires_grad=True)
for _ in range(2):
    (w * 3).sum().backward()
    print("w.grad =", w.grad)
loss_twice = (w * w).sum()
loss_twice.backward()
try:
    loss_twice.backward()
except RuntimeError as error:
    print("RuntimeError:", str(error).partition(".")[0])
with torch.no_grad():
    print((w * 3).requires_grad, (w * 3).grad_fn)

# %% [markdown]
# What about writing to a leaf? The optimizer does nothing else, and yet `w.add_(1)` is an error while a tape is running:
# afterwards w would be the result of an addition, with a history, and no leaf any more, so nobody could say where its
# slope should arrive. Under `no_grad` nothing is recorded, the leaf stays a leaf, and only its numbers are new. That is
# what every `step()` of lesson 09 does. Its small brother is `x.detach()`: the same memory, seen by somebody whom the tape
# doesn't know. It is for values that shall be used and not be learned from, such as a target that the model itself has
# computed.
#
# ## Listening in
#
# Between two nodes a slope is an ordinary tensor, so you may look at it, or change it, on its way. A *hook* on a tensor is
# called with the slope that arrives there. What it returns, if anything, travels on in its place. People use this to find
# the layer in which gradients vanish, to clip them, or to turn them round. Let's watch how a chain of sigmoids, the
# fashion of the nineties, starves its own first layers:

# %%
sizes = []
x = torch.ones(4, requires_grad=True)
y = x
for _ in range(8):
    y = torch.sigmoid(3 * y - 1)
    y.register_hook(lambda slope: sizes.append(slope.abs().max().item()))
y.sum().backward()
print("from the last layer to the first:", [f"{size:.4f}" for size in sizes])

# %% [markdown]
# Each layer multiplies by its local slope, here about a half, and after eight of them little is left of what the first
# layer should learn from. Nothing is wrong with the engine. The product of many small numbers is small. Rectifiers, whose
# slope is 1 or 0, residual connections, whose slope is 1 plus something, and careful initialisation, which lesson 09 is
# about, are all answers to this one list of numbers.
#
# ## Less memory for more time
#
# Since memory goes into what the tape keeps, one can decide to keep less, and compute it again when it is needed. That is
# *checkpointing*: a part of the model runs without a tape, only its inputs are kept, and in the walk back it is run once
# more, with a tape this time. Count what the formulas of a deep chain hold:

# %%
from minitorch_compile.utils.checkpoint import checkpoint


def kept_bytes(function, x) -> int:
    """The bytes that the tape holds when `function(x)` is done."""
    kept = {}

    def note(tensor):
        kept[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = function(x)
    assert result.requires_grad
    return sum(kept.values())


def block(x):
    return (x.sin() * x.exp()).tanh()


def deep(x, around=lambda f, x: f(x)):
    for _ in range(10):
        x = around(block, x)
    return x


def run_again(f, x):
    return checkpoint(f, x, use_reentrant=False)


x = torch.ones(1000, requires_grad=True)
print("all kept:    ", kept_bytes(deep, x), "bytes")
print("checkpointed:", kept_bytes(lambda x: deep(x, run_again), x), "bytes")

# %% [markdown]
# None of the formulas holds anything: what is left are the inputs of the ten blocks, 4,000 bytes each, which `checkpoint`
# holds itself. A third of the memory, for one more forward pass. The gradients are the same, to the last bit. Lesson 11
# has a compiler find the best trade by itself, as a minimum cut
# through the graph.
#
# ## How do you know that a formula is right?
#
# By nudging. The method from the top of this lesson is slow, and needs nothing but the function itself, so it makes an
# independent oracle. `gradcheck` compares the two in float64, for every element of every input, and `gradgradcheck` does
# it for the slopes of slopes. Every row of the table is tested like this, with awkward sizes:

# %%
from minitorch_compile.autograd import gradcheck

x = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64, requires_grad=True)
print(gradcheck(lambda x: (x.sin() * x).cumsum(0), (x,)))


class Wrong(torch.autograd.Function):
    """x cubed, with a formula that forgets the 3."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x**2


try:
    gradcheck(Wrong.apply, (x,))
except RuntimeError as error:
    print(str(error).splitlines()[0])

# %% [markdown]
# ## Beside PyTorch
#
# Both libraries let you walk along a tape. The same few lines do it here and in PyTorch:

# %%
from minitorch_compile.course.drawings.beside import beside


def walked(node, depth=0):
    """The tape from a node towards the leaves, a node a line."""
    lines = ["  " * depth + type(node).__name__]
    for earlier, _ in node.next_functions:
        lines += walked(earlier, depth + 1) if earlier else []
    return lines


result = loss(numbers.clone().requires_grad_())
beside("08_tape", "\n".join(walked(result.grad_fn)))

# %% [markdown]
# Node for node the same, down to the names: `AccumulateGrad` stands for a leaf, and x is reached three times. There
# the nodes are C++ objects, generated with their formulas; `SumBackward0` is the first overload of a sum, which is
# what the 0 is for.
#
# ## What PyTorch does differently
#
# - Its nodes and engine are C++, generated from a file of about a thousand formulas, `derivatives.yaml`. Ours are Python
# functions, and higher derivatives come from the same trick: the formulas are written in ops.
# - Its engine has a thread for each device and a queue ordered by age, so that long tapes on several GPUs run in
# parallel. Ours walks in the thread that called `backward`.
# - It also differentiates forwards, input to output, with *dual numbers*. Lesson 10 builds that as a transform.
# - A node of PyTorch's keeps its saved values in packed form, for hooks that move them to other memory. Ours keeps the
# tensors, and packs them only while `saved_tensors_hooks` is on, as above.
#
# ## Exercises
#
# Open `work/08_autograd.ipynb`. There are nine. The first asks what `.grad` holds after eight short programs. The other
# eight, three hours, write a file.
#
# ## What you write
#
# `mini/tape.py`. With it your tensors have gradients: a layer at the bottom of your stack notes how each result was made, an
# engine walks the notes backwards, and `grad` gives derivatives of derivatives. It refuses what it would get wrong: a second
# walk, a tensor that was written to after a formula had read it, a write through a view. The package's version, `autograd/`,
# allows the last, by making the histories of all views anew; it also has hooks, checkpoints, functions with gradients of
# your own, and the formulas of all ops of the package.
