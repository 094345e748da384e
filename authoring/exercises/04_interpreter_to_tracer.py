# %% [markdown]
# # 04 Exercises: from interpreter to tracer
#
# Six exercises, about an hour and a quarter. Each is a sentence, a signature, an example and a check. Write your answer in
# place of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("04.1")` gives the
# first of three hints, and calling it again the next; hints cost nothing.

# %%
import copy

import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.dynamo.testing import CompileCounter, captured
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.iterators import ItemsIterator
from minitorch_compile.fx import Graph, symbolic_trace
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.effects import writes

# %% [markdown]
# ## 04.1 How many operations are left: predict
#
# Each of these is the body of a function of x, a tensor of sizes (3, 4). Before you run anything, write how many
# operations are left in its graph (arguments and the output don't count). Four programs are too long for a line:
#
#     "loop"                            "twice"
#     for i in range(3):                def square(t):
#         x = x * i                         return t * t
#     return x                          return square(square(x))
#
#     "unused"                          "rows"
#     y = x.exp()                       total = 0.0
#     return x + 1                      for row in x:
#                                           total = total + row.sum()
#                                       return total

# %% tags=["stub"]
operations = {
    "x + 1 + 2": ...,
    "x + (1 + 2)": ...,
    "x.shape[0] * x.shape[1] * x": ...,
    "x / math.sqrt(x.shape[1])": ...,
    "loop": ...,
    "twice": ...,
    "unused": ...,
    "sum([x * k for k in (1, 2, 3) if k != 2])": ...,
    "rows": ...,
}

# %% tags=["solution"]
operations = {
    "x + 1 + 2": 2,
    "x + (1 + 2)": 1,
    "x.shape[0] * x.shape[1] * x": 1,
    "x / math.sqrt(x.shape[1])": 1,
    "loop": 3,
    "twice": 2,
    "unused": 2,
    "sum([x * k for k in (1, 2, 3) if k != 2])": 4,
    "rows": 9,
}

# %%
check("04.1")

# %% tags=["wrong"] says="1 and 2 never meet"
operations = operations | {"x + 1 + 2": 1}

# %% tags=["wrong"] says="Only the last multiplication has x in it"
operations = operations | {"x.shape[0] * x.shape[1] * x": 2}

# %% tags=["wrong"] says="both are known while tracing"
operations = operations | {"x / math.sqrt(x.shape[1])": 3}

# %% tags=["wrong"] says="its body is recorded three times"
operations = operations | {"loop": 1}

# %% tags=["wrong"] says="found out by a later pass"
operations = operations | {"unused": 1}

# %% tags=["wrong"] says="sum() begins with 0"
operations = operations | {"sum([x * k for k in (1, 2, 3) if k != 2])": 3}

# %% tags=["wrong"] says="Going over a tensor takes its rows"
operations = operations | {"rows": 6}

# %% [markdown]
# Now look. `captured` prints the graphs of a call; change the function and see whether you would have known.

# %%
print(captured(lambda x: [x + n * n for n in range(4) if n % 2], torch.ones(3, 4)))

# %% [markdown]
# ## 04.2 A tensor in a for loop
#
# `for row in x` on a traced tensor: write the method of its tracker that Python's `iter` asks. `self.fake` is the fake
# tensor, whose `sizes` are known. `tracer.getitem(value, key)` records an item; it takes and gives *trackers*, and the
# tracker of a number is `ConstantVariable(number)`. Give `ItemsIterator(list of trackers)`. A tensor without dimensions
# can't be looped over, and the program may catch that: `tracer.raise_error(TypeError, "iteration over a 0-d tensor")`.


# %%
def iterate(self, tracer) -> ItemsIterator:
    """An iterator over the tensor's rows, which are recorded."""
    ### BEGIN SOLUTION
    if not self.fake.sizes:
        tracer.raise_error(TypeError, "iteration over a 0-d tensor")
    rows = [tracer.getitem(self, ConstantVariable(i)) for i in range(self.fake.sizes[0])]
    return ItemsIterator(rows)
    ### END SOLUTION


# %%
check("04.2")

# %%
if passed("04.2"):
    with splice("dynamo.tensor_iterate", iterate):
        print(captured(lambda x: [2 * row for row in x], torch.ones(3, 4)))


# %% tags=["wrong"] says="The number i must become one"
def iterate(self, tracer):
    if not self.fake.sizes:
        tracer.raise_error(TypeError, "iteration over a 0-d tensor")
    return ItemsIterator([tracer.getitem(self, i) for i in range(self.fake.sizes[0])])


# %% tags=["wrong"] says="it has a fake, and no numbers"
def iterate(self, tracer):
    if not self.fake.sizes:
        tracer.raise_error(TypeError, "iteration over a 0-d tensor")
    return ItemsIterator([tracer.getitem(self, ConstantVariable(i)) for i in range(self.real.sizes[0])])


# %% tags=["wrong"] says="an iterator of the traced program"
def iterate(self, tracer):
    if not self.fake.sizes:
        tracer.raise_error(TypeError, "iteration over a 0-d tensor")
    return iter([tracer.getitem(self, ConstantVariable(i)) for i in range(self.fake.sizes[0])])


# %% tags=["wrong"] says="The rows are the elements of dimension 0"
def iterate(self, tracer):
    if not self.fake.sizes:
        tracer.raise_error(TypeError, "iteration over a 0-d tensor")
    return ItemsIterator([tracer.getitem(self, ConstantVariable(i)) for i in range(self.fake.numel())])


# %% tags=["wrong"] says="The program may catch it, as in Python"
def iterate(self, tracer):
    return ItemsIterator([tracer.getitem(self, ConstantVariable(i)) for i in range(self.fake.sizes[0])])


# %% [markdown]
# ## 04.3 Find the bugs: merging equal nodes
#
# This is the pass of the lesson. It makes one node of two that compute the same thing. Three things were reported. Of
# `x + 1` and `x + 1.0`, for integers, one has the wrong type. Two dropouts drop the same elements. And `y.sum()` before and
# after `y.add_(1)` are equal. Repair it. What it gets right must stay right: harmless equal nodes are merged. Two
# functions help: `node.is_impure()` says whether running a node does more than compute its value, which is so for writing
# and for drawing random numbers; `writes(node)` says whether it writes.


# %% tags=["stub"]
def merge_common_subexpressions(graph: Graph) -> Graph:
    """A copy of the graph in which what is computed twice is computed once."""
    graph = copy.deepcopy(graph)
    known = {}
    for node in graph.nodes:
        if node.op.startswith("call"):
            key = (node.op, node.target, node.args, node.kwargs)
            if key in known:
                node.replace_all_uses_with(known[key])
                graph.erase_node(node)
            else:
                known[key] = node
    return graph


# %% tags=["solution"]
def merge_common_subexpressions(graph: Graph) -> Graph:
    """A copy of the graph in which what is computed twice is computed once."""
    graph = copy.deepcopy(graph)
    if any(writes(node) for node in graph.nodes):
        return graph
    known = {}
    for node in graph.nodes:
        if node.op.startswith("call") and not node.is_impure():
            key = (node.op, node.target, repr((node.args, node.kwargs)))
            if key in known:
                node.replace_all_uses_with(known[key])
                graph.erase_node(node)
            else:
                known[key] = node
    return graph


# %%
check("04.3")

# %% [markdown]
# The package's own pass sees to one thing more. Two *results* of the function are never merged, even if they are equal:
# they were two tensors, and whoever called may write into one of them.

# %%
if passed("04.3"):
    with splice("fx.merge_common_subexpressions", merge_common_subexpressions):
        print(torch.compile(lambda x: x.exp() / x.exp().sum(), backend="aot_eager")(torch.ones(4)))


# %% tags=["wrong"] says="as keys of a dictionary they are one"
def merge_common_subexpressions(graph):
    graph = copy.deepcopy(graph)
    if any(writes(node) for node in graph.nodes):
        return graph
    known = {}
    for node in graph.nodes:
        if node.op.startswith("call") and not node.is_impure():
            key = (node.op, node.target, node.args, node.kwargs)
            if key in known:
                node.replace_all_uses_with(known[key])
                graph.erase_node(node)
            else:
                known[key] = node
    return graph


# %% tags=["wrong"] says="Two draws are two draws"
def merge_common_subexpressions(graph):
    graph = copy.deepcopy(graph)
    if any(writes(node) for node in graph.nodes):
        return graph
    known = {}
    for node in graph.nodes:
        if node.op.startswith("call"):
            key = (node.op, node.target, repr((node.args, node.kwargs)))
            if key in known:
                node.replace_all_uses_with(known[key])
                graph.erase_node(node)
            else:
                known[key] = node
    return graph


# %% tags=["wrong"] says="the same text and not the same number"
def merge_common_subexpressions(graph):
    graph = copy.deepcopy(graph)
    known = {}
    for node in graph.nodes:
        if node.op.startswith("call") and not node.is_impure():
            key = (node.op, node.target, repr((node.args, node.kwargs)))
            if key in known:
                node.replace_all_uses_with(known[key])
                graph.erase_node(node)
            else:
                known[key] = node
    return graph


# %% tags=["wrong"] says="Merged into one, the write reaches both"
def merge_common_subexpressions(graph):
    graph = copy.deepcopy(graph)
    known = {}
    for node in graph.nodes:
        if node.op.startswith("call") and not node.is_impure():
            key = (node.op, node.target, repr((node.args, node.kwargs)))
            if key in known:
                node.replace_all_uses_with(known[key])
                graph.erase_node(node)
            else:
                known[key] = node
        if writes(node):
            known.clear()
    return graph


# %% tags=["wrong"] says="Don't be more careful than needed"
def merge_common_subexpressions(graph):
    return copy.deepcopy(graph)


# %% tags=["wrong"] says="only nodes that compute the same thing"
def merge_common_subexpressions(graph):
    graph = copy.deepcopy(graph)
    if any(writes(node) for node in graph.nodes):
        return graph
    known = {}
    for node in graph.nodes:
        if node.op.startswith("call") and not node.is_impure():
            key = (node.op, node.target, repr(node.args))
            if key in known:
                node.replace_all_uses_with(known[key])
                graph.erase_node(node)
            else:
                known[key] = node
    return graph


# %% [markdown]
# ## 04.4 What a graph means
#
# Write the interpreter of graphs. `run_graph(graph, *args)` goes over `graph.nodes`, and gives what the graph returns. A
# node has `op`, `target`, `args` and `kwargs`; in the last two, nodes stand for their values, also inside lists, tuples,
# dicts and slices. `map_arg(arguments, f)` gives the same arguments with `f(node)` in place of each node. You need four
# kinds: `placeholder` (the next of `args`), `call_function` (target is the function), `call_method` (target is the name;
# the first argument is the object) and `output` (its first argument is the result).


# %%
def run_graph(graph: Graph, *args):
    """The value that the graph gives for these arguments."""
    ### BEGIN SOLUTION
    env, waiting = {}, iter(args)
    for node in graph.nodes:
        values, named = map_arg((node.args, node.kwargs), env.__getitem__)
        if node.op == "placeholder":
            env[node] = next(waiting)
        elif node.op == "call_function":
            env[node] = node.target(*values, **named)
        elif node.op == "call_method":
            receiver, *rest = values
            env[node] = getattr(receiver, node.target)(*rest, **named)
        elif node.op == "output":
            return values[0]
    ### END SOLUTION


# %%
check("04.4")

# %% [markdown]
# An interpreter of graphs is all that a *backend* has to be. Yours can run compiled functions:

# %%
if passed("04.4"):

    def my_backend(module, example_inputs):
        return lambda *args: run_graph(module.graph, *args)

    print(torch.compile(lambda x: (x.sin() * 2).sum(0), backend=my_backend)(torch.ones(2, 3)))


# %% tags=["wrong"] says="map_arg finds them all"
def run_graph(graph, *args):
    env, waiting = {}, iter(args)
    for node in graph.nodes:
        values = [env.get(arg, arg) if type(arg).__hash__ and arg in graph.nodes else arg for arg in node.args]
        named = map_arg(node.kwargs, env.__getitem__)
        if node.op == "placeholder":
            env[node] = next(waiting)
        elif node.op == "call_function":
            env[node] = node.target(*values, **named)
        elif node.op == "call_method":
            env[node] = getattr(values[0], node.target)(*values[1:], **named)
        else:
            return values[0]


# %% tags=["wrong"] says="Keywords are arguments, too"
def run_graph(graph, *args):
    env, waiting = {}, iter(args)
    for node in graph.nodes:
        values = map_arg(node.args, env.__getitem__)
        if node.op == "placeholder":
            env[node] = next(waiting)
        elif node.op == "call_function":
            env[node] = node.target(*values)
        elif node.op == "call_method":
            env[node] = getattr(values[0], node.target)(*values[1:])
        else:
            return values[0]


# %% tags=["wrong"] says="A method is called on its first argument"
def run_graph(graph, *args):
    env, waiting = {}, iter(args)
    for node in graph.nodes:
        values, named = map_arg((node.args, node.kwargs), env.__getitem__)
        if node.op == "placeholder":
            env[node] = next(waiting)
        elif node.op == "call_function":
            env[node] = node.target(*values, **named)
        elif node.op == "call_method":
            env[node] = getattr(values[0], node.target)(*values, **named)
        else:
            return values[0]


# %% tags=["wrong"] says="Run all nodes in their order"
def run_graph(graph, *args):
    env = dict(zip(graph.find_nodes(op="placeholder"), args))

    def value(node):
        if node not in env:
            values, named = map_arg((node.args, node.kwargs), value)
            if node.op == "call_function":
                env[node] = node.target(*values, **named)
            elif node.op == "call_method":
                env[node] = getattr(values[0], node.target)(*values[1:], **named)
        return env[node]

    return map_arg(graph.output_node().args[0], value)


# %% tags=["wrong"] says="Nothing was returned"
def run_graph(graph, *args):
    env, waiting = {}, iter(args)
    for node in graph.nodes:
        values, named = map_arg((node.args, node.kwargs), env.__getitem__)
        if node.op == "placeholder":
            env[node] = next(waiting)
        elif node.op == "call_function":
            env[node] = node.target(*values, **named)
        elif node.op == "call_method":
            env[node] = getattr(values[0], node.target)(*values[1:], **named)
        else:
            env[node] = values[0]


# %% [markdown]
# ## 04.5 Fool the stand-in
#
# Write a function of a tensor, 1-d with three elements, which `fx.symbolic_trace` gets wrong *in silence*: it gives a graph
# without complaint, and the graph runs, and its result differs from that of your function. `torch.compile` must get it
# right. The function gives a tensor, and the same one each time it is called with the same argument. Don't take the example
# of the lesson.


# %%
def fooled(x: torch.Tensor) -> torch.Tensor:
    """Does something that a stand-in doesn't see."""
    ### BEGIN SOLUTION
    known = {torch.Tensor: 2.0}
    return x * known.get(type(x), 3.0)
    ### END SOLUTION


# %%
check("04.5")


# %% tags=["wrong"] says="It is refused, loudly"
def fooled(x):
    return x * 2 if x.sum() > 0 else x - 1


# %% tags=["wrong"] says="The stand-in saw all that your program does"
def fooled(x):
    for scale in (1, 2, 3):
        x = x * scale + 1
    return x


# %% tags=["wrong"] says="No dice, and no memory"
def fooled(x, calls=[]):
    calls.append(x)
    return x * len(calls)


# %% tags=["wrong"] says="Ask it something that it can answer"
def fooled(x):
    return x * len(x)


# %% [markdown]
# ## 04.6 Blending under par
#
# The weighted mean of some images: tensors of equal sizes, and as many numbers. As one would write it down:
#
#     total = 0
#     for image, weight in zip(images, weights):
#         total = total + image * weight
#     return total / sum(weights)
#
# For three images the graph has 7 operations. Write it so that n images take 2 n - 1, and that an image of weight 0 takes
# none. The weights are plain numbers, known while tracing; at least one is not 0, and the images hold no infinities.


# %%
def blend(images: list[torch.Tensor], weights: list[float]) -> torch.Tensor:
    """The weighted mean of the images."""
    ### BEGIN SOLUTION
    whole = sum(weights)
    parts = [image * (weight / whole) for image, weight in zip(images, weights) if weight != 0]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
    ### END SOLUTION


# %%
check("04.6")

# %%
if passed("04.6"):
    images = [torch.full((2,), float(n)) for n in range(4)]
    print(captured(blend, images, [1.0, 0.0, 2.0, 1.0]))


# %% tags=["wrong"] says="divide the weights by it, before the images"
def blend(images, weights):
    parts = [image * weight for image, weight in zip(images, weights) if weight != 0]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total / sum(weights)


# %% tags=["wrong"] says="The first addition is 0 + something"
def blend(images, weights):
    whole = sum(weights)
    return sum(image * (weight / whole) for image, weight in zip(images, weights) if weight != 0)


# %% tags=["wrong"] says="an `if` on it costs nothing"
def blend(images, weights):
    whole = sum(weights)
    parts = [image * (weight / whole) for image, weight in zip(images, weights)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


# %% tags=["wrong"] says="Divide by the sum of the weights"
def blend(images, weights):
    parts = [image * weight for image, weight in zip(images, weights) if weight != 0]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


# %% [markdown]
# Save the notebook, and see where you stand:

# %%
progress("04")

# %% [markdown]
# And the switch for everything: inside its block the package runs on all of your answers, of all lessons, that pass their
# checks and have a place in it.

# %%
with own_parts() as places:
    print("running on your own:", *places)
    print(torch.compile(lambda x: [row * 2 + row * 2 for row in x])(torch.ones(2, 3)))
