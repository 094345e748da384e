# %% [markdown]
# # 11 Ahead-of-time autograd and the partitioner
#
# Here is a smooth step that neural networks like, on a quarter of a million numbers. Training wants its gradient, so
# the tape of lesson 08 holds on to what the walk back will need. How much is that? And how much is it once the function
# is compiled?

# %%
import minitorch_compile as torch


def bend(x):
    return 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.045 * x**3)))


def held_by_the_tape(function, *args):
    """The bytes of each tensor that is kept for the walk back."""
    held = {}

    def note(tensor):
        held[tensor.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        function(*args)
    return list(held.values())


x = torch.linspace(-3, 3, 250_000, requires_grad=True)
held = held_by_the_tape(bend, x)
print(f"the tape holds {len(held)} tensors, {sum(held)} bytes")
print("compiled, it", torch.compiler.inspect(bend, x).partition)

# %% [markdown]
# Less memory, and the gradient is the same. The last line tells how: what the walk back needs and doesn't find, it
# computes again. Nobody has rewritten `bend`, and nobody has said `checkpoint`. In training, what is held between the
# two passes is often most of the memory, so this is no small matter: it decides how large a model fits.
#
# Why couldn't the tape do that? Because of *when* it learns things. It meets one operation after the other, while the
# numbers flow. When `tanh` is done, the tape doesn't know what will come next, nor what else will be kept, and so every
# formula keeps what it asks for. To choose well, somebody must see both passes, whole, **before the first number
# flows**. Then it is a question about a graph: which values shall cross from the forward pass to the backward pass?
#
# This lesson goes there in four steps: run programs without numbers; make programs that write into tensors harmless;
# write down both passes as one graph; and cut the graph in two where it is narrowest.
#
# ## Tensors without numbers
#
# How do you run a program before there are numbers? A value that has sizes and nothing else is enough to find out what
# a program does. You met such *fakes* in lesson 04. An interpreter for them takes fifteen lines. It doesn't compute; it
# looks up a *shape rule*: given the sizes of the arguments, what are those of the result?

# %%
import numpy as np

RULES = {}


def shape_rule(*ops):
    return lambda function: RULES.update(dict.fromkeys(ops, function))


class Fake(tuple):
    """The sizes of a tensor, for the tensor."""


def call(op, *args):
    """Fakes go to the shape rule, tensors to the operation."""
    return RULES[op](*args) if any(isinstance(x, Fake) for x in args) else op(*args)


@shape_rule(torch.add, torch.mul, torch.tanh)
def _(*args):
    return Fake(np.broadcast_shapes(*args))


@shape_rule(torch.matmul)
def _(x, w):
    if x[-1] != w[-2]:
        raise RuntimeError(f"matmul: {x} times {w}: {x[-1]} isn't {w[-2]}")
    return Fake((*x[:-1], w[-1]))


def deep(x, weights):
    for w in weights:
        x = call(torch.tanh, call(torch.matmul, x, w))
    return x


print(deep(torch.ones(1, 2), [torch.ones(2, 3)]))
huge = Fake((10**6, 10**6))
print(deep(huge, [huge] * 100))

# %% [markdown]
# A hundred layers, each with a thousand billion weights, in no time and no memory. Nothing was multiplied. The errors
# are there all the same: a (2, 3) times a (4, 5) is refused by the rule.
#
# In the package a fake tensor is no class of its own. It is a tensor *whose storage has no buffer*. It has all that a
# tensor has, and views share their storage as real ones do. Each operation has its shape rule, called `meta`, which
# gives strides and dtype, too. Then the interpreter is one line, and a mode of the dispatcher: `op.meta(*args)` in
# place of the call. Inside it whole programs run that were written without a thought of it:

# %%
from minitorch_compile._subclasses.fake_tensor import FakeTensorMode

with FakeTensorMode():
    model = torch.nn.Sequential(*(torch.nn.Linear(10**6, 10**6) for _ in range(100)))
    turned = model(torch.randn(8, 10**6)).t()
print(f"{sum(p.numel() for p in model.parameters()):,} weights")
print(turned.shape, turned.stride(), turned.dtype, "shared:", turned[0].storage is turned.storage)
try:
    turned[0, 0].item()
except RuntimeError as error:
    print(type(error).__name__, "-", str(error).partition("(")[0])

# %% [markdown]
# Put a mode on the dispatcher that writes down what it is asked, and answers with fakes, and you have a tracer for
# *operations*. You wrote one in lesson 10, to draw. It sees more than the tracer of lesson 04, which notes the calls
# that the user wrote: composites have dissolved by the time they come to the bottom, and so has Python. The package's
# is called `trace`, and it leaves the fake of each node in `node.meta["val"]`:

# %%
from minitorch_compile.aot import trace
from minitorch_compile.tensor import empty_fake, ops


def layer(x, w):
    h = x @ w
    return h * torch.sigmoid(h)


batch, weight = empty_fake((64, 32)), empty_fake((32, 128))
traced = trace(layer, [batch, weight])
print(traced.graph.compact())
*values, output = traced.graph.nodes
print({node.name: tuple(node.meta["val"].shape) for node in values})

# %% [markdown]
# ## Programs that write
#
# There is one kind of program that this tracer refuses. Here it is, as the graph that Dynamo would capture:

# %%
from minitorch_compile.fx import symbolic_trace


def scaled(x):
    row = x[0]
    row.mul_(10)
    return x + 1


symbolic_trace(scaled).graph.draw()

# %% [markdown]
# Look at the multiplication. It leads nowhere, and yet it matters, for x has changed when the 1 is added. The arrows
# don't say so. A pass that follows arrows may drop it, or move it behind the addition. And what we are up to is worse:
# we want to compute things *again*, much later, from values that we believe to know. With writes in a program, "the
# value of x" has no meaning, unless one adds a time.
#
# So the writes have to go. The plan is an old one, and compilers of all languages use it: *single assignment*. In the
# new program every value is made once and never changed. What the user calls x becomes a *name*, and a write gives the
# name another value. And views? `row` and x share memory, so a write to one must be seen through the other. We keep
# **one value for each storage**, and remember for each name by which views it is reached. Reading follows the views.
# Writing follows them, too, and then goes back.

# %%
from minitorch_compile.fx.arguments import map_aggregate


class Functional:
    """A mode: tensors of the program are names, and what goes down is never written to."""

    def __init__(self):
        self.values = {}  # for each storage the value of all of it
        self.views = {}  # for each name the views that lead to it

    def name(self, tensor, value):
        self.values[tensor.storage] = value
        self.views[id(tensor)] = tensor, []
        return tensor

    def value(self, x):
        if not isinstance(x, torch.Tensor):
            return x
        value = self.values[x.storage]
        for op, args in self.views[id(x)][1]:
            value = op(value, *args)
        return value

    def process(self, op, args, kwargs):
        args = op.bind(args, kwargs)
        if op.kind == "view":
            view = op.meta(*args)
            self.views[id(view)] = view, [*self.views[id(args[0])][1], (op, args[1:])]
            return view
        values = map_aggregate(args, self.value)
        if op.kind != "inplace":
            return self.name(op.meta(*args), op(*values))
        x, new = args[0], op.functional(*values)
        self.values[x.storage] = written(self.values[x.storage], self.views[id(x)][1], new)
        return x


# %% [markdown]
# Follow `scaled` through it. At the start there is one storage, and its value is the argument. `x[0]` computes nothing;
# it is a name, and one view leads to it. `mul_` asks for the value of that name, so now the row is picked, and
# multiplied. The result is a new row, which has to be worked into the value of the whole. From then on, whoever asks
# for x, or for any view of it, is given the new whole.
#
# `op.functional` is the form of an operation that doesn't write: `mul` for `mul_`. What is missing is `written`, the
# way back through the views. For each kind of view it needs an *inverse*: given all of it, and the new value of the
# view, what is the new value of all? A transposed matrix is transposed back. A row is put between the rows above it and
# below it.

# %%
INVERSE = {}


def written(whole, views, new):
    """The whole, after `new` was written to what is at the end of the views."""
    if not views:
        return new
    (op, args), *rest = views
    part = written(op(whole, *args), rest, new)
    return INVERSE[op](whole, part, *args)


def row_replaced(whole, new, dim, index):
    above = ops.slice(whole, dim, 0, index)
    below = ops.slice(whole, dim, index + 1, whole.shape[dim])
    return ops.cat([above, ops.unsqueeze(new, dim), below], dim)


INVERSE[ops.t] = lambda whole, new: ops.t(new)
INVERSE[ops.select] = row_replaced

# %% [markdown]
# Now trace a program through both modes, names above, the tracer below. The new graph returns the result, and after it
# the final value of each argument. Whoever calls it copies these over the arguments at the end. It is the only write
# that is left, and it lies outside the graph.

# %%
from functools import wraps

from minitorch_compile.tensor import fake_like
from minitorch_compile.tensor.dispatch.dispatch import mode


def without_writes(program, *examples):
    @wraps(program)
    def renamed(*args):
        names = Functional()
        stand_ins = [names.name(fake_like(x), x) for x in args]
        with mode(names):
            result = program(*stand_ins)
        return names.value(result), *map(names.value, stand_ins)

    return trace(renamed, examples)


def run(graph_module, *args):
    result, *finals = graph_module(*args)
    for x, final in zip(args, finals):
        x.copy_(final)
    return result


def column_scaled(x):
    x.t()[2].mul_(10)
    return scaled(x)


for program in (column_scaled, scaled):
    functional = without_writes(program, torch.ones(3, 3))
    ours, plain = torch.ones(3, 3), torch.ones(3, 3)
    print(torch.equal(run(functional, ours), program(plain)), torch.equal(ours, plain))
functional.graph.draw()

# %% [markdown]
# Every box leads somewhere now, and arrows say everything. The price seems high: the whole matrix is put together anew
# for one row. But nothing of this has to happen in memory. Later floors turn the parts of such a `cat` into one loop,
# and the memory plan of lesson 17 may well decide to do it in place.
#
# The package's `Functionalize`, in `aot/functionalize.py`, has the same shape, and an inverse for each kind of view
# (`aot/aliasing/view_inverses.py`). It also covers what ours doesn't: `detach`, writes under `no_grad`, two results that share
# memory. What a graph of pure functions can't say is noted beside it, and done around it at each call. Here two
# arguments are overwritten, and the results are no new tensors at all, but the second argument and a view of the first:

# %%
from minitorch_compile.aot.functional_program import functional_program


def awkward(x, y):
    x.t()[1].add_(y)
    return x[0], y.relu_()


program = functional_program(symbolic_trace(awkward), [empty_fake((2, 2)), empty_fake((2,))])
print(program.graph_module.graph.compact())
for mutation in program.mutations:
    print(mutation)
for plan in program.outputs:
    print(type(plan).__name__, plan.index, [step.op for step in plan.steps])

# %% [markdown]
# ## Both passes, one graph
#
# Now for the walk back. Lesson 08 ended with a remark: derivative formulas are written in operations, so the walk back
# is itself a program. A program can be traced. So let's write the function that does both, with the slope that comes in
# as an argument. It is called the *tangent* here, as in PyTorch.

# %%
from minitorch_compile.fx.draw import draw


def both(tangent, x, w):
    result = layer(x, w)
    (slope,) = torch.autograd.grad(result, w, tangent)
    return result, slope


weight.requires_grad = True
joint = trace(both, [empty_fake((64, 128)), batch, weight])
print(joint.graph.compact())

# %% [markdown]
# This is the **joint graph**. The tape was there, but only while we traced. In the dispatcher it lies above the modes,
# so it recorded `layer` on fakes, was walked back at once, and every operation of every formula went down to the
# tracer. When the numbers come, there will be no tape any more, no engine that counts slopes, and no formula to look
# up. And x, which requires no gradient, has caused no work: nobody asked for its slope.
#
# In the drawing a box is blue if it is needed for the result, and orange otherwise. Follow the arrows from blue to
# orange. These are the values that the walk back reads, and the reason why training takes so much memory.

# %%
from minitorch_compile.aot.subgraph import ancestors, descendants, extract


def parts(joint):
    """The tangent, the inputs, the result and the gradients."""
    tangent, *inputs = joint.graph.find_nodes(op="placeholder")
    result, *gradients = joint.graph.output_node().args[0]
    return tangent, inputs, result, gradients


def draw_joint(joint, saved=()):
    forward = ancestors([parts(joint)[2]])

    def kind(node):
        side = "forward" if node in forward else "backward"
        return "saved" if node in saved else side

    return draw(joint.graph, kind=kind)


draw_joint(joint)

# %% [markdown]
# ## Cutting it in two
#
# Two programs have to be made of this, since the tangent comes late: between the two passes lies the rest of the model.
# The forward one returns the result, and some values to be saved. The backward one takes those, and the tangent. What
# may be chosen as `saved`? Anything from which the rest can be computed. `extract` walks up from what is wanted and
# stops at what is given. So if the backward graph meets a blue box that wasn't saved, it simply takes a copy of it
# along. That is called *recomputation*, and no line of code is needed for it.


# %%
def split(joint, saved):
    tangent, inputs, result, gradients = parts(joint)
    forward = extract(joint, inputs, [result, *saved])
    backward = extract(joint, [*saved, tangent], gradients)
    return forward, backward


def read(joint):
    """The blue values that orange boxes read."""
    forward = ancestors([parts(joint)[2]])
    reached = ancestors(parts(joint)[3], stop_at=forward)
    return [node for node in joint.graph.nodes if node in forward & reached]


def size(node):
    value = node.meta["val"]
    return value.numel() * value.element_size()


def names(nodes):
    return ", ".join(node.name for node in nodes)


print("the walk back reads", names(read(joint)))
node = {node.name: node for node in joint.graph.nodes}
choices = [read(joint), [node["mm"], node["x"]], [node["x"], node["w"]]]

# %% [markdown]
# Three choices: all that is read; the product and x, from which the sigmoid is made again; the arguments alone. What
# does each cost? We count the bytes between the passes, and the work in the second one.

# %%
from minitorch_compile.course.drawings.table import Table


def cost(joint, saved):
    calls = split(joint, saved)[1].graph.find_nodes(op="call_function")
    return {
        "saved": names(saved),
        "bytes": sum(map(size, saved)),
        "operations backward": sum(call.target.kind != "view" for call in calls),
        "matrix products": sum(call.target is ops.mm for call in calls),
    }


Table([cost(joint, saved) for saved in choices])

# %% [markdown]
# Now with numbers. The two graphs become *one node* of the tape, whatever is between them. That node is all that the
# rest of the model sees. Its formula is the backward graph.


# %%
def ahead_of_time(joint, saved):
    forward_graph, backward_graph = split(joint, saved)

    class Compiled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            result, *kept = forward_graph(x, w)
            ctx.save_for_backward(*kept)
            return result

        @staticmethod
        def backward(ctx, tangent):
            return None, *backward_graph(*ctx.saved_tensors, tangent)

    return Compiled.apply


x, w = torch.randn(64, 32), torch.randn(32, 128, requires_grad=True)
(expected,) = torch.autograd.grad(layer(x, w).sum(), w)
for saved in choices:
    result = ahead_of_time(joint, saved)(x, w)
    print(torch.equal(torch.autograd.grad(result.sum(), w)[0], expected), names(saved))

# %% [markdown]
# The same gradients, to the last bit. **A cut changes memory and speed, and never a result.** So a partitioner may
# choose as it likes, and it is only a matter of price. The third choice has the fewest bytes here, but it multiplies
# two matrices once more. The second makes a sigmoid again, which a fused kernel does on the way, while it waits for
# memory anyway.
#
# ## The narrowest place
#
# In a graph of thousands of boxes nobody tries all choices. Luckily, the question is one of the few hard-looking ones
# with a quick answer. See the values as *pipes*. Everything the walk back needs flows to it through them, from where it
# can't be made again: a **source**, at the arguments, and a **sink**, at the orange boxes. A pipe is as wide as its
# value is large. Saving a value is cutting its pipe. We look for the cheapest set of pipes whose cutting leaves no way
# from source to sink.
#
# How to find it? Turn the question round, and ask how much can *flow*. No more than fits through any cut. And if a flow
# is found that fills some cut to the brim, then no cut can be narrower. So send water along some path, as much as fits;
# then along another; until there is none. One idea makes this right: water that was sent along a pipe may be sent back,
# which takes back a bad choice. (Ford and Fulkerson, 1956. The question came from a report on railways, where the cut
# was to be made by bombs.)
#
# *Predict*: the cell below ends with a small network: pipes of width 3 and 2 leave the source, 1 leads from a to b,
# and 1 and 4 lead to the sink. How much can flow?

# %%
from minitorch_compile.course import predict

predict("11.flow", None)


# %%
def reached(room, source):
    """Where there is still a way to, and from where one comes there."""
    came_from, waiting = {source: None}, [source]
    for point in waiting:  # the list grows while we go
        for end, left in room[point].items():
            if left > 0 and end not in came_from:
                came_from[end] = point
                waiting.append(end)
    return came_from


def narrowest_cut(pipes, source="source", sink="sink"):
    """The flow, and the pipes to be cut. `pipes` has a width for each (start, end)."""
    room = {point: {} for pipe in pipes for point in pipe}
    for (start, end), width in pipes.items():
        room[start][end] = width
        room[end].setdefault(start, 0)
    total = 0
    while sink in (came_from := reached(room, source)):
        steps, point = [], sink
        while point != source:
            steps.append((came_from[point], point))
            point = came_from[point]
        amount = min(room[start][end] for start, end in steps)
        for start, end in steps:
            room[start][end] -= amount
            room[end][start] += amount  # it may be sent back
        total += amount
    return total, [(a, b) for a, b in pipes if a in came_from and b not in came_from]


pipes = {("source", "a"): 3, ("source", "b"): 2, ("a", "b"): 1, ("a", "sink"): 1, ("b", "sink"): 4}
print(narrowest_cut(pipes))

# %% [markdown]
# Four units get through: one by way of a, two by way of b, and one that goes to a first, and on to b. After that, water
# from the source still comes to a, but no further. The pipes that lead away from there are full, and they are the cut.
# It holds exactly what has flowed, so there is no narrower one. In the drawing its pipes are dashed. There may be
# others that are as narrow. This one is the nearest to the source; which one a partitioner should take, you decide in
# exercise 11.1.

# %%
from minitorch_compile.course.drawings.pipes import draw_pipes

draw_pipes(pipes, cut=narrowest_cut(pipes)[1])

# %% [markdown]
# ## The graph as pipes
#
# One detail is left. A value that is read five times is saved once. So the pipe is not the arrow, it is the *box*: each
# value gets a point where it enters and a point where it leaves, written `mm` and `mm'`, with a pipe between them as
# wide as its bytes. (In the drawing the two are one box, with the bytes in it.) Arrows become pipes without limit,
# which are never cut. The source leads, without limit, to all that must not be made again.

# %%
UNLIMITED = float("inf")


def pipes_of(joint, costly=()):
    tangent, inputs, result, gradients = parts(joint)
    late, needed = descendants([tangent]), ancestors(gradients)
    pipes = {}
    for node in joint.graph.nodes:
        if node in late or node not in needed:
            continue
        pipes[node.name, f"{node.name}'"] = size(node)
        if node in inputs or node.target in costly:
            pipes["source", node.name] = UNLIMITED
        for user in node.users:
            if user in late:
                pipes[f"{node.name}'", "sink"] = UNLIMITED
            elif user in needed:
                pipes[f"{node.name}'", user.name] = UNLIMITED
    return pipes


for costly in ((), (ops.mm,)):
    total, cut = narrowest_cut(pipes_of(joint, costly))
    print(f"{total:,} bytes, cut at", *(start for start, end in cut))
draw_pipes(pipes_of(joint, (ops.mm,)), cut)

# %% [markdown]
# Bytes alone would choose the arguments, and multiply again. With matrix products among the sources, the product is
# saved and the rest is made again. That is the whole design of such a partitioner: *bytes are the widths, and what
# costs too much is a source*. Pointwise operations and views are cheap; products, convolutions and sums are not. The
# package's list of what is cheap is `aot/partitioning/recomputation.py`.
#
# The narrowest place can be far from where the values are read. This function compares each of a thousand numbers with
# each of a thousand others:


# %%
def pairs(rows, columns):
    return ((rows.unsqueeze(1) - columns).tanh() ** 2).sum()


def both_of_pairs(tangent, rows, columns):
    result = pairs(rows, columns)
    return result, *torch.autograd.grad(result, (rows, columns), tangent)


def leaf(*sizes):
    return empty_fake(sizes).requires_grad_()


table = trace(both_of_pairs, [empty_fake(()), leaf(1000), leaf(1000)])
print("read:", names(read(table)), f"{sum(map(size, read(table))):,} bytes")
total, cut = narrowest_cut(pipes_of(table, (ops.sum,)))
print("cut: ", *(start for start, end in cut), f"{total:,} bytes")
draw_joint(table, [node for node in table.graph.nodes if (node.name, f"{node.name}'") in cut])

# %% [markdown]
# Somebody who looks at one box at a time would find nothing to gain: the difference is as large as its tanh. Two steps
# up, where the two thousand numbers have not met yet, the graph is five hundred times narrower.
#
# ## The package's own
#
# `trace_joint` makes the joint graph of a functional program, in `aot/joint_graph.py`: our `both`, for any number of
# arguments and results, each of which may or may not need a gradient. A partition function takes it and gives a
# `Partition`: two graphs, and a report. `default_partition` saves all that is read, as the tape does.
# `min_cut_partition` is what you have just built, and what `torch.compile` uses; its flow is Dinic's
# (`aot/partitioning/max_flow.py`), which is quicker on large graphs. With `options={"partitioner": ...}` you choose another, by name
# or a function of your own.

# %%
import inspect

from minitorch_compile.aot import default_partition, min_cut_partition, trace_joint

print(inspect.getsource(min_cut_partition))

# %% [markdown]
# The first half you know. What is handed on from a region has to do with `checkpoint`, which the user may write around
# a part of the model: there everything is made again, products included, and only what enters it is saved.
#
# Two layers, with `bend` between them:


# %%
def mlp(x, first, second):
    return (bend(x @ first) @ second,)


joint_mlp = trace_joint(trace(mlp, [empty_fake((64, 32)), leaf(32, 128), leaf(128, 10)]), [True])
print("default:", default_partition(joint_mlp).report)
partition = min_cut_partition(joint_mlp)
print("min cut:", partition.report)
partition.draw()

# %% [markdown]
# The bold arrows are the cut. They all begin at yellow boxes, of which there are three. All the waves of `bend` are
# gone from between the passes; the green boxes in the lower frame make them a second time, from the first product.
# Next, an attention block, as in every language model. Its matrix of scores has an entry for each pair of words, and is
# by far the largest thing in it.


# %%
def normal(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()


def attention(x, query, key, value, last):
    y = normal(x)
    scores = ((y @ query) @ (y @ key).t() / 8).exp()
    weights = scores / scores.sum(-1, keepdim=True)
    return (x + bend(weights @ (y @ value)) @ last,)


examples = [leaf(256, 64), leaf(64, 64), leaf(64, 64), leaf(64, 64), leaf(64, 64)]
joint_block = trace_joint(trace(attention, examples), [True])
partition = min_cut_partition(joint_block)
print("default:", str(default_partition(joint_block)).partition("\n")[0])
print("min cut:", partition.report)

# %% [markdown]
# Of the matrices with an entry for each pair, (256, 256), read off how many are left, and which. This drawing has only
# the forward graph. What is yellow is saved; what is green is not, and is computed a second time, in the backward pass.
# Blue boxes are never needed again.

# %%
again = {node.name for node in partition.backward.graph.nodes}
saved = {node.name for node in partition.saved}


def fate(node):
    kind = "recomputed" if node.name in again else "forward"
    return "saved" if node.name in saved else kind


draw(partition.forward.graph, kind=fate)

# %% [markdown]
# ## A mask that is drawn twice
#
# Is everything that is cheap fit to be made again? Dropout multiplies by a random mask, and drawing random numbers is
# cheap. But a mask that is drawn again is *another* mask, and then the slopes belong to a program that never ran.

# %%
torch.manual_seed(0)
x = torch.ones(8)
forward_mask, backward_mask = torch.rand(8) > 0.5, torch.rand(8) > 0.5
print("result:", (x * forward_mask).tolist())
print("slope: ", (torch.ones(8) * backward_mask).tolist())

# %% [markdown]
# So one would have to save the mask, or forbid it to be made again. There is a third way, which you know from lesson
# 02. Our random numbers are a *function* of a seed and a position. If both are values in the graph, drawing is as pure
# as adding, and drawing twice gives the same numbers. `split` can show it. Let only the arguments be saved, so that the
# backward graph has to draw for itself:


# %%
def noisy(x, seed, offset):
    mask = ops.philox_uniform((1000,), seed, offset, x.dtype) > 0.5
    return x.exp() * mask


def both_of_noisy(tangent, x, seed, offset):
    result = noisy(x, seed, offset)
    return result, *torch.autograd.grad(result, x, tangent)


place = torch.tensor(7), torch.tensor(0)  # a seed and an offset
joint_noisy = trace(both_of_noisy, [empty_fake((1000,)), leaf(1000), *place])
forward, backward = split(joint_noisy, saved=parts(joint_noisy)[1])
print(backward.graph.compact())
result, *kept = forward(torch.zeros(1000), *place)
(slope,) = backward(*kept, torch.ones(1000))
print(int((result == 0).sum()), "dropped, the same ones:", torch.equal(result == 0, slope == 0))

# %% [markdown]
# In a compiled program that is done for every random operation: seed and offset become arguments, and the caller takes
# them from the generator, which moves on at each call. So the next call draws other numbers, and they are those that
# the plain program would have drawn. Let's see. Any function from a graph to a callable is a backend, so here is one
# that prints:

# %%
from minitorch_compile.aot import aot_function, interpret


def shown(graph_module, inputs):
    print(graph_module.graph.compact(), "\n")
    return interpret(graph_module, inputs)


@torch.compile(backend=lambda gm, inputs: aot_function(gm, inputs, shown, None, min_cut_partition))
def dropped(x):
    return torch.nn.functional.dropout(x.exp(), 0.5)


x = torch.zeros(1000, requires_grad=True)
result = dropped(x)
result.sum().backward()
print("the same ones:", torch.equal(result == 0, x.grad == 0))

# %% [markdown]
# The second text was printed when the second pass was first needed: a backward graph is compiled late, as many are
# never run. Look at its arguments to see which of the two ways was taken. Either would have been right. A mask takes a
# byte for each element, and drawing takes a long computation, so it is again a matter of price. Where everything is to
# be made again, in a `checkpoint`, the mask is, too, and it is the same mask.
#
# That is the whole way from a captured graph to two that are ready to be compiled. In `torch.compile` they go on down:
# the joint graph is first rewritten in a small set of simple operations (lesson 12), so that the cut has finer choices,
# and then each half becomes loops and kernels (13 to 16). Nothing after this point knows that one of them is a
# derivative.
#
# ## Beside PyTorch
#
# Both passes of `bend` as they come out of the partitioner, ours in prims, PyTorch's in ATen operations:

# %%
from minitorch_compile.course.drawings.beside import beside

seen = torch.compiler.inspect(bend, torch.linspace(-3, 3, 250_000, requires_grad=True))
beside("11_graphs", seen.forward_graph.code + "\n" + seen.backward_graph.code)

# %% [markdown]
# Look at what the forward graph returns beside its result. PyTorch has saved x and the tanh, and makes the rest
# again. Ours has saved nothing but its argument, and computes the tanh a second time, since it counts as cheap here.
# Both compute the cube's slope from x. ATen has a formula for the slope of tanh, `tanh_backward`; with prims it is
# written out.
#
# ## What PyTorch does differently
#
# - Its fake tensors are a subclass; the shape rules are kernels for a device named *meta*. Ours are plain tensors
# without a buffer.
# - Functionalization there is a layer of the C++ dispatcher, generated from the table of all operations. Inverses of
# views are called `select_scatter` and the like, and are operations of their own, which a later pass turns back into
# writes.
# - Its minimum cut has more rules. A value's width grows with the distance from where it is read, chains that would
# grow too long are not made again, and a *memory budget* between 0 and 1 lets you trade time for memory. Random
# operations are on the list of what is never made again.
# - Its joint graph is over some hundreds of ATen operations, and the tape that makes it is the C++ one, run on fakes.
#
# ## Exercises
#
# Open `work/11_ahead_of_time_autograd.ipynb`. There are ten, in two parts. The first two take half an hour: the other
# narrowest cut (spliced into the package), and a partition within a limit. The other eight, three hours, write a file.
#
# ## What you write
#
# `mini/aot.py`. With it your compiler gets graphs in which nothing is written to, and a training step costs it nothing more: it
# compiles two graphs, and a call of both is one step of your tape. Writes through views have gradients there, which your tape
# refuses eagerly. The package's version, `aot/`, finds the narrowest cut where yours has one rule; it compiles a backward pass
# when it is first needed, draws random numbers again, and simplifies a graph in many passes.
