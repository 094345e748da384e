# %% [markdown]
# # 11 Exercises: ahead-of-time autograd and the partitioner
#
# Ten exercises, three hours and a half: two about cutting, half an hour, and eight steps of your own `mini/aot.py`,
# three hours. Each is a sentence, a signature, an example and a check. Write your answer in place of the `raise` line
# or the `...`, run the cell, run the check below it. If you are stuck, `hint("11.1")` gives the first of three hints,
# and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.course.measures.cutting import (cheapest, joint_graph, read, size, work)

# %% [markdown]
# ## 11.1 The other narrowest cut
#
# Let three pipes of width 5 follow each other. Each of them is a narrowest cut, and the lesson's walk from the source
# finds the first. For a partitioner the *last* is better: as many bytes, and less to make again. Give the pipes of the
# narrowest cut that is nearest to the sink, as a set of `(start, end)`.
#
# What you have: `network.maximum_flow(source, sink)` lets the water run. Then `network.residual[u][v]` is how much more
# could flow from u to v, both for pipes and against them. `network.residual[v]` has all neighbours of v.
# `network.edges` is the list of pipes, as pairs.


# %%
def cut_near_the_sink(network, source, sink) -> set[tuple]:
    """The pipes of the narrowest cut nearest to the sink."""
    ### BEGIN SOLUTION
    network.maximum_flow(source, sink)
    behind, waiting = {sink}, [sink]
    for point in waiting:
        for start in network.residual[point]:
            if start not in behind and network.residual[start][point] > 0:
                behind.add(start)
                waiting.append(start)
    return {(start, end) for start, end in network.edges if start not in behind and end in behind}
    ### END SOLUTION


# %%
check("11.1")

# %% [markdown]
# The partitioner cuts where this function says. So here is a compiled function, its memory chosen by you:

# %%
if passed("11.1"):
    with splice("aot.minimum_cut", cut_near_the_sink):
        x = torch.ones(1000, requires_grad=True)
        print(torch.compiler.inspect(lambda x: (x * 2).exp().sin(), x).partition)


# %% tags=["wrong"] says="As narrow, but nearer to the source"
def cut_near_the_sink(network, source, sink):
    network.maximum_flow(source, sink)
    near, waiting = {source}, [source]
    for point in waiting:
        for end, room in network.residual[point].items():
            if room > 0 and end not in near:
                near.add(end)
                waiting.append(end)
    return {(start, end) for start, end in network.edges if start in near and end not in near}


# %% tags=["wrong"] says="A full pipe need not lie in the cut"
def cut_near_the_sink(network, source, sink):
    network.maximum_flow(source, sink)
    return {(start, end) for start, end in network.edges if network.residual[start][end] == 0}


# %% tags=["wrong"] says="Nothing is cut"
def cut_near_the_sink(network, source, sink):
    behind, waiting = {sink}, [sink]
    for point in waiting:
        for start in network.residual[point]:
            if start not in behind and network.residual[start][point] > 0:
                behind.add(start)
                waiting.append(start)
    return {(start, end) for start, end in network.edges if start not in behind and end in behind}


# %% tags=["wrong"] says="Those are the pipes into the sink"
def cut_near_the_sink(network, source, sink):
    return {(start, end) for start, end in network.edges if end == sink}


# %% tags=["wrong"] says="Water still comes through"
def cut_near_the_sink(network, source, sink):
    network.maximum_flow(source, sink)
    behind = {sink} | {start for start in network.residual[sink] if network.residual[start][sink]}
    found = [(a, b) for a, b in network.edges if a not in behind and b in behind]
    return set(found[:1])


# %% [markdown]
# ## 11.2 A partition within a limit
#
# The narrowest cut makes again whatever it can. With memory to spare one would rather save a little more, and compute
# less. Give the nodes to save for a joint graph, as a list: at most `limit` bytes together, and with them few operations in
# the backward graph. Par is what you get from the narrowest cut by adding, again and again, of the values that are read and
# still fit, the one with which the least is left to do; until none makes it less. If even the narrowest cut is too wide,
# raise a ValueError.
#
# What you have: `cheapest(joint)`, the nodes of the narrowest cut; `read(joint)`, what is read of the forward pass;
# `size(node)`, its bytes; `work(joint, nodes)`, the number of operations in the backward graph if these nodes are
# saved, which is a RuntimeError if the gradients can't be made of them.


# %%
def within(joint, limit: int) -> list:
    """The nodes to be saved."""
    ### BEGIN SOLUTION
    saved = cheapest(joint)
    left = limit - sum(map(size, saved))
    if left < 0:
        raise ValueError(f"no cut has at most {limit} bytes: the narrowest has {limit - left}")
    while True:
        fitting = [node for node in read(joint) if node not in saved and size(node) <= left]
        best = min(fitting, key=lambda node: work(joint, [*saved, node]), default=None)
        if best is None or work(joint, [*saved, best]) >= work(joint, saved):
            return saved
        saved.append(best)
        left -= size(best)
    ### END SOLUTION


# %%
check("11.2")

# %% [markdown]
# How much is a little more memory worth? A row for each limit, and then a training step, compiled with your choice.
# There the graph is in prims (lesson 12), so that there are more values to choose from.

# %%
if passed("11.2"):
    from minitorch_compile.aot.partitioning.partition import Sides, cut

    chain = lambda x: x.sin().exp().tanh().sigmoid().sin().exp()
    x = torch.linspace(0, 1, 1000, requires_grad=True)
    joint = joint_graph(chain, x)
    for limit in range(4000, 28001, 4000):
        print(f"{limit:>6} bytes: {work(joint, within(joint, limit))} operations")

    def partitioner(joint):
        partition = cut(joint, Sides(joint), within(joint, 12_000))
        print(partition)
        return partition

    torch.compile(chain, options={"partitioner": partitioner})(x).sum().backward()


# %% tags=["wrong"] says="All that is read was saved"
def within(joint, limit):
    if limit < sum(map(size, cheapest(joint))):
        raise ValueError("too little")
    return read(joint)


# %% tags=["wrong"] says="Spend them"
def within(joint, limit):
    if limit < sum(map(size, cheapest(joint))):
        raise ValueError("too little")
    return cheapest(joint)


# %% tags=["wrong"] says="One value spares more work than another"
def within(joint, limit):
    saved = cheapest(joint)
    left = limit - sum(map(size, saved))
    if left < 0:
        raise ValueError("too little")
    for node in read(joint):
        if node not in saved and size(node) <= left:
            saved.append(node)
            left -= size(node)
    return saved


# %% tags=["wrong"] says="those of the cheapest cut included"
def within(joint, limit):
    saved = cheapest(joint)
    if limit < sum(map(size, saved)):
        raise ValueError("too little")
    left = limit
    for node in read(joint):
        if node not in saved and size(node) <= left:
            saved.append(node)
            left -= size(node)
    return saved


# %% tags=["wrong"] says="Say so, rather than break the limit"
def within(joint, limit):
    saved = cheapest(joint)
    left = limit - sum(map(size, saved))
    while True:
        fitting = [node for node in read(joint) if node not in saved and size(node) <= left]
        best = min(fitting, key=lambda node: work(joint, [*saved, node]), default=None)
        if best is None or work(joint, [*saved, best]) >= work(joint, saved):
            return saved
        saved.append(best)
        left -= size(best)


# %% tags=["wrong"] says="or made again from what is saved"
def within(joint, limit):
    saved, left = [], limit
    if limit < sum(map(size, cheapest(joint))):
        raise ValueError("too little")
    for node in sorted(read(joint), key=size, reverse=True):
        if size(node) <= left:
            saved.append(node)
            left -= size(node)
    return saved


# %% [markdown]
# ## Your own stack: `mini/aot.py`
#
# Your tracer gives graphs, your tape gives gradients. This file makes one graph of both before anything runs: writes become
# values, forward and backward are recorded together and cut in two, and a compiled call is one step of the tape. It imports your
# `graph`, `ops` and `tape`. Its grown-up version is the folder `aot/` of the package.

# %% [markdown]
# ## 11.3 Which memory, and how it is viewed
#
# `Functional(graph)` will be a graph without writes. Its constructor keeps `graph`, and as `inputs` the fakes of the graph's
# inputs (`node.value`), and finds out who shares memory with whom. `path` has for each node a pair: the node whose memory it
# shares, and a tuple of views (op, the rest of its arguments), from that memory outwards. `written`: the indices of the inputs
# whose memory is written to. `computed`: the outputs that share no input's memory. All others are views of inputs, or inputs:
# they are made anew at each call.

# %% step="11.3"
class Functional:
    """A graph without writes. `outputs` may be views of inputs: then a call makes these views anew."""

    def __init__(self, graph):
        """Sets graph, inputs, path, written and computed."""


# %%
check("11.3")

# %% tags=["wrong"] step="11.3" says="A write gives back the very tensor"
# -             shared = isinstance(node.op, (View, Write))
# +             shared = isinstance(node.op, View)

# %% tags=["wrong"] step="11.3" says="all views on the way"
# -             self.path[node] = base, (*views, (node.op, node.args[1:])) if isinstance(node.op, View) else views
# +             self.path[node] = base, ((node.op, node.args[1:]),) if isinstance(node.op, View) else views

# %% tags=["wrong"] step="11.3" says="the memory behind the view"
# -         written = {self.path[node][0] for node in graph.nodes if node.writes}
# +         written = {node.args[0] for node in graph.nodes if node.writes}

# %% tags=["wrong"] step="11.3" says="made anew at each call"
# -         self.computed = [node for node in graph.outputs if self.path[node][0] not in graph.inputs]
# +         self.computed = [node for node in graph.outputs if node not in graph.inputs]

# %% [markdown]
# ## 11.4 A call without writes
#
# `f(*values)` runs the graph and writes to nothing. In `now` it has the newest value of each memory. `value(node, now, batch)` is
# a node's: its views, in the numbers of a call (`at(views, batch)`), followed from `now[base]`. A write makes a new value of the memory: `replaced(now[base], views, new)`, with what is written in
# the dtype and sizes of what it is written into, cloned. Result: the values of `computed`, then of the inputs in `written`.
# `f.finish(inputs, results)` gives the program's outputs: it copies the new values into the arguments, and then makes the
# outputs that are views of them, at the batch `batch_of(self.inputs, inputs)`. `follow(base, views)` and `replaced` come in the next step.

# %% step="11.4"
def __call__(self, *values):
    """The outputs that are no views of inputs, and the last values of inputs that were written to."""

def value(self, node, now, batch=None):
    """Its views, followed from the newest value of its memory; what they are given in the numbers of a call."""

def finish(self, inputs, results):
    """Write back, and put views of inputs among the outputs."""


# %%
check("11.4")

# %% tags=["wrong"] step="11.4" says="must not be an argument's own memory"
# -                 now[base] = replaced(now[base], views, ops.clone(new))
# +                 now[base] = replaced(now[base], views, new)

# %% tags=["wrong"] step="11.4" says="Only a part was written"
# -                 now[base] = replaced(now[base], views, ops.clone(new))
# +                 now[base] = ops.clone(new)

# %% tags=["wrong"] step="11.4" says="never learns what was written"
# -             ops.copy_(inputs[i], new)
# +             pass

# %% tags=["wrong"] step="11.4" says="takes the sizes and dtype"
# -                 new = ops.expand_to(ops.to(args[1], args[0].dtype), args[0].sizes)
# +                 new = args[1]

# %% tags=["wrong"] step="11.4" says="A view made before the write sees it"
# -             elif not isinstance(node.op, View):
# -                 now[node] = node.op(*args)
# +             else:
# +                 now[node] = node.op(*args)
# +                 self.path[node] = (node, ())

# %% [markdown]
# ## 11.5 What is written through a view
#
# `follow(base, views)` applies one view after the other; each is a pair (op, arguments). A value may lie otherwise in memory than
# the tensor of the program did, so for `ops.view` use `ops.reshape`. `replaced(base, views, value)` gives a new value of base,
# with `value` where the views look. You have the inverse of every view already: its derivative rule, which is called as
# `DERIVATIVES[op](part, None, base, *args)` and gives a list. Around a slice base must stay as it is. `ops.expand` is refused
# with a RuntimeError.

# %% step="11.5"
def follow(base, views):
    """One view after the other. A value that was computed may lie otherwise in memory: then reshape copies it."""


def replaced(base, views, value):
    """`base`, with another value where the views look."""


# %%
check("11.5")

# %% tags=["wrong"] step="11.5" says="base keeps everything around it"
# -     if op is not ops.slice_:
# +     if True:

# %% tags=["wrong"] step="11.5" says="which value does it have"
# -     ops.ensure(op is not ops.expand, "several elements of this view are one in memory: what is written is not clear")

# %% tags=["wrong"] step="11.5" says="then put that part back"
# -     part = replaced(follow(base, views[:1]), rest, value)
# +     part = value

# %% tags=["wrong"] step="11.5" says="reshape, which copies if it must"
# -         base = ops.reshape(base, *args) if op is ops.view else op(base, *args)
# +         base = op(base, *args)

# %% [markdown]
# ## 11.6 One graph of both passes
#
# `joint_graph(f)` traces, below the tape, a function of f's inputs and of one tangent for each result of f (the gradient that will
# come for it). It gives f's results, and after them a gradient for each input that requires grad: zeros, if no output depends on
# it. The walk is `walk_back(outputs, grads, ends)`. In `f.differentiable` it notes which of the results require grad. How many
# results there are, and their sizes, you learn by running f once on `f.inputs`, in `no_grad`.

# %% step="11.6"
def joint_graph(f):
    """Inputs and the outputs' gradients give the outputs and the inputs' gradients. Below the tape: it sees both."""


# %%
check("11.6")

# %% tags=["wrong"] step="11.6" says="gradient zero"
# -         return outputs + [found[end] if end in found else ops.full(end.sizes, 0, end.dtype) for end in ends]
# +         return outputs + [found[end] for end in ends]

# %% tags=["wrong"] step="11.6" says="it is not always 1"
# -         found = walk_back([o for o, _ in pairs], [t for _, t in pairs], ends)
# +         found = walk_back([o for o, _ in pairs], [ops.full(o.sizes, 1, o.dtype) for o, _ in pairs], ends)

# %% tags=["wrong"] step="11.6" says="It gives the outputs, too"
# -         return outputs + [found[end] if end in found else ops.full(end.sizes, 0, end.dtype) for end in ends]
# +         return [found[end] if end in found else ops.full(end.sizes, 0, end.dtype) for end in ends]

# %% tags=["wrong"] step="11.6" says="the call will need it"
# -         f.differentiable = [output.requires_grad for output in outputs]

# %% [markdown]
# ## 11.7 What is kept for later
#
# The last `count` inputs of a joint graph are tangents. What depends on them is *late*: it must wait. The others could all be
# saved, or all be made again; between lies the art. Ours is a plain rule: `Pointwise` work, views, factories and casts are made
# again, since they fuse into whoever reads them; all else is saved, where the backward pass needs it. `late_and_saved(joint,
# count)` gives a set and a list: the late nodes (the tangents, too), and the saved ones in the order of inputs and nodes. The
# package finds the narrowest cut instead, as in this lesson.

# %% step="11.7"
def late_and_saved(joint, count):
    """The nodes that need the outputs' gradients; and what they are given of the others: what is not cheaply made again."""


# %%
check("11.7")

# %% tags=["wrong"] step="11.7" says="they are made again from what they were made of"
# -     run_later = {*late, *[node for node in joint.nodes if isinstance(node.op, (Pointwise, View, Factory))]}
# +     run_later = late

# %% tags=["wrong"] step="11.7" says="too dear to be made again"
# -     run_later = {*late, *[node for node in joint.nodes if isinstance(node.op, (Pointwise, View, Factory))]}
# +     run_later = {*late, *joint.nodes}

# %% tags=["wrong"] step="11.7" says="directly or through others"
# -         if late.intersection(node.inputs):
# +         if set(tangents).intersection(node.inputs):

# %% tags=["wrong"] step="11.7" says="both halves count on it"
# -     return late, [node for node in joint.inputs + joint.nodes if node in needed - run_later]
# +     return late, sorted(needed - run_later, key=str)

# %% [markdown]
# ## 11.8 Cut in two
#
# `partition(joint, count)` gives two graphs. The first gets the inputs and gives the outputs, then what is saved; the second gets
# what is saved, then the tangents, and gives the gradients. What the second needs and is not given, it makes again: the same nodes
# stand in both. A graph is made as `Graph(inputs, nodes, outputs)`, and has `without_dead_code()`, which returns it.

# %% step="11.8"
def partition(joint, count):
    """A graph that runs at once and gives what is saved after its outputs, and one that runs when gradients have come."""


# %%
check("11.8")

# %% tags=["wrong"] step="11.8" says="it must make again"
# -     backward = Graph(saved + tangents, [node for node in joint.nodes if node not in saved], joint.outputs[count:])
# +     backward = Graph(saved + tangents, [node for node in joint.nodes if node in late], joint.outputs[count:])

# %% tags=["wrong"] step="11.8" says="The outputs, then what is saved"
# -     forward = Graph(inputs, [node for node in joint.nodes if node not in late], joint.outputs[:count] + saved)
# +     forward = Graph(inputs, [node for node in joint.nodes if node not in late], joint.outputs[:count])

# %% tags=["wrong"] step="11.8" says="then the tangents"
# -     backward = Graph(saved + tangents, [node for node in joint.nodes if node not in saved], joint.outputs[count:])
# +     backward = Graph(tangents + saved, [node for node in joint.nodes if node not in saved], joint.outputs[count:])

# %% tags=["wrong"] step="11.8" says="Dead code is left"
# -     return forward.without_dead_code(), backward.without_dead_code()
# +     return forward, backward

# %% [markdown]
# ## 11.9 A backward pass as one step of the tape
#
# The tape's notes are about one op with one result; a compiled call has several. So each output gets an `OutputNote`, whose
# only parent is the call's `CallNote`, and whose gradient goes there in a slot of its own: `Slots({index: grad})`. Both have a
# `number`, `next(NUMBERS)`, as every note. The engine adds up what arrives, so `Slots` need a `+`: gradients of the same
# output are added, others stand side by side. A `CallNote` has as
# parents the histories of the inputs that require grad; it keeps what is saved in `kept`, with versions, as a `Note` does;
# `backward(slots)` refuses what a note refuses (after a walk `kept` is None), and gives
# `compiled(*saved, *a gradient for each output)`, zeros where none came.

# %% step="11.9"
class Slots(dict):
    """Gradients of several outputs, on their way to the one call that made them."""

    def __add__(self, other):
        """Both; what both have is added up."""


class OutputNote(Note):
    """The way from one output to the call: its gradient goes into a slot of its own."""

    def __init__(self, call, index):
        """call: a CallNote."""

    def backward(self, grad):
        """One parent, one gradient."""


class CallNote(Note):
    """The compiled backward pass as one step of the tape."""

    def __init__(self, inputs, outputs, saved, compiled):
        """compiled: a function of what is saved, and of a gradient for each output."""

    def backward(self, slots):
        """A gradient for each input that requires grad."""


# %%
check("11.9")

# %% tags=["wrong"] step="11.9" says="they are added up, and nothing is lost"
# -         return Slots({**self, **{i: self[i] + grad if i in self else grad for i, grad in other.items()}})
# +         return Slots({**self, **other})

# %% tags=["wrong"] step="11.9" says="its tangent is zeros"
# -         tangents = [slots[i] if i in slots else ops.full(o.sizes, 0, o.dtype) for i, o in enumerate(self.outputs)]
# +         tangents = [slots[i] for i, o in enumerate(self.outputs)]

# %% tags=["wrong"] step="11.9" says="Compare versions"
# -         if any(x.storage.version != version for x, version in self.kept):
# -             raise RuntimeError("a compiled call: what its gradient needs was written to after it was computed")

# %% tags=["wrong"] step="11.9" says="Say so"
# -         ops.ensure(self.kept is not None, "a compiled call: walked a second time, after what it kept was freed")

# %% [markdown]
# ## 11.10 A backend
#
# All parts together. `aot(compiler)` is a backend: it gets a graph, and gives a function of real tensors. `compiler` gets graphs
# without writes, and gives functions; it need not know of gradients. The second graph of a partition has no outputs if no input
# requires grad: then the compiler is not given it. A call runs the first in `no_grad`, keeps what is saved, and, if
# `Tape.enabled` and there is a second, puts the results that can have a gradient on the tape. The results of a graph are its
# computed outputs *and* its written inputs; `finish` makes the rest.

# %% step="11.10"
def aot(compiler):
    """A backend that gives forward and backward graphs to a compiler."""


# %%
check("11.10")

# %% [markdown]
# Look at the two graphs of a layer with an activation. Of all that is computed in the first, three tensors reach the second:

# %%
if passed("11.10"):
    from mini.aot import Functional, joint_graph, partition
    from mini.graph import trace
    from mini.tensor import fake

    x, weight = fake((8, 16)), fake((16, 4))
    x.requires_grad = weight.requires_grad = True
    layer = Functional(trace(lambda x, weight: (x @ weight).tanh().sum(0), x, weight))
    for half in partition(joint_graph(layer), 1):
        print(half)

# %% tags=["wrong"] step="11.10" says="Nothing is noted while"
# -             if Tape.enabled and run_back:
# +             if run_back:

# %% tags=["wrong"] step="11.10" says="does not depend on anything"
# -                     if f.differentiable[i]:
# +                     if True:

# %% tags=["wrong"] step="11.10" says="Writes became values before that"
# -         run, run_back = compiler(forward), compiler(backward) if backward.outputs else None
# +         if not backward.outputs:
# +             return compiler(graph)
# +         run, run_back = compiler(forward), compiler(backward)

# %% tags=["wrong"] step="11.10" says="One, or a forward and a backward"
# -         run, run_back = compiler(forward), compiler(backward) if backward.outputs else None
# +         run, run_back = compiler(forward), compiler(backward)

# %% tags=["wrong"] step="11.10" says="finish puts them there"
# -             return f.finish(inputs, outputs)
# +             return outputs

# %% tags=["wrong"] step="11.10" says="has a history afterwards"
# -                 for i, output in enumerate(outputs):
# +                 for i, output in enumerate(outputs[: len(f.computed)]):

# %% [markdown]
# Save the notebook, and see where you stand:

# %%
progress("11")

# %% [markdown]
# And a training step of the whole machine, on all of your answers, of all lessons, that have a place in it:

# %%
with own_parts() as places:
    print("running on your own:", *places)
    x = torch.linspace(0, 1, 5, requires_grad=True)
    torch.compile(lambda x: (x.sin() * x[1:].sum()).exp())(x).sum().backward()
    print(x.grad)
