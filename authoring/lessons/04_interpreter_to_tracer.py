# %% [markdown]
# # 04 From interpreter to tracer: graphs
#
# Here is a model as people write them when nobody watches. It has a class, a list comprehension, an f-string, a loop, a
# condition on sizes, and it returns a dictionary.

# %%
import minitorch_compile as torch
from minitorch_compile.dynamo.testing import CompileCounter


class Layer:
    def __init__(self, weight, name):
        self.weight, self.name = weight, name

    def __call__(self, x):
        return (x @ self.weight).relu()


def model(x, weights, residual=True):
    layers = [Layer(weight, f"layer {i}") for i, weight in enumerate(weights)]
    for layer in layers:
        y = layer(x)
        x = x + y if residual and y.shape == x.shape else y
    return {"result": x, "layers": [layer.name for layer in layers]}


counter = CompileCounter()
weights = [torch.ones(4, 4), torch.ones(4, 3)]
print(torch.compile(model, backend=counter)(torch.ones(2, 4), weights))
captured = counter.graphs[0].graph
captured.draw()

# %% [markdown]
# And this is what a compiler makes of it: five operations on tensors, and arrows that say which needs which. The class is
# gone, with the loop and the `if` and the dictionary. (The dictionary comes back at the end, as you see in the printed
# line, but nothing has to be computed for that.) This is a *graph*, and everything after this lesson works on graphs: they
# can be differentiated, fused, and turned into machine code. Python can't.
#
# How do you get from the one to the other? You have the machine already. It is the interpreter of lesson 03, run with
# other values.
#
# ## Tracing by running
#
# First the old way, which nearly every library has tried. Don't read the function at all. Call it with *stand-ins*,
# objects that behave like tensors and write down what is done to them. An operator on a stand-in adds a node to a graph
# and gives back a stand-in for its result.

# %%
import operator

from minitorch_compile.fx import Graph


class StandIn:
    """Stands for the value of a node, and notes what is done with it."""

    def __init__(self, node):
        self.node = node

    def record(self, function, *args):
        args = [arg.node if isinstance(arg, StandIn) else arg for arg in args]
        return StandIn(self.node.graph.call_function(function, tuple(args)))

    def __add__(self, other):
        return self.record(operator.add, self, other)

    def __mul__(self, other):
        return self.record(operator.mul, self, other)

    def __matmul__(self, other):
        return self.record(operator.matmul, self, other)


def trace_by_running(function, *names):
    graph = Graph()
    result = function(*(StandIn(graph.placeholder(name)) for name in names))
    graph.output(result.node)
    return graph


def steps(x, w):
    for scale in (1, 2):
        x = (x @ w) * scale + x
    return x


print(trace_by_running(steps, "x", "w").compact())

# %% [markdown]
# The loop is unrolled, of course: it was simply *run*, by CPython, and the stand-ins passed through it. Twenty lines, and
# we have a tracer. The package has a complete one, `fx.symbolic_trace`, with all operators and methods. What could be
# wrong with it?
#
# ## Where running isn't enough
#
# Three small functions. Each is traced with the package's stand-ins, and then run on a real tensor. The graph and the
# function should do the same:

# %%
from minitorch_compile.fx import symbolic_trace

seen = []


def doubles(x):
    if isinstance(x, torch.Tensor):
        x = x * 2
    return x + 1


def remembers(x):
    seen.append("called")
    return x + 1


def decides(x):
    return x * 2 if x.sum() > 0 else x - 1


for function in (doubles, remembers, decides):
    try:
        print(f"{function.__name__:<10}", symbolic_trace(function).graph.compact())
    except ValueError as error:
        print(f"{function.__name__:<10}", str(error).partition(".")[0])

# %% [markdown]
# `decides` is refused: a stand-in has no value, so it can't be asked whether it is true. That is unpleasant, but honest.
#
# The other two are worse, because they are *wrong in silence*. `doubles` asked whether x is a tensor. It isn't, it is a
# stand-in, and it said so; the graph lost the multiplication. `remembers` appended to a list while it was traced, once,
# and the graph will never do it again. A tracer that is called by the program sees only what is done to its own objects.
# Of the `if`, the list, the global variable, the `print`, it sees nothing: CPython did those, and CPython doesn't tell.
# One can teach stand-ins many tricks. But Python lets no object have a say in `is`, in `not`, in `isinstance`, or in
# whether the next line is reached at all.
#
# So let's not hand the program to CPython.
#
# ## Tracing by interpreting
#
# Lesson 03 ended with an interpreter that never looks into a value. For every look, it asks a hook. There were two
# domains: plain objects, which run the program, and strings, which wrote it down. Now we build a third. Its values
# are of two kinds, and this pair is the heart of every tracer:
#
# - a **constant**: known now, while tracing. Numbers, strings, functions, classes, settings.
# - a **symbol**: known only when the graph runs. It has a node, and a *fake* tensor (lesson 02), which has sizes and no
# numbers.
#
# What stands for a value while tracing is called a *tracker*.

# %%
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter
from minitorch_compile.tensor import fake_like


class Constant:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return getattr(self.value, "__name__", repr(self.value))


class Symbol:
    def __init__(self, node, fake):
        self.node, self.fake = node, fake

    def __repr__(self):
        return f"%{self.node}"


class Method:
    def __init__(self, owner, name):
        self.owner, self.name = owner, name

    def __repr__(self):
        return f"{self.owner}.{self.name}"


class NotKnown(Exception):
    """The program needs a value that exists only when the graph runs."""


# %% [markdown]
# Then the hooks. An operator on constants is *done*, now, by Python itself; the result is a constant. If a symbol takes
# part, it is *recorded*: a node for later, and the same operation on fakes, to know the sizes of what comes out. A
# question that must be answered now, such as `if`, has an answer for constants and none for symbols.

# %%
import builtins


class Operators(BytecodeInterpreter):
    """Constants are computed, symbols are recorded."""

    def load_const(self, value):
        return Constant(value)

    def load_global(self, name):
        return Constant(self.scope.get(name, getattr(builtins, name, None)))

    def binary(self, op, a, b):
        return self.apply(OPERATORS[op], a, b)

    inplace = compare = binary

    def getitem(self, obj, key):
        return self.apply(operator.getitem, obj, key)

    def truth(self, value):
        if isinstance(value, Symbol):
            raise NotKnown(f"line {self.instruction.line} asks whether {value} is true")
        return bool(value.value)

    def apply(self, function, *args):
        if not any(isinstance(arg, Symbol) for arg in args):
            return Constant(function(*(arg.value for arg in args)))
        nodes = tuple(arg.node if isinstance(arg, Symbol) else arg.value for arg in args)
        fakes = (arg.fake if isinstance(arg, Symbol) else arg.value for arg in args)
        return Symbol(self.graph.call_function(function, nodes), function(*fakes))


NAMES = "+ add, - sub, * mul, / truediv, // floordiv, % mod, ** pow, @ matmul, < lt, > gt, == eq"
OPERATORS = {symbol: getattr(operator, name) for symbol, name in map(str.split, NAMES.split(", "))}

# %% [markdown]
# Look at `apply`. A few lines for constants, a few for symbols, and between them an `if` that is asked over and over, for
# every operator of the program: *now or later?* All the rest of a tracer is book-keeping around this question. The idea
# is older than neural networks, and its name is *partial evaluation*: run as much of a program as you can with the inputs
# that you have, and keep the remainder as a program of the inputs that you don't have.
#
# Attributes, loops and calls are what is left. An attribute of a fake that is no method, such as its `shape`, is known.
# A loop goes over anything that is known, and over the rows of a tensor, whose number is known, too. And a call of a
# Python function is *followed*: a new frame, which records into the same graph. This is called inlining. The caller's
# frame waits meanwhile in its own `step`, as it did in lesson 03.

# %%
import inspect
import types


class Tracer(Operators):
    def __init__(self, function, slots, graph):
        super().__init__(decode(function.__code__), slots)
        self.scope, self.graph = function.__globals__, graph

    def load_attr(self, obj, name):
        if not isinstance(obj, Symbol):
            return Constant(getattr(obj.value, name))
        value = getattr(obj.fake, name)
        return Method(obj, name) if callable(value) else Constant(value)

    def get_iter(self, iterable):
        if isinstance(iterable, Symbol):
            return iter([self.getitem(iterable, Constant(i)) for i in range(len(iterable.fake))])
        return map(Constant, iterable.value)

    def next_item(self, iterator):
        item = next(iterator, None)
        return item is not None, item

    def call(self, function, args, kwargs):
        if isinstance(function, Method):
            return self.apply(getattr(torch.Tensor, function.name), function.owner, *args)
        function = function.value
        if isinstance(function, types.FunctionType):
            slots = inspect.signature(function).bind(*args, **kwargs).arguments
            return Tracer(function, slots, self.graph).run()
        if function is isinstance:
            asked, wanted = args
            real = asked.fake if isinstance(asked, Symbol) else asked.value
            return Constant(isinstance(real, wanted.value))
        return self.apply(function, *args)


# %%
def trace(function, *args):
    """The graph of a call: tensors become placeholders, everything else is a constant."""
    graph, slots = Graph(), {}
    for name, arg in zip(inspect.signature(function).parameters, args):
        is_tensor = isinstance(arg, torch.Tensor)
        slots[name] = (
            Symbol(graph.placeholder(name), fake_like(arg)) if is_tensor else Constant(arg)
        )
    result = Tracer(function, slots, graph).run()
    graph.output(result.node if isinstance(result, Symbol) else result.value)
    return graph


x, w = torch.ones(2, 3), torch.ones(3, 3)
print(trace(steps, x, w).compact())
print(trace(doubles, x).compact())
try:
    trace(decides, x)
except NotKnown as reason:
    print("not known:", reason)

# %% [markdown]
# The multiplication in `doubles` is there. The program asked the *interpreter* whether x is a tensor, and the interpreter
# told it what will be true when the graph runs. And at `decides` we don't just fail: we stand between two instructions,
# with the stack, the slots and the line number at hand. Everything that is needed to stop here, and to let Python go on
# by itself, is in the frame. That is a graph break, lesson 06.
#
# ## Python disappears
#
# Now a function in which nearly everything is known, and see what is left of it:
#
# *Predict*: `terms` will be 6, so the loop turns six times. How many powers of x will the graph compute?

# %%
from minitorch_compile.course import predict

predict("04.powers", None)


# %%
def wave(x, terms):
    total = 0
    for n in range(terms):
        if n % 2 == 1:
            sign = -1 if n % 4 == 3 else 1
            total = total + x**n * (sign / factorial(n))
    return total


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


graph = trace(wave, torch.ones(2), 6)
print(graph.compact())
graph.draw()

# %% [markdown]
# These are the first terms of a sine, with their factors worked out. The loop is unrolled, since `range(6)` is known. The
# recursion of `factorial` ran to its end. The conditions took the way that they will always take, and left no trace.
# `sign / factorial(n)` is *folded*: constants meet only constants, and become one. What remains is what depends on x.
#
# Some of it looks foolish: `0 + ...`, `x ** 1`, `* 1.0`. Somebody who knows algebra would drop them. A tracer may not,
# as it happens: if x holds integers, the multiplication by 1.0 makes floats of them. It does what the program says, and
# leaves it to later passes, which know the types, to find out what is superfluous.
#
# And notice what was *not* proved. The graph is right for `terms = 6`, and for no other number. Whatever was known while
# tracing is built in, and before the graph is used again somebody has to make sure that it is still so.
#
# Let's watch it happen. This is the stack of one traced frame, step by step. Constants are shown as themselves, symbols
# with a percent sign.

# %%
from minitorch_compile.course.drawings.stack import draw_run


def shifted(x, scale):
    offset = scale * 2 - 1
    return x * offset + x.shape[0]


tracing = Graph()
slots = {"x": Symbol(tracing.placeholder("x"), fake_like(torch.ones(5, 2))), "scale": Constant(3)}
draw_run(Tracer(shifted, slots, tracing))

# %% [markdown]
# The same instructions, the same pushes and pops as in lesson 03. `scale * 2 - 1` became 5 before the graph noticed
# anything; `x.shape[0]`, too, is an ordinary 5, because the fake knows its sizes. Only two of the fifteen instructions made a node.
#
# ## Is it right?
#
# A tracer that is wrong now and then is worse than none, since nobody will look for the mistake there. So let dice write
# programs again, as in lesson 03. They have a tensor and two numbers, and mix them freely. For each we ask: if there is a
# graph, does it compute what the program computes, to the last bit?

# %%
import random

from minitorch_compile.fx import GraphModule

STATEMENTS = [
    "{v} = {e}",
    "for i in range(3): {v} = {v} + {e}",
    "if {e} > 2: {v} = {e}",
    "while n < 3: n = n + 1",
]


def random_program(dice):
    def expression(depth=0):
        if depth == 2 or dice.random() < 0.3:
            return dice.choice(["x", "n", "k", "1", "2 * x", "n * k"])
        return f"({expression(depth + 1)} {dice.choice('+-')} {expression(depth + 1)})"

    body = [
        dice.choice(STATEMENTS).format_map({"v": dice.choice("xnk"), "e": expression()})
        for _ in range(4)
    ]
    return "\n    ".join(["def f(x, n, k):", *body, "return x * n + k"])


dice, agreed, stopped = random.Random(4), 0, 0
for _ in range(400):
    namespace, args = {}, (torch.tensor([0.5, -1.0]), dice.randint(-2, 4), dice.randint(-2, 4))
    exec(random_program(dice), namespace)
    try:
        graph = trace(namespace["f"], *args)
    except NotKnown:
        stopped += 1
        continue
    expected, got = namespace["f"](*args), GraphModule({}, graph)(args[0])
    assert torch.equal(torch.as_tensor(expected), torch.as_tensor(got))
    agreed += 1
print(f"{agreed} graphs agree with their programs, {stopped} programs asked what is not known")

# %% [markdown]
# There is no third number. Every program either became a graph that is right, or was stopped at the line where it asked
# for what can't be known. This is the law of the tracer, *sound or break*. The package sets out to keep it for all of
# Python, not just for what our dice can write. Its own dice write programs with classes, closures, exceptions and shared
# lists, and compare not only results but everything that a program can leave behind.
#
# ## Where a value came from
#
# Our tracer has a hole, and it is the same for every tracer. It trusted what it saw. `load_global` looked up a name, found
# a number, and put the number into the graph. Tomorrow the number may be another one.
#
# So a tracker of a value that came from *outside* keeps the path on which it was found: the argument `config`, then its
# attribute `layers`, then item 0. This is its **source**. A source is good for three things. It names the graph's inputs.
# The generated code uses it to fetch the value again, at the next call. And it can be checked: was the same thing found
# there as while tracing? Such a check is a *guard*, and lesson 05 is about nothing else. The package's sources are small
# and readable:

# %%
from minitorch_compile.dynamo.guards.source import AttrSource, ItemSource, LocalSource

path = ItemSource(AttrSource(LocalSource("config"), "layers"), 0)
print(path.name(), "| read from:", path.base, "| root:", path.root)
print(inspect.getsource(ItemSource.read))

# %%
RATE = torch.tensor(0.1)


class Config:
    def __init__(self):
        self.layers, self.bias = [torch.ones(2, 2)], {"first": torch.zeros(2)}


def make_step(state):
    def step(x, config):
        return (x @ config.layers[0] + config.bias["first"]) * RATE - state

    return step


counter = CompileCounter()
torch.compile(make_step(torch.ones(2)), backend=counter)(torch.ones(2), Config())
for node in counter.graphs[0].graph.find_nodes(op="placeholder"):
    print(f"{node.name:<20} {node.meta['source'].name()}")

# %% [markdown]
# Five tensors, found in five places: an argument, a list in an object, a dictionary in it, a global, and a variable of an
# enclosing function. All five became inputs of the graph. The function has two parameters. (`G` is the module's globals.)
#
# Were they put into the graph as constants, a training step that writes a new tensor into `config.bias` would go unseen.
# And since the weights are inputs, the code compiled for one layer serves for all layers of its kind.
#
# ## The package's trackers
#
# Two kinds of values are enough for a sketch. Real programs build lists, call `zip`, define classes, raise exceptions. Each
# kind of Python value has a tracker class in `dynamo/variables/`, and all answer the same questions, the ones that Python
# asks of any object: an attribute, an item, a call, truth, iteration. Here are a constant and a tensor being asked. Who
# can't answer for sure says so, by raising `Unsupported`; nobody guesses.

# %%
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable

for method in (ConstantVariable.truth, TensorVariable.truth, TensorVariable.binary):
    print(inspect.getsource(method))
print(inspect.getsource(TensorVariable.iterate))

# %% [markdown]
# A tracked list is a Python list of trackers, and `append` on it appends, while tracing. If the list came from outside,
# the change is noted besides, to be made for real after the graph has run. So `remembers`, above, comes out right:

# %%
from minitorch_compile.dynamo.testing import generated

print(generated(remembers, torch.ones(2)))

# %% [markdown]
# This is the text of what runs instead of your function, once its guards hold: call the graph, do what the program would
# have done to the world, return. (The list `seen` goes by a short name here: it was fetched by its source while the guards
# were checked.) Lesson 06 looks at these side effects closely.
#
# How far does it carry? Take a layer of a transformer, written by people who never thought of us, with attention,
# normalisation and dropout. The tracer can write down each instruction that it executes, here and in all functions that
# it goes into:

# %% tags=["varies"]
from minitorch_compile import logs, nn

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
x = torch.randn(2, 5, 16)
counter = CompileCounter()
with logs.capture("trace_bytecode") as executed:
    y = torch.compile(layer, backend=counter)(x)
print(len(executed), "instructions executed,", counter.op_count, "operations recorded")
print("same result:", torch.equal(y, layer(x)))
print(*(node.name for node in counter.graphs[0].graph.nodes if node.op.startswith("call")))

# %% [markdown]
# More than a thousand instructions, for fourteen operations. The others looked up attributes, tested flags, bound
# arguments and looked for hooks. In eager mode Python does all that again at each call. After compiling it is paid for
# once.
#
# ## What a graph is
#
# A graph is a list of nodes in the order of execution. Each node says what it calls, on what, and who uses it. There are
# six kinds, PyTorch's: arguments (`placeholder`), calls of a function, of a method or of a module, constants that are
# kept beside the graph (`get_attr`), and the `output`. That is nearly all there is to know about the format:

# %%
small = symbolic_trace(lambda x, w: (x @ w).relu() * (x @ w).sum()).graph
small.print_tabular()

# %% [markdown]
# There are no branches and no loops. A graph is a straight road, and that makes it so easy to work with: "before" and
# "after" mean one thing, each value is made in one place, and who needs it can be read off. A node also remembers its
# past. `meta` holds the fake tensor that was worked out while tracing, and the line of your program that it came from. Here are
# nodes of the first graph of this lesson:

# %%
for node in captured.find_nodes(op="call_function"):
    filename, number, line = node.meta["stack"]
    print(f"{node.name:<10} {list(node.meta['val'].shape)}   line {number}: {line}")

# %% [markdown]
# What does it *mean*? Lesson 03 gave bytecode its meaning by an interpreter, and so does this one: `fx.Interpreter`, a loop
# over the nodes with a dictionary of values. You write it in exercise 04.3. It is slow and obviously right, and each later
# stage is tested against it.
#
# A *pass* is a function from graphs to graphs. Here is a complete one. It finds nodes that compute what another node has
# computed before, and lets their users read the first one:


# %%
def merge_equal_nodes(graph):
    known = {}
    for node in graph.nodes:
        key = (node.op, node.target, node.args)
        if node.op.startswith("call") and key in known:
            node.replace_all_uses_with(known[key])
            graph.erase_node(node)
        known.setdefault(key, node)
    return graph


print(merge_equal_nodes(small).compact())

# %% [markdown]
# Short, and right for this graph. In general it has three serious bugs. One concerns `x + 1` and `x + 1.0`, one concerns
# random numbers, and one concerns programs that write into a tensor between two reads. You will mend them in exercise
# 04.1. Passes are easy to write and hard to get right, and that is why the graph has an interpreter to compare with.
#
# ## Beside PyTorch
#
# Here is the first graph of this lesson again, with its sizes, and PyTorch's of the same function:

# %%
from minitorch_compile.course.drawings.beside import beside
from minitorch_compile.fx.codegen import python_code

beside("04_graph", python_code(captured).src)

# %% [markdown]
# The same five operations with the same names, after the variables of your program. The class, the list, the names of
# the layers and the dictionary are gone in both. PyTorch's placeholders are called by their sources, `L_x_` for the
# local variable x, ours more briefly. And PyTorch hands back only what was computed in the graph, as here: the rest
# of the dictionary is put together around it.
#
# ## What PyTorch does differently
#
# - The tracer is TorchDynamo, `torch/_dynamo`. Its `InstructionTranslator` is our `SymbolicInterpreter`, and its classes
# are called as ours: `VariableTracker`, `ConstantVariable`, `TensorVariable`. It has about 240 of them, in more than
# 50,000 lines; ours are about 60. Most of the difference is Python's library, one function after the other.
# - `torch.fx.symbolic_trace` is tracing by running, with the same blind spots: its stand-ins are not tensors either. So is
# `torch.jit.trace`, which records what happens to real tensors, and of each `if` the way that it went, with a warning.
# - Its fake tensors can have symbolic sizes, so one graph serves many shapes. Ours have that too; a later lesson shows it.
# - Parameters of modules are inputs of the graph since version 2.5, as here. Before, a module was recognised by its
# identity, and twelve equal layers, compiled one by one, were compiled twelve times.
#
# ## What you write
#
# Nine steps of the exercises write `work/mini/graph.py` and `work/mini/tracer.py`. Afterwards your interpreter of lesson 03
# traces: through loops, calls, closures and generators, to the end of a function or to the instruction that needs a tensor's
# data, and it leaves nothing of an instruction that it did by halves. Values are plain Python's there, and fakes for tensors;
# the package has a class of trackers for each kind of value instead, so it can also follow classes that the program makes,
# exceptions, sets, and some hundred functions of Python's library. Its graphs are `torch.fx`'s, with passes and drawings.
#
# ## Exercises
#
# Open `work/04_interpreter_to_tracer.ipynb`. First you find the bugs in the pass above; mended, it can be spliced into the
# package. Then come the nine steps, two hours and three quarters.
