# %% [markdown]
# # 05 Guards and the cache
#
# Here is a function that looks at more than its argument. It is compiled, with a backend that runs each graph as it is
# and counts how many it was given. We call it six times, and change the world in between.

# %%
import minitorch_compile as torch
from minitorch_compile.dynamo.testing import CompileCounter

counter = CompileCounter()
scale, history = 3.0, []


@torch.compile(backend=counter, dynamic=False)
def scaled(x, invert=False):
    return x / scale if invert else x * scale


def call(*arguments):
    print([f"{n:.2f}" for n in scaled(*arguments)], "  graphs so far:", counter.frame_count)


x = torch.tensor([1.0, 2.0])
call(x)
call(x + 1)
scale = 5.0
call(x)
call(x, True)
scale = 3.0
call(x)
call(x, "yes")

# %% [markdown]
# Every answer is right. The first call made a graph, and the second used it again. When `scale` changed there was a
# second graph, and for dividing a third. Then `scale` went back to 3, and nothing was compiled, since the first graph
# would do. Last, `"yes"` is as true as `True`, but it is something else, and there is a fourth. (`dynamic=False` says that
# numbers are decided like all else. Further down they get their freedom.)
#
# Now look at what was captured, one graph a line:

# %%
for graph in counter.graphs:
    print(graph.graph.compact())

# %% [markdown]
# No `scale`, no `invert`, no `if`. Multiply by 3: that is all the first graph can do, and it is right only as long as a
# number of things hold. The function body, which could find out, isn't run any more. So who noticed that a global
# variable had changed? Somebody checks, before every call, and needs a few microseconds for it. In this lesson you
# build that somebody: the *guards*, the function they are written into, and the cache of versions behind it.
#
# ## What a graph leaves out
#
# A tracer, the one of lesson 04 or any other, runs the program once and writes down the tensor operations. Everything
# else it *decides*, there and then: which way an `if` goes, how often a loop turns, what a global variable means, which
# method `self.layer(x)` calls. The decisions are why a graph is so simple. They are also assumptions, and each of them
# can turn out to be wrong at the next call.
#
# So the tracer must write down its assumptions, too. Two mistakes are possible. Write down too few, and some day the
# compiled function gives a wrong answer, without a sound. Write down too many, and it is compiled again and again for
# differences that don't matter. The first mistake is the unforgivable one. The rule that avoids both is short: *guard
# what was read, all of it, and nothing else.*
#
# An assumption is made about a value; it is checked at some later call, when that value is gone. What can be kept is the
# way to the value: argument `x`; the global named `scale`; attribute `weight` of item 0 of attribute `layers` of
# argument `self`. Such a way is called a *source*, and it is simply an expression. `self.layers[0].weight` is one. A
# guard, then, is a source, a relation, and what was seen:


# %%
from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """What must hold: `source` is an expression, `expected` the text of what it gave."""

    source: str
    relation: str
    expected: str

    def __str__(self):
        return f"{self.source} {self.relation} {self.expected}"


print(Guard("G['scale']", "==", "3.0"))
print(Guard("x.shape", "==", "(2,)"))
print(Guard("type(invert)", "is", "bool"))

# %% [markdown]
# `G` stands for the globals of the function. Text is a good form for a guard. It can be read, it can be compared, and
# it is Python already.
#
# ## Everything you read
#
# How does the tracer know what was read? By handing out nothing but *watched* values. A watched value knows its source.
# Taking an attribute or an item of it gives another one, with a longer source, and no harm is done. Only when somebody
# wants to know what it really is, to add it, to compare it, to ask whether it is true, does it leave a guard. We call
# this "looking".


# %%
class Watched:
    """A value from outside, with the source that leads to it. Nothing depends on it yet."""

    def __init__(self, trace, source, value):
        self.__dict__.update(_trace=trace, _source=source, _value=value)

    def __getattr__(self, name):
        if isinstance(self._value, torch.Tensor):
            return getattr(look(self), name)
        return Watched(self._trace, f"{self._source}.{name}", getattr(self._value, name))

    def __getitem__(self, key):
        return Watched(self._trace, f"{self._source}[{key!r}]", self._value[key])

    def __bool__(self):
        return bool(look(self))


def look(x):
    """The value itself. From here on the trace depends on it, so guards are left behind."""
    if not isinstance(x, Watched):
        return x
    trace, source, value = x._trace, x._source, x._value
    trace.guard(f"type({source})", "is", trace.name(type(value)))
    if isinstance(value, torch.Tensor):
        trace.guard(f"{source}.shape", "==", repr(tuple(value.shape)))
        trace.guard(f"{source}.stride()", "==", repr(value.stride()))
        trace.guard(f"{source}.dtype", "is", trace.name(value.dtype))
        trace.guard(f"{source}.requires_grad", "is", repr(value.requires_grad))
        return Symbol(trace, source, value)
    if isinstance(value, int | float | str | None):
        trace.guard(source, "==", repr(value))
    else:
        trace.guard(source, "is", trace.name(value))
    return value


# %% [markdown]
# Read `look` from below. Any old object is guarded by identity: it must be the very same one. A number or a string need
# only be equal, but of the same type, since in Python `1 == True == 1.0`, and a graph with `x * 1.0` in it may have
# another dtype than one with `x * 1`. For a tensor, its numbers don't matter at all! They are inputs of the graph.
# What matters is whatever decided the graph's shape: sizes, strides, dtype, and whether a tape is wanted.
#
# The rest is a very small tracer. A `Symbol` is a tensor in the graph, and the "graph" is a list of Python lines. We let
# it compute real values on the side, for convenience; lesson 04 did the same with fakes.

# %%
import operator

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
OPERATORS |= {">": operator.gt, "==": operator.eq}


@dataclass
class Symbol:
    """A tensor of the program: its text in the graph, and a value to go on with."""

    trace: object
    text: str
    value: torch.Tensor

    def __getattr__(self, name):
        if name == "shape":
            return tuple(self.value.shape)  # no new guard: the sizes are guarded already
        return lambda: self.trace.compute(f"{self.text}.{name}()", getattr(self.value, name)())


def combine(sign, left, right):
    """left + right, for any mixture of watched values, symbols and numbers."""
    left, right = look(left), look(right)
    values = [x.value if isinstance(x, Symbol) else x for x in (left, right)]
    result = OPERATORS[sign](*values)
    for x in (left, right):
        if isinstance(x, Symbol):
            texts = [y.text if isinstance(y, Symbol) else repr(y) for y in (left, right)]
            return x.trace.compute(f"{texts[0]} {sign} {texts[1]}", result)
    return result


for sign, function in OPERATORS.items():
    for cls in (Watched, Symbol):
        name = function.__name__
        setattr(cls, f"__{name}__", lambda a, b, sign=sign: combine(sign, a, b))
        setattr(cls, f"__r{name}__", lambda a, b, sign=sign: combine(sign, b, a))

# %% [markdown]
# What the trace collects: guards, each once and in order; lines; and names for objects that have no text, such as
# classes. Globals are watched as well. Python lets us run a function with a dictionary of our own in place of its
# globals, and that dictionary hands out watched values.

# %%
import types


class Trace:
    def __init__(self):
        self.guards, self.lines, self.names = {}, [], {}

    def guard(self, source, relation, expected):
        self.guards.setdefault(Guard(source, relation, expected))

    def name(self, value):
        """A name under which the generated function will hold this object."""
        name = getattr(value, "__name__", str(value).replace(".", "_").strip("<>"))
        self.names[name] = value
        return name

    def compute(self, text, value):
        self.lines.append(f"t{len(self.lines)} = {text}")
        return Symbol(self, f"t{len(self.lines) - 1}", value)


class WatchedGlobals(dict):
    def __init__(self, trace, real):
        self.trace, self.real = trace, real

    def __getitem__(self, name):
        return Watched(self.trace, f"G[{name!r}]", self.real[name])


def run_watched(function, arguments):
    """The trace of a call, and the text of what it returns."""
    trace = Trace()
    watching = types.FunctionType(function.__code__, WatchedGlobals(trace, function.__globals__))
    names = function.__code__.co_varnames
    result = look(watching(*(Watched(trace, n, value) for n, value in zip(names, arguments))))
    return trace, result.text if isinstance(result, Symbol) else repr(result)


def scaled(x, invert):
    return x / scale if invert else x * scale


trace, result = run_watched(scaled, (x, False))
print(*trace.guards, "", *trace.lines, f"return {result}", sep="\n")

# %% [markdown]
# Nine guards and one line of graph. `if invert` looked at the argument, `x * scale` looked at both. Nothing else was
# looked at, so nothing else is guarded. See how exact that is. This function gets a whole configuration object and a flag
# that it passes by:
#
# *Predict*: how many guards will there be on `verbose`?

# %%
from minitorch_compile.course import predict

predict("05.verbose", None)


# %%
class Config:
    gain, name, layers = 2.0, "big", {"first": 4, "second": 8}


def configured(x, config, verbose):
    y = x * config.layers["first"]
    return y.sum() if config.gain > 1 else y


trace, result = run_watched(configured, (x, Config(), True))
print(*(guard for guard in trace.guards if "config" in str(guard)), sep="\n")
print("guards on verbose:", sum("verbose" in str(guard) for guard in trace.guards))

# %% [markdown]
# The name may change, a layer may be added, `verbose` may be anything. No recompilation. If `config` itself is replaced
# by another object with the same gain and the same first layer, that is fine, too. A guard is about a path, and not about
# the objects that happened to lie along it.
#
# Two things our tracer takes lightly. Reading `config.gain` may run code, if `gain` is a property, and that code may
# answer differently next time; so one should look at the class of `config` before believing the attribute. And *not*
# finding something is a reading as well. An attribute that comes from the class will be hidden as soon as somebody sets
# it on the instance. Watch for both when we come to the package's guards.
#
# ## A function made of checks
#
# Guards are text, lines are text. Put one below the other, with a way out in between, and you have the function that
# stands in for the user's. `MISS` is what it says if it doesn't apply.

# %%
MISS = object()


def write(function, trace, result):
    """The source of one version: all checks, then the graph."""
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    lines = [f"def version({', '.join(parameters)}):"]
    for guard in trace.guards:
        lines += [f"    if not ({guard}):", "        return MISS"]
    return "\n".join([*lines, *(f"    {line}" for line in trace.lines), f"    return {result}"])


def build(function, trace, source):
    scope = {"MISS": MISS, "G": function.__globals__, **trace.names}
    exec(source, scope)
    return scope["version"]


trace, result = run_watched(scaled, (x, False))
source = write(scaled, trace, result)
version = build(scaled, trace, source)
print(source)

# %% [markdown]
# This is the somebody from the top of the lesson. It takes the same arguments as the function, and it either has the
# answer or says that it hasn't.

# %%
print(version(x + 10, False))
print(version(torch.ones(3), False) is MISS, version(x, True) is MISS, version(x, 0) is MISS)

# %% [markdown]
# Why a function, and not a dictionary of versions with some key? Other systems do use a key, made of the sizes and types of
# the arguments, and it is quick to compute. But a key has to be chosen before one knows what the program will read. It
# can hold the arguments. It can't hold every global, every attribute and every closure in reach. Systems with keys
# therefore ask you to write functions that read nothing but their arguments, and use the old value in silence if you
# don't obey. Guards are found by watching, after the fact, so they can be exact for any program.
#
# ## A miss says why
#
# When a version doesn't apply, its owner will want to know the reason. The generated function can't tell. It is built for
# speed and gives up at the first check that fails. But the guards are still there as data, so we can go through them
# again, slowly, and look for it. A failed guard is only useful with *both* values: what was expected, and what came.


# %%
def why(guards, scope):
    """The first guard that fails, and what its source gives now."""
    for guard in guards:
        try:
            if not eval(str(guard), scope):
                return f"expected {guard}, now {eval(guard.source, scope)!r}"
        except (AttributeError, LookupError, TypeError) as error:
            return f"expected {guard}, now not readable: {type(error).__name__}: {error}"
    return "nothing: all guards hold"


scope = {"G": globals(), **trace.names}
print(why(trace.guards, scope | {"x": torch.ones(3), "invert": False}))
print(why(trace.guards, scope | {"x": x, "invert": 0}))
print(why(trace.guards, scope | {"x": 4.0, "invert": False}))

# %% [markdown]
# The `except` isn't decoration. The world may have changed so much that a source can't be read any more: the attribute
# was deleted, the key isn't in the dictionary, the variable holds None. An unreadable source is a miss and not a crash.
# Our generated function forgets that; the package's has a `try` around all its checks, as you will see.
#
# ## Many versions, one door
#
# A version is made for one state of the world, and there may be several, so we keep them in a list. At a call we ask one
# after the other. If none applies, we trace again and add one. Which to ask first? The one that answered last: programs
# train for a while, then evaluate for a while, and hardly ever alternate.


# %%
class Compiled:
    """Stands in for a function. The version used last is the first in the list."""

    limit = 8

    def __init__(self, function):
        self.function, self.versions, self.asked = function, [], 0

    def __call__(self, *arguments):
        for position, (version, _) in enumerate(self.versions):
            self.asked += 1
            result = version(*arguments)
            if result is not MISS:
                self.versions.insert(0, self.versions.pop(position))
                return result
        if len(self.versions) == self.limit:
            return self.function(*arguments)
        return self.compile(*arguments)(*arguments)

    def compile(self, *arguments):
        for _, conditions in self.versions[:1]:
            names = self.function.__code__.co_varnames
            print("  compiling again:", why(conditions, scope | dict(zip(names, arguments))))
        trace, result = run_watched(self.function, arguments)
        scope.update(trace.names)
        version = build(self.function, trace, write(self.function, trace, result))
        self.versions.insert(0, (version, list(trace.guards)))
        return version


own = Compiled(scaled)
for value, arguments in [
    (3.0, (x, False)),
    (5.0, (x, False)),
    (5.0, (x, True)),
    (3.0, (x, False)),
]:
    scale = value
    print(own(*arguments))

# %% [markdown]
# That is the whole mechanism, and it does what the package did in the first cell. Three versions, and the fourth call
# found the first one again. Let's look at the list, in the order in which it would be asked now. The guards that all
# versions share are left out of the picture.

# %%
from minitorch_compile.course.drawings.versions import draw_versions

graphs = ["x * 3.0", "x / 5.0", "x * 5.0"]
draw_versions([(list(map(str, guards)), g) for (_, guards), g in zip(own.versions, graphs)])

# %% [markdown]
# Moving to the front is cheap, and how much it saves can be counted. Here are two hundred calls, half of them in
# training mode and half in evaluation, once in two long phases and once alternating:


# %%
def moded(x, training):
    return x * 2 if training else x


def versions_asked(calls):
    own = Compiled(moded)
    own.compile(x, True), own.compile(x, False)
    for training in calls:
        own(x, training)
    return own.asked


print("two phases: ", versions_asked([True] * 100 + [False] * 100), "versions asked")
print("alternating:", versions_asked([True, False] * 100), "versions asked")

# %% [markdown]
# In phases, all calls but two find their version at once. Alternating is the worst case, and costs twice the checks.
#
# ## Storms and the limit
#
# Now the way in which compiled programs become slow. Here a step counter is kept on an object, and used as a factor. The
# counter was read, so it is guarded. It changes with every call. So every call compiles.
#
# *Predict*: twelve calls, and the counter is another number at each. How many versions will there be at the end?

# %%
predict("05.versions", None)


# %%
class State:
    step = 0


def warmed_up(x, state):
    return x * (state.step / 100)


state, own = State(), Compiled(warmed_up)
for _ in range(12):
    state.step += 1
    own(x, state)
print(len(own.versions), "versions")

# %% [markdown]
# Every one of these versions is right, and hardly one will ever be used again. This is a *recompile storm*. The limit of
# eight is there to end it: a function that was compiled eight times runs as plain Python for any further kind of input,
# and the eight versions stay in use for theirs. The package gives up in the same way, and says so once:

# %%
import warnings

state = State()
fast = torch.compile(warmed_up, backend=counter, dynamic=False)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for _ in range(12):
        state.step += 1
        fast(x, state)
for warning in told:
    print(warning.message)

# %% [markdown]
# The message names the source that kept changing, so the cure is at hand: what changes at every call must not be *decided* at tracing time.
# Make it a tensor, and it becomes an input of the graph, whose numbers nobody guards. Or don't read it in compiled code.
# (`dynamic=False` switches off a third cure: the compiler can notice that a number keeps changing and treat it as a
# symbol. That is the next section.)

# %%
state, counter = State(), CompileCounter()
state.step = torch.tensor(0)
fast = torch.compile(warmed_up, backend=counter, dynamic=False)
for _ in range(12):
    state.step += 1
    fast(x, state)
print(counter.frame_count, "graph:", counter.graphs[0].graph.compact())

# %% [markdown]
# Most storms have one of four causes, and you will meet them all. A counter, as here. A batch whose size differs, above
# all the last one of an epoch, which is smaller: drop it, fill it up, or use symbols. An object made anew for every
# call and guarded by identity, where equal contents would have done. And a function that is made and compiled inside a
# loop: each is another function with a cache of its own, and a fresh cache is empty.
#
# ## A size as a formula
#
# The second of the four deserves more. Sizes are guarded, so a batch of 63 rows is another version than one of 64. And most of
# what a program does with the number of rows would be the same for any: it multiplies, it subtracts one, it passes it on. So
# let that number be a *symbol*, s0, and what is made of it a formula, `times * s0 + plus`. Python will calculate with
# whatever has the methods for it:


# %%
class Size:
    """times * s0 + plus; `now` is what s0 is in the call that is traced."""

    def __init__(self, now, required, times=1, plus=0):
        self.now, self.required, self.times, self.plus = now, required, times, plus

    def __repr__(self):
        return f"{self.times}*s0 + {self.plus}"

    def __add__(self, n):
        return Size(self.now, self.required, self.times, self.plus + n)

    def __mul__(self, n):
        return Size(self.now, self.required, self.times * n, self.plus * n)

    def __floordiv__(self, n):
        if self.times % n == 0:
            return Size(self.now, self.required, self.times // n, self.plus // n)
        return operator.index(self) // n

    def __lt__(self, n):
        at_two = self.times * 2 + self.plus - n
        if self.times * at_two > 0:
            return at_two < 0
        answer = self.times * self.now + self.plus < n
        self.required.append(f"({self} < {n}) is {answer}")
        return answer

    def __index__(self):
        self.required.append(f"s0 == {self.now}")
        return self.times * self.now + self.plus


required = []
rows = Size(7, required)
print("of all batches:", (rows * 64 + 9) // 8, "|", rows < 1, "|", rows * -1 + 2 < 3, "|", required)
print("of those alike:", rows < 10, "|", required)
print("of this one:   ", list(range(rows)), "|", required)

# %% [markdown]
# In the first line everything is known, though nobody knows s0, and nothing is required. 64 divides by 8, so only the 9 is
# rounded. The comparisons use a promise: s0 is *2 at least*. (A size of 1 broadcasts, and other code runs for it; so 1 gets
# a version of its own.) A formula goes one way all the time, up or down. If it is already on one side of n at 2, and
# goes away from n, it stays on that side.
#
# `rows < 10` is true of some batches and not of others. Then the answer of now is given, and becomes a guard: the version is
# for batches that answer alike. And who wants the number itself, as `range` does, gets it; from then on the version is
# for this batch only. That is the whole art. No question is refused, no answer is wrong, and a program that asks nothing
# of its batch gets one version for all. The package does so at the second size that it meets:

# %%
counter = CompileCounter()
spread = torch.compile(lambda x: x.reshape(-1) / x.shape[0], backend=counter)
for rows in (7, 3, 64, 9):
    spread(torch.ones(rows, 4))
    print(f"{rows:2} rows, graphs so far: {counter.frame_count}")
for graph in counter.graphs:
    print(graph.graph.compact())

# %% [markdown]
# The 7 was written down. When 3 came, the size was a symbol, and an input of the graph, `s0`; since then nothing has been
# compiled.
#
# ## The package's own
#
# The same four parts. A source is a small class for each kind of step, in `dynamo/guards/source.py`; its `read` gives the text
# of one step, so that a common beginning is read only once. A guard is in `dynamo/guards/guards.py`,
# one on a value in `value_guards.py`:

# %%
import inspect

from minitorch_compile.dynamo.guards import value_guards
from minitorch_compile.dynamo.guards.source import AttrSource, ItemSource, LocalSource

weight = ItemSource(AttrSource(LocalSource("self"), "layers"), 0)
print(weight.name(), "  one step:", weight.read("t_0"))
print()
print(inspect.getsource(value_guards.equals))
print(inspect.getsource(value_guards._same_value))

# %% [markdown]
# There are your two lines, type and value, and three things that we had overlooked. NaN isn't equal to itself, so
# `== nan` would fail for ever. 0.0 and -0.0 are equal, and yet a tensor divided by them is not. And some numbers are too long to be
# written as text. Next, the kinds of guards that one real function leaves:

# %%
from minitorch_compile.dynamo.eval_frame import region_of

scale = 3.0


def plain(x, config, verbose):
    y = x * config.layers["first"] * scale
    return y.sum() if config.gain > 1 else y


real = torch.compile(plain, backend="eager")
real(x, Config(), True)
(entry,) = region_of(real).caches[0].entries
print(entry.guards)

# %% [markdown]
# A few are new. Grad mode decides whether a graph records a tape, so it is guarded like an argument. The type of `config`
# is guarded before anything is read from it, and absence is guarded, too: `'gain' not in config.__dict__`. These are the
# two things that ours took lightly. And a tensor that needs no gradient must not be a view whose base has begun to need
# one: lesson 08 has more on that. And look at the gain itself. `if config.gain > 1` was asked, so only *that* must
# stay true. Any gain above 1 will do, where ours insists on 2.0. Guards can be as weak as the question was.
#
# All of them are written into one function, `dynamo/guards/guard_code.py`, most often failing first: arguments before globals,
# tensors before the rest. Each step of a path is read once, into a variable.

# %%
print(entry.source)

# %% [markdown]
# At the end, the graph is called. The cache is `dynamo/cache/region.py`, and the door is `dynamo/cache/dispatcher.py`: the version in
# front is called directly, and all the rest happens only on a miss. The log named `recompiles` does what our `print` did:

# %%
from minitorch_compile import logs

with logs.capture("recompiles") as records:
    real(torch.ones(3), Config(), True)
print(*(record.text for record in records))  # none, if you run this again: the version is there

# %% [markdown]
# One assumption can't be written about one source. If a function gets the same tensor twice, and writes to it through one
# argument, the other changes as well; the graph was made under that impression. So there are guards on pairs of sources:

# %%
counter = CompileCounter()


@torch.compile(backend=counter)
def add_twice(x, y):
    x += 1
    return x + y


a = torch.zeros(2)
print(add_twice(a, a).tolist(), add_twice(torch.zeros(2), torch.zeros(2)).tolist())
for cached in region_of(add_twice).caches[0].entries:
    print(
        [guard for guard in map(str, cached.guards) if guard.startswith(("DUPLICATE", "NO_ALIAS"))]
    )

# %% [markdown]
# ## What a check costs
#
# Guards run at every call, so they have to be cheap: no loops, no calls where an attribute will do, a comparison of
# identities where possible. To see the price by itself, we use a backend whose graphs do nothing at all. What remains of
# a call is the guards and the way through the cache.

# %% tags=["varies"]
import timeit

from minitorch_compile import nn


def nothing(module, example_inputs):
    return lambda *arguments: (None,)


def microseconds(compiled, *arguments):
    compiled(*arguments)
    times = timeit.repeat(lambda: compiled(*arguments), number=1000, repeat=7)
    guards = region_of(compiled).caches[0].entries[0].guards
    return f"{len(guards):5} guards {min(times) * 1e3:6.2f} microseconds"


deep = nn.Sequential(*(nn.Linear(4, 4) for _ in range(50)))
config = Config()
print("a function   ", microseconds(torch.compile(plain, backend=nothing), x, config, True))
print("a large model", microseconds(torch.compile(deep, backend=nothing), torch.ones(1, 4)))

# %% [markdown]
# On a tensor of two numbers that counts; beside one real matrix product it is nothing. It is the reason why a compiled
# step should be large: one function around model and loss pays for its guards once.
#
# The second line can't be right, can it? Forty times as many guards, and nothing like forty times as long. The guards
# of a model are nearly always asked in vain. Between two calls nobody assigns anything to any of its modules. So the
# package asks them all, and then notes a few words of memory that must differ if a dictionary below the model was changed
# since. At the next call only these words are compared. If one differs, it was perhaps something irrelevant, and the
# guards are asked again, one by one. It is the oldest trick there is: don't ask for all the answers, ask whether
# anything has changed. (A few releases of Python, such as 3.13.0, have no such words. There every guard is asked.)
#
# ## Beside PyTorch
#
# These are the guards of `plain`, from above, and PyTorch's tree for the same function and the same arguments:

# %%
from minitorch_compile.course.drawings.beside import beside

beside("05_guards", entry.guards)

# %% [markdown]
# Line by line the same facts: type, dtype, sizes and strides of x; the class of `config`; that the instance hides
# neither attribute; the values that were read; the global. The two `DICT_CONTAINS` are our absences. PyTorch's is a
# tree, so `config` is fetched once for all that hang on it, and a miss can skip a branch. It pins the gain to 2.0,
# and it asks whether sizes were marked as dynamic. Ours has the question itself, `config.gain > 1`.
#
# ## What PyTorch does differently
#
# - Its guards are a tree of C++ objects, which mirrors the tree of sources and is checked without running any Python.
# Ours are Python source that CPython compiles. The order and the sharing of common beginnings are the same idea.
# - It guards many objects by the number `id(x)`, and watches with weak references that the object is still alive, since
# a number may be given out again. Our generated functions simply hold on to the object.
# - It guards the value of a number where ours guards the comparison: `config.gain > 1` pins the gain to 2.0 there.
# - A number that changed once is a symbol from then on in both, so without `dynamic=False` the storm above ends with its
# second version. What the program computes of a float, PyTorch computes in the graph, ours in Python before it.
# - Its cache hangs on the code object, so two wrappers around one function share it. Its `recompile_limit` is 8 as well; a
# second limit, 256, counts all versions of a function together.
# - A function that misses is looked up through the frame hook of lesson 07; ours is called through a wrapper with the same
# signature.
#
# ## Exercises
#
# Open `work/05_guards_and_the_cache.ipynb`. Two exercises first, half an hour: four guard sets with a hole in each, and a
# storm to calm. Then come ten steps of your own stack, two hours and three quarters.
#
# ## What you write
#
# `mini/guards.py`: sources, guards, a reader for each kind of value, and the cache. With it your tracer of lesson 04 knows what
# its graph relies on: constants by type and text, tensors without their numbers, lists item by item, objects by type,
# functions and methods though they are made anew; also which tensors share memory, and which layers are entered. The first
# guard that fails can be told by its text.
#
# `mini/sizes.py`: the batch as a formula. If `dynamic=True` asks for it, a version is made for all batches. (The package finds
# out by itself which sizes are others at the next call.) A question that can't be answered for all of them is answered as it is now, and becomes a guard.
#
# The package's guards do more. They are as weak as the question was, watch for what was *not* found, and are written into one
# function; models are checked by a few words of memory. And local variables are read there when the program asks for
# them; your tracer reads all of them at the start, so that a number that is only passed on is guarded, too.
