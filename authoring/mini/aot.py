"""Lesson 11. Ahead of time: writes become values, forward and backward become one graph, and that graph is cut in two.

>>> def f(x, w):
...     y = x @ w
...     y.add_(1)
...     return y.relu()
>>> w = fake((3, 4)); w.requires_grad = True
>>> graph = trace(f, fake((2, 3)), w)
>>> forward, backward = partition(joint_graph(functional(graph)), 1)
>>> print(forward)
def graph(x0, x1):
    matmul = matmul(x0, x1)                         # (2, 4)
    add = add(matmul, 1)                            # (2, 4)
    relu = relu(add)                                # (2, 4)
    return relu, x0, matmul
>>> [node.name for node in backward.nodes]
['add', 'relu', 'lt', 'where', 'permute1', 'matmul2']
"""

from mini import ops
from mini.graph import Graph, Node, trace
from mini.ops import Cast, Factory, Pointwise, View, Write
from mini.tape import DERIVATIVES, Note, history, no_grad, walk_back
from mini.tensor import Tensor, fake  # noqa: F401

# --- writes become values ---------------------------------------------------------------------------------------------


class Functional:
    """A graph without writes. `outputs` may be views of inputs: then a call makes these views anew."""

    def __init__(self, graph):
        self.graph, self.inputs = graph, [node.value for node in graph.inputs]
        self.path = {
            node: (node, ()) for node in graph.inputs
        }  # of each node: the memory it shares, and how it views it
        for node in graph.nodes:
            shared = isinstance(node.op, (View, Write))
            base, steps = self.path[node.args[0]] if shared else (node, ())
            self.path[node] = base, (*steps, (node.op, node.args[1:])) if isinstance(node.op, View) else steps
        written = {self.path[node][0] for node in graph.nodes if node.writes}
        self.written = [i for i, node in enumerate(graph.inputs) if node in written]
        self.aliases = {
            i: (graph.inputs.index(base), steps)
            for i, (base, steps) in enumerate(map(self.path.get, graph.outputs))
            if base in graph.inputs
        }
        self.computed = [node for i, node in enumerate(graph.outputs) if i not in self.aliases]

    def __call__(self, *values):
        """The outputs that are no views of inputs, and the last values of inputs that were written to."""
        now = dict(zip(self.graph.inputs, values, strict=True))  # of each memory: the newest value

        def value(node):
            base, steps = self.path[node]
            return follow(now[base], steps)

        for node in self.graph.nodes:
            args = [value(arg) if isinstance(arg, Node) else arg for arg in node.args]
            if node.writes:
                base, steps = self.path[node.args[0]]
                new = ops.expand_to(ops.to(args[1], args[0].dtype), args[0].sizes)
                now[base] = replaced(now[base], steps, new)
            elif not isinstance(node.op, View):
                now[node] = args[0] if node.op == "constant" else node.op(*args)
        return [value(node) for node in self.computed] + [now[self.graph.inputs[i]] for i in self.written]

    def finish(self, inputs, results):
        """Write back, and put views of inputs among the outputs."""
        results = list(results)
        for i in reversed(self.written):
            with no_grad():
                ops.copy_(inputs[i], results.pop())
        rest = iter(results)
        return [
            follow(inputs[self.aliases[i][0]], self.aliases[i][1]) if i in self.aliases else next(rest)
            for i in range(len(self.graph.outputs))
        ]


functional = Functional


def follow(base, steps):
    for op, args in steps:
        base = op(base, *args)
    return base


def replaced(base, steps, value):
    """`base`, with another value where the view that `steps` make looks."""
    if not steps:
        return value
    (op, args), *rest = steps
    part = replaced(op(base, *args), rest, value)
    inverse = DERIVATIVES[op](part, None, base, *args)[0]  # a view's gradient puts each element where it came from
    if op is not ops.slice_:
        return inverse
    ones = ops.full(part.sizes, 1, base.dtype)
    return ops.where(DERIVATIVES[op](ones, None, base, *args)[0] > 0, inverse, base)


# --- forward and backward in one graph, and cut in two ----------------------------------------------------------------


def joint_graph(f):
    """Inputs and the outputs' gradients give the outputs and the inputs' gradients. Below the tape: it sees both."""
    count = len(f.inputs)

    def forward_and_backward(*values):
        inputs, tangents = values[:count], list(values[count:])
        outputs = f(*inputs)
        ends = [history(x) for x in inputs if x.requires_grad]
        pairs = [(o, t) for o, t in zip(outputs, tangents, strict=False) if o.requires_grad]
        grads = walk_back([o for o, _ in pairs], [t for _, t in pairs], ends)
        return outputs + [grads.get(end) if grads.get(end) is not None else zeros_like(end.tensor) for end in ends]

    outputs = f(*f.inputs)
    return trace(forward_and_backward, *f.inputs, *[fake(o.sizes, o.dtype) for o in outputs], position=0)


def zeros_like(x):
    return ops.full(x.sizes, 0, x.dtype)


def partition(joint, count):
    """What depends on the outputs' gradients runs later. Of the rest it is given what can't be cheaply made again."""
    forward_outputs, grads = joint.outputs[:count], joint.outputs[count:]
    tangents = set(joint.inputs[len(joint.inputs) - count :])
    inputs = [node for node in joint.inputs if node not in tangents]
    late = set(tangents)
    for node in joint.nodes:
        if late.intersection(node.inputs):
            late.add(node)
    saved, again, todo = [], set(), list(grads)
    while todo:
        node = todo.pop()
        if node in again or node in saved or node in tangents:
            continue
        if (
            node in late
            or isinstance(node.op, (Pointwise, View, Factory, Cast))
            and node.inputs
            or isinstance(node.op, Factory)
        ):
            again.add(node)  # it belongs to the backward half, or is cheap: pointwise work fuses into its reader
            todo.extend(node.inputs)
        else:
            saved.append(node)
    order = {node: i for i, node in enumerate(inputs + joint.nodes)}
    saved.sort(key=order.get)
    forward, backward = Graph(), Graph()
    forward.inputs, forward.outputs = inputs, forward_outputs + saved
    forward.nodes = [node for node in joint.nodes if node not in late]
    backward.inputs = saved + [node for node in joint.inputs if node in tangents]
    backward.nodes, backward.outputs = [node for node in joint.nodes if node in again], grads
    return forward.without_dead_code(), backward.without_dead_code()


# --- a call -----------------------------------------------------------------------------------------------------------


class Slots(dict):
    """Gradients of several outputs, on their way to the one call that made them."""

    def __add__(self, other):
        return Slots(
            {i: self[i] + other[i] if i in self and i in other else self.get(i, other.get(i)) for i in {*self, *other}}
        )


class OutputNote(Note):
    def __init__(self, call, index):
        self.parents, self.index = [call], index

    def backward(self, grad):
        return [Slots({self.index: grad})]


class CallNote(Note):
    """The compiled backward pass as one step of the tape."""

    def __init__(self, inputs, outputs, saved, backward):
        self.parents = [history(x) for x in inputs if x.requires_grad]
        self.outputs, self.saved, self.compiled = outputs, saved, backward

    def backward(self, slots):
        tangents = [slots[i] if i in slots else zeros_like(o) for i, o in enumerate(self.outputs)]
        return self.compiled(*self.saved, *tangents)


def aot(compiler):
    """A backend that gives forward and backward graphs to a compiler."""

    def backend(graph):
        f = Functional(graph)
        if not any(x.requires_grad for x in f.inputs):
            run = compiler(trace(f, *f.inputs, position=0))
            return lambda *inputs: f.finish(inputs, run(*inputs))
        count = len(f.computed) + len(f.written)
        forward, backward = partition(joint_graph(f), count)
        run, run_back = compiler(forward), compiler(backward)

        def call(*inputs):
            with no_grad():
                results = run(*inputs)
            outputs, saved = results[:count], results[count:]
            note = CallNote(inputs, outputs, saved, run_back)
            for i, output in enumerate(outputs[: len(f.computed)]):
                if output.dtype.kind == "f":
                    output.requires_grad, output.grad_fn = True, OutputNote(note, i)
            return f.finish(inputs, outputs)

        return call

    return backend
