"""Lesson 04a. A graph is a list of calls in order; a layer records one by watching ops on tensors without data.

>>> print(trace(lambda x, y: (x + 1).relu() @ y, fake((2, 3)), fake((3, 4))))
def graph(x0, x1):
    add = add(x0, 1)                                # (2, 3)
    relu = relu(add)                                # (2, 3)
    matmul = matmul(relu, x1)                       # (2, 4)
    return matmul
"""

from mini.ops import Layer, Tensor, Write, ensure, fake
from mini.sizes import at, batch_of


# %% 04.2 nodes and graphs
class Node:
    """One call: an op (or "input"), arguments that may be nodes, and a fake of the result."""

    inputs = property(lambda self: [arg for arg in self.args if isinstance(arg, Node)])
    writes = property(lambda self: isinstance(self.op, Write))

    def __init__(self, name, op, args, value):
        self.name, self.op, self.args, self.value = name, op, args, value

    def __repr__(self):
        return self.name


class Graph:
    """Inputs, calls in the order in which they are made, and what of it is given back."""

    def __init__(self, inputs=(), nodes=(), outputs=()):
        self.inputs, self.nodes, self.outputs, self.counts = [*inputs], [*nodes], [*outputs], {}

    def add(self, op, args, value):
        """A new node at the end, its name the op's: add, add1, add2; the inputs are x0, x1."""
        name = "x" if op == "input" else str(op)
        count = self.counts[name] = self.counts.get(name, -1) + 1
        node = Node(f"{name}{count}" if count or op == "input" else name, op, args, value)
        (self.inputs if op == "input" else self.nodes).append(node)
        return node

    # %% given
    def __str__(self):
        lines = [f"def graph({', '.join(map(str, self.inputs))}):"]
        for node in self.nodes:
            call = f"    {node} = {node.op}({', '.join(map(str, node.args))})"
            lines.append(f"{call:<52}# {node.value.sizes}")
        return "\n".join([*lines, f"    return {', '.join(map(str, self.outputs))}".rstrip()])

    # %% 04.3 what a graph means, and what it can do without
    def run(self, *values, step=lambda node, args: node.op(*args), batch=None):
        """The outputs; `step` says how a node is computed: an interpreter of graphs is written by giving another."""
        known = dict(zip(self.inputs, values, strict=True))
        batch = batch or batch_of([node.value for node in self.inputs], values)
        for node in self.nodes:
            args = [known[arg] if isinstance(arg, Node) else at(arg, batch) for arg in node.args]
            known[node] = step(node, args)
        return [known[node] if isinstance(node, Node) else node for node in self.outputs]

    def without_dead_code(self):
        """What no output and no write needs goes away, from the end on."""
        needed = {node for node in self.outputs if isinstance(node, Node)}
        for node in reversed(self.nodes):
            if node in needed or node.writes:
                needed |= {node, *node.inputs}
        self.nodes = [node for node in self.nodes if node in needed]
        return self


# %% 04.4 the layer that records
class Record(Layer):
    """Writes each op that passes into a graph. Its tensors are fakes, each known by the node that made it."""

    def __init__(self, position=None):
        self.graph, self.node_of, self.position = Graph(), {}, position

    def new(self, op, args, value):
        """A node; what it gives is a fake, which has the tensor's sizes, strides, dtype and requires_grad."""
        if op == "input" or not value.is_fake:
            tensor, value = value, fake(value.sizes, value.dtype)
            value.layout, value.requires_grad = tensor.layout, tensor.requires_grad
        node = self.node_of[id(value)] = self.graph.add(op, args, value)
        return node

    def input(self, tensor):
        return self.new("input", (), tensor).value

    def node(self, arg):
        """What stands for an argument in the graph."""
        ensure(not isinstance(arg, Tensor) or id(arg) in self.node_of, "a tensor that is no argument of the graph")
        return self.node_of[id(arg)] if isinstance(arg, Tensor) else arg

    def call(self, op, args):
        nodes = tuple([self.node(arg) for arg in args])
        value = op(*args)
        if isinstance(op, Write):
            self.graph.add(op, nodes, value)
            return args[0]  # which keeps its node
        return self.new(op, nodes, value).value


def trace(function, *examples, position=None):
    """The graph of a function of tensors that gives a tensor or a list of tensors."""
    with Record(position) as record:
        results = function(*[record.input(example) for example in examples])
    results = results if isinstance(results, (tuple, list)) else [results]
    record.graph.outputs = [record.node(result) for result in results]
    return record.graph.without_dead_code()
