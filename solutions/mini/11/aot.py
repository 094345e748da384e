"""Lesson 11. Ahead of time: writes become values, forward and backward become one graph, and that graph is cut in two.

>>> def f(x, w):
...     y = x @ w
...     y.add_(1)
...     return y.relu()
>>> w = fake((3, 4)); w.requires_grad = True
>>> graph = trace(f, fake((2, 3)), w)
>>> forward, backward = partition(joint_graph(Functional(graph)), 1)
>>> print(forward)
def graph(x0, x1):
    matmul = matmul(x0, x1)                         # (2, 4)
    add = add(matmul, 1)                            # (2, 4)
    clone = clone(add)                              # (2, 4)
    relu = relu(clone)                              # (2, 4)
    return relu, x0, matmul
>>> [node.name for node in backward.nodes]
['add', 'clone', 'relu', 'lt', 'where', 'permute1', 'matmul2']
"""

from functools import partial

from mini import ops
from mini.graph import Graph, Node, at, batch_of, fake, trace
from mini.ops import Factory, Pointwise, View, Write
from mini.tape import DERIVATIVES, NUMBERS, Note, Tape, history, no_grad, walk_back

# --- writes become values ---------------------------------------------------------------------------------------------


# %% 11.3 which memory, and how it is viewed
class Functional:
    """A graph without writes. `outputs` may be views of inputs: then a call makes these views anew."""

    def __init__(self, graph):
        self.graph, self.inputs = graph, [node.value for node in graph.inputs]
        self.path = {node: (node, ()) for node in graph.inputs}  # the node whose memory each shares, and its views
        for node in graph.nodes:
            shared = isinstance(node.op, (View, Write))
            base, views = self.path[node.args[0]] if shared else (node, ())
            self.path[node] = base, (*views, (node.op, node.args[1:])) if isinstance(node.op, View) else views
        written = {self.path[node][0] for node in graph.nodes if node.writes}
        self.written = [i for i, node in enumerate(graph.inputs) if node in written]
        self.computed = [node for node in graph.outputs if self.path[node][0] not in graph.inputs]

    # %% 11.4 a call without writes
    def __call__(self, *values):
        """The outputs that are no views of inputs, and the last values of inputs that were written to."""
        now = dict(zip(self.graph.inputs, values, strict=True))  # of each memory: the newest value
        for node in self.graph.nodes:
            args = [self.value(arg, now) if isinstance(arg, Node) else arg for arg in node.args]
            if node.writes:
                base, views = self.path[node]
                new = ops.expand_to(ops.to(args[1], args[0].dtype), args[0].sizes)
                now[base] = replaced(now[base], views, ops.clone(new))
            elif not isinstance(node.op, View):
                now[node] = node.op(*args)
        return [self.value(node, now) for node in self.computed] + [now[self.graph.inputs[i]] for i in self.written]

    def value(self, node, now, batch=None):
        """Its views, followed from the newest value of its memory; what they are given in the numbers of a call."""
        base, views = self.path[node]
        return follow(now[base], at(views, batch))

    def finish(self, inputs, results):
        """Write back, and put views of inputs among the outputs."""
        for i, new in zip(self.written, results[len(self.computed) :], strict=True):
            ops.copy_(inputs[i], new)
        now = dict(zip([*self.graph.inputs, *self.computed], [*inputs, *results], strict=False))
        batch = batch_of(self.inputs, inputs)
        return [now[node] if node in now else self.value(node, now, batch) for node in self.graph.outputs]


# %% 11.5 what is written through a view
def follow(base, views):
    """One view after the other. A value that was computed may lie otherwise in memory: then reshape copies it."""
    for op, args in views:
        base = ops.reshape(base, *args) if op is ops.view else op(base, *args)
    return base


def replaced(base, views, value):
    """`base`, with another value where the views look."""
    if not views:
        return value
    (op, args), *rest = views
    ops.ensure(op is not ops.expand, "several elements of this view are one in memory: what is written is not clear")
    part = replaced(follow(base, views[:1]), rest, value)
    inverse = DERIVATIVES[op](part, None, base, *args)[0]  # a view's gradient puts each element where it came from
    if op is not ops.slice_:
        return inverse
    ones = ops.full(part.sizes, 1, base.dtype)
    return ops.where(ops.eq(DERIVATIVES[op](ones, None, base, *args)[0], 1), inverse, base)


# --- forward and backward in one graph, and cut in two ----------------------------------------------------------------


# %% 11.6 one graph of both passes
def joint_graph(f):
    """Inputs and the outputs' gradients give the outputs and the inputs' gradients. Below the tape: it sees both."""
    count = len(f.inputs)

    def forward_and_backward(*values):
        inputs, tangents = values[:count], values[count:]
        outputs = f(*inputs)
        f.differentiable = [output.requires_grad for output in outputs]
        ends = [history(x) for x in inputs if x.requires_grad]
        pairs = [(o, t) for o, t in zip(outputs, tangents, strict=True) if o.requires_grad]
        found = walk_back([o for o, _ in pairs], [t for _, t in pairs], ends)
        return outputs + [found[end] if end in found else ops.full(end.sizes, 0, end.dtype) for end in ends]

    with no_grad():
        outputs = f(*f.inputs)
    return trace(forward_and_backward, *f.inputs, *[fake(o.sizes, o.dtype) for o in outputs], position=0)


# %% 11.7 what is kept for later
def late_and_saved(joint, count):
    """The nodes that need the outputs' gradients; and what they are given of the others: what is not cheaply made again."""
    tangents = joint.inputs[len(joint.inputs) - count :]
    late = set(tangents)
    for node in joint.nodes:
        if late.intersection(node.inputs):
            late.add(node)
    run_later = {*late, *[node for node in joint.nodes if isinstance(node.op, (Pointwise, View, Factory))]}
    needed = {*joint.outputs[count:]}
    for node in reversed(joint.nodes):
        if node in needed and node in run_later:  # pointwise work runs again: it fuses into its reader
            needed.update(node.inputs)
    return late, [node for node in joint.inputs + joint.nodes if node in needed - run_later]


# %% 11.8 cut in two
def partition(joint, count):
    """A graph that runs at once and gives what is saved after its outputs, and one that runs when gradients have come."""
    late, saved = late_and_saved(joint, count)
    inputs, tangents = joint.inputs[: len(joint.inputs) - count], joint.inputs[len(joint.inputs) - count :]
    forward = Graph(inputs, [node for node in joint.nodes if node not in late], joint.outputs[:count] + saved)
    backward = Graph(saved + tangents, [node for node in joint.nodes if node not in saved], joint.outputs[count:])
    return forward.without_dead_code(), backward.without_dead_code()


# --- a call -----------------------------------------------------------------------------------------------------------


# %% 11.9 a backward pass as one step of the tape
class Slots(dict):
    """Gradients of several outputs, on their way to the one call that made them."""

    def __add__(self, other):
        return Slots({**self, **{i: self[i] + grad if i in self else grad for i, grad in other.items()}})


class OutputNote(Note):
    """The way from one output to the call: its gradient goes into a slot of its own."""

    def __init__(self, call, index):
        self.parents, self.index, self.number = [call], index, next(NUMBERS)

    def backward(self, grad):
        return [Slots({self.index: grad})]


class CallNote(Note):
    """The compiled backward pass as one step of the tape."""

    def __init__(self, inputs, outputs, saved, compiled):
        self.parents = [history(x) for x in inputs if x.requires_grad]
        self.outputs, self.compiled, self.number = [fake(o.sizes, o.dtype) for o in outputs], compiled, next(NUMBERS)
        self.kept = [(x, x.storage.version) for x in saved]

    def backward(self, slots):
        ops.ensure(self.kept is not None, "a compiled call: walked a second time, after what it kept was freed")
        if any(x.storage.version != version for x, version in self.kept):
            raise RuntimeError("a compiled call: what its gradient needs was written to after it was computed")
        tangents = [slots[i] if i in slots else ops.full(o.sizes, 0, o.dtype) for i, o in enumerate(self.outputs)]
        return self.compiled(*[x for x, _ in self.kept], *tangents)


# %% 11.10 a backend
def aot(compiler):
    """A backend that gives forward and backward graphs to a compiler."""

    def backend(graph):
        f = Functional(graph)
        count = len(f.computed) + len(f.written)
        forward, backward = partition(joint_graph(f), count)
        run, run_back = compiler(forward), compiler(backward) if backward.outputs else None

        def call(*inputs):
            with no_grad():
                results = run(*inputs)
            outputs, saved = results[:count], results[count:]
            if Tape.enabled and run_back:
                batch = batch_of(f.inputs, inputs)
                note = CallNote(inputs, outputs, saved, partial(run_back, batch=batch) if batch else run_back)
                for i, output in enumerate(outputs):
                    if f.differentiable[i]:
                        output.requires_grad, output.grad_fn = True, OutputNote(note, i)
            return f.finish(inputs, outputs)

        return call

    return backend
