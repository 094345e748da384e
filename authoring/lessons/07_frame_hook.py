# %% [markdown]
# # 07 The frame hook
#
# Here is a small program. Nothing in it is decorated. It sorts some tensors by how large they are, and the function that
# says how large is called from inside `sorted`, which is written in C.

# %%
import minitorch_compile as torch
from minitorch_compile.dynamo import frame_hook
from minitorch_compile.dynamo.testing import eager


def size(x):
    return (x * x).sum().sqrt().item()


def rank(tensors):
    for place, x in enumerate(sorted(tensors, key=size)):
        print(place, x.tolist())


tensors = [torch.tensor([3.0, 4.0]), torch.tensor([1.0, 1.0]), torch.tensor([0.0, 2.0])]
with frame_hook(eager) as hook:
    rank(tensors)

# %% [markdown]
# It printed what it should. But look at what was captured meanwhile:

# %%
for graph in hook.region.graph_modules:
    print(graph.graph.compact())

# %% [markdown]
# The inside of `size` became a graph. Nobody called `compile` on `size`, and the call was made by C code, which knows
# nothing about us. Somebody stood in the way *of every function call in the program*, looked at it, and sent this one to
# the compiler.
#
# In lesson 06 the same need came up from another side. When a graph breaks and a function runs as plain Python, the
# functions that it calls should still be compiled. PyTorch does both in the same way, by asking Python to hand over each
# call before it is made. That this is possible at all is one of the stranger corners of CPython. In this lesson you
# build it.
#
# ## Four ways to stand in the way
#
# Suppose you want to be there whenever `size` is called. The first idea is the decorator: put another function in its
# place.
#
# *Predict*: two sorts of three tensors, each of which asks for the size of each. How many of these calls will the
# decorator see?

# %%
from minitorch_compile.course import predict

predict("07.watched", None)

# %%
calls = []


def watched(function):
    def stand_in(*args):
        calls.append(function.__name__)
        return function(*args)

    return stand_in


key = size  # somebody took it before we came
size = watched(size)
sorted(tensors, key=size)
sorted(tensors, key=key)
print(calls)
size = key

# %% [markdown]
# Three calls were seen, of six. Whoever held the old function still holds it, and what it calls in turn isn't seen at
# all. A decorator replaces a *name*.
#
# The second idea goes deeper. A function object has its code in an attribute, and the attribute can be set. Then everybody
# who holds the function runs something else:

# %%
old = size.__code__
size.__code__ = (lambda x: -x[0].item()).__code__
print([x.tolist() for x in sorted(tensors, key=key)])
size.__code__ = old

# %% [markdown]
# That reaches everybody, and is how `course.splice` puts your answers into the package. But you have to know the function
# beforehand. A program calls thousands.
#
# The third idea is Python's own: `sys.setprofile` calls you at each call and each return, whatever the function. Debuggers
# and coverage tools live on it and its relatives.

# %%
import sys

seen = []


def profiler(frame, event, argument):
    if event == "call":
        seen.append(frame.f_code.co_name)


sys.setprofile(profiler)
rank(tensors[:1])
sys.setprofile(None)
print(seen[:3], "and", len(seen) - 3, "more")

# %% [markdown]
# Now we see everything, from the first call to the last. But we can only *watch*. Whatever the profiler returns is thrown
# away; the function runs all the same. We want to say: leave it, here is the result.
#
# The fourth way can do that, and to see how it works we have to look at what a call is.
#
# ## What a call is
#
# When Python calls a Python function, two things happen one after the other. First, a **frame** is made: a piece of memory
# with room for the local variables and the stack. The arguments are put into the first of its slots. Second, the frame is
# **evaluated**: the loop that you wrote in lesson 03 runs its instructions until one of them returns.
#
# So the interpreter has, somewhere, a line that says `evaluate(frame)`. Here is a toy version of it, with everything else
# left out. A program for this machine is a function that makes its calls through the machine.


# %%
class Frame:
    """The function, and its slots; filled by the call, in the order of the parameters."""

    def __init__(self, function, *slots):
        self.function, self.slots = function, slots

    def __repr__(self):
        return f"{self.function.__name__}{self.slots}"


class Machine:
    """Calls functions. `evaluator` is who evaluates frames."""

    def __init__(self):
        self.evaluator = self.evaluate

    def evaluate(self, frame):
        return frame.function(self, *frame.slots)

    def call(self, function, *arguments):
        return self.evaluator(Frame(function, *arguments))


def fibonacci(machine, n):
    if n < 2:
        return n
    return machine.call(fibonacci, n - 1) + machine.call(fibonacci, n - 2)


machine = Machine()
print(machine.call(fibonacci, 10))

# %% [markdown]
# The evaluator is kept in an attribute. So it can be exchanged. That is the entire idea of PEP 523, which Python accepted
# in 2016: the interpreter keeps a pointer to the function that evaluates frames, and a C function lets you set it. Its name
# is `_PyInterpreterState_SetEvalFrameFunc`, and the underscore says whom it is for: tools that know what they do. Debuggers
# were the first. They exchange the code of a function that has a breakpoint in it, and all others run at full speed. What
# can one do with it? Watch, of course:

# %%
made = []


def watching(frame):
    made.append(repr(frame))
    return machine.evaluate(frame)


machine.evaluator = watching
machine.call(fibonacci, 3)
print(made)

# %% [markdown]
# And answer in place of the frame. This evaluator remembers what it has seen. `fibonacci` takes a time that grows
# exponentially; under this evaluator it does not, and it never learned about it:
#
# *Predict*: `fibonacci(80)` makes more calls than anybody could wait for. How many frames are evaluated if answers
# are remembered?

# %%
predict("07.frames", None)

# %%
known, evaluated = {}, []


def remembering(frame):
    question = frame.function, frame.slots
    if question not in known:
        evaluated.append(frame)
        known[question] = machine.evaluate(frame)
    return known[question]


machine.evaluator = remembering
print(machine.call(fibonacci, 80), "from", len(evaluated), "frames")

# %% [markdown]
# Compare this with lesson 05. `known` is a cache; the question is a guard; `machine.evaluate(frame)` is what happens when
# there is no fitting version. Put "compile the function and keep the result" in the place of "keep the result", and this
# is a compiler for whole programs.
#
# ## The hook that calls itself
#
# Real Python has one more difficulty, and it is a nasty one. Our evaluator above is a Python function. In the real machine
# *it would be called by making a frame*, which somebody must evaluate. Let us give the toy the same property:


# %%
class SelfMadeMachine(Machine):
    """The evaluator is a function of this machine too, so running it takes a frame."""

    def call(self, function, *arguments):
        frame = Frame(function, *arguments)
        if self.evaluator == self.evaluate:
            return self.evaluate(frame)
        return self.call(self.evaluator, frame)


def on_itself(machine, frame):
    return machine.evaluate(frame)


self_made = SelfMadeMachine()
self_made.evaluator = on_itself
try:
    self_made.call(fibonacci, 3)
except RecursionError as error:
    print(type(error).__name__, "before the first frame was evaluated")

# %% [markdown]
# To evaluate the frame of `fibonacci` the machine calls the hook; that makes a frame; to evaluate that one it calls the
# hook. In Python that ends with an error. In C it ends with the stack used up and the process gone.
#
# Two things are needed to get out. The hook itself can't be Python. And while it works, Python functions that *it* calls
# must not be hooked: the evaluator must be set back as long as the hook's helpers run. The package does the first by
# writing the hook in the instructions of LLVM, the compiler behind Numba. There are about 150 of them. Here are the first:

# %%
from minitorch_compile.dynamo.frame_evaluation.ir import hook_text

text = hook_text((3, 13), "linux")
start = text.index("define ptr @hook")
print(text[start : text.index("}", start) + 1])

# %% [markdown]
# Each line is one machine instruction or so. Read it as: who is to be asked in this thread? Nobody, go to `pass`. Otherwise,
# take the code object out of the frame, and look at a **word** that is kept beside it. If the word says PASS, go to `pass`,
# where the previous evaluator is called, as ever. Everything else is decided elsewhere.
#
# The word is the trick that makes this bearable. Nearly all frames of a program are of no interest: Python's library, other
# packages, our own. They pay for one look at a word. How much is that?

# %% tags=["varies"]
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def nanoseconds():
    start = time.perf_counter()
    fib(20)
    return 1e9 * (time.perf_counter() - start) / 21891  # so many calls does fib(20) make


plain = min(nanoseconds() for _ in range(5))
with frame_hook(eager):
    for _ in range(3):
        fib(20)
    hooked = min(nanoseconds() for _ in range(5))
print(f"a call: {plain:.0f} ns; under the hook: {hooked:.0f} ns")

# %% [markdown]
# Less than a hundred nanoseconds more. Most of them aren't the look at the word, either. Without a hook, CPython runs a called function
# in the loop of its caller, without a call in C. With any hook at all it can't do that.
#
# ## Two questions in Python
#
# For a frame whose code has no word yet the hook asks a Python function, `judge(function)`, and keeps the answer. If the
# answer was CAPTURE, it asks another one at each call: `enter(function, *slots)`. These two are all that a user of the hook
# writes. Here is the memory from above once more, now for real functions:

# %%
from minitorch_compile.dynamo.frame_evaluation.native import (
    CAPTURE,
    PASS,
    RUN_AS_IS,
    Callback,
    Word,
    native_hook,
)

answers = {}


def judge(function):
    return Word(CAPTURE, slots=1) if function is fib else Word(PASS)


def enter(function, n):
    if n < 2:
        return RUN_AS_IS
    if n not in answers:
        answers[n] = fib(n - 1) + fib(n - 2)
    return answers[n]


callback = Callback(judge, enter)
native = native_hook()
native.install()
before = native.set_callback(callback.address)
print(fib(80))
native.set_callback(before)
native.uninstall()

# %% [markdown]
# Without the hook this would take most of a century. `enter` has two ways to answer. A result: then the frame
# is thrown away without having run a single instruction. Or `RUN_AS_IS`: then the frame is evaluated after all, the very
# frame that the call has made. Nobody inside can tell that it was stopped.
#
# What is at hand here? The arguments, which lie in the first slots, in the order of the parameters: positional ones, those
# by keyword, `*args`, `**kwargs`. Defaults are filled in already. And where do the slots lie? That is the part that no
# document promises. A frame is a C structure, and each version of Python lays it out anew:

# %%
from minitorch_compile.dynamo.frame_evaluation.layout import LAYOUTS, function_of, why_not

for version, layout in LAYOUTS.items():
    print(version, layout)


def who_am_i():
    return function_of(sys._getframe())


print(who_am_i() is who_am_i, repr(why_not()))

# %% [markdown]
# Frame objects don't tell which function they belong to; memory does. With a wrong number here the process would crash, so
# the package is careful. It refuses versions that it doesn't know, looks at a frame of its own first, and before the hook
# is used at all it is tried out on some functions: do arguments arrive, do exceptions pass, do generators, does a debugger
# still see its lines? If anything is odd, `frame_hook` raises `FrameHookUnavailable` and says what. `compile` works
# without it.
#
# ## Which frames are worth it
#
# `judge` and `enter` of the package are in `frame_evaluation/skip_rule.py` and `frame_evaluation/region_frames.py`. The rule first.
# Let us have it judge a few functions:

# %%
import json

from minitorch_compile.dynamo.frame_evaluation.skip_rule import judge_code, sees_tensors


def produce(x):
    yield x * 2


@torch.compiler.disable
def outside(x):
    return x * 2


verdicts = {1: "PASS", 2: "OFF", 3: "CAPTURE", 4: "PASS, for this hook"}
modules = torch.nn.Linear.forward, torch.nn.Module.__call__
for function in (size, json.loads, *modules, produce, outside):
    print(f"{function.__qualname__:<18} {verdicts[judge_code(function, ())]}")

# %% [markdown]
# Your functions are captured. Python's library isn't, nor is the inside of this package, except for a few entry points:
# a module is captured where it is called, with its hooks and whatever it does in `forward`. A generator's frame is suspended
# and goes on later, so it passes. And a function that is disabled switches the hook OFF, for itself and all that it calls.
#
# All this depends on the code alone, so it fits into the word. The rest depends on the arguments. A program has many
# functions that have nothing to do with tensors. To trace them would cost time and give nothing. So before a function is
# traced, `enter` asks whether there are tensors in sight:

# %%
print(sees_tensors(lambda x, flag: x, (torch.ones(2), True)))
print(sees_tensors(lambda batch: batch, ({"inputs": [torch.ones(2)]},)))
print(sees_tensors(lambda n: torch.ones(n), (3,)), "since it names a module that makes tensors")
print(sees_tensors(lambda words: sorted(words), (["b", "a"],)))

# %% [markdown]
# This is guessing, and here guessing is allowed. A frame that runs as it is, is never wrong. Only which frames are compiled
# depends on it. After 64 calls without a tensor a function gets a word that says so, and is left alone for good.
#
# Let us look at a whole run. The drawing has one bar for each frame that `enter` was asked about in a small training
# program. It was made with an `enter` of our own around the package's. It calls `depth_of`, which is disabled, or its
# frame would be stopped as well, and so on without end:

# %%
from minitorch_compile.course.drawings.frames import draw_frames
from minitorch_compile.dynamo import FrameHook
from minitorch_compile.dynamo.cache.region import Region
from minitorch_compile.dynamo.frame_evaluation.region_frames import RegionFrames

rows = []


@torch.compiler.disable
def depth_of(frame):
    """How many frames of this notebook are under way."""
    count = 0
    while frame is not None:
        count += frame.f_globals is globals()
        frame = frame.f_back
    return count


class Noting(RegionFrames):
    """Notes each frame, and whether the compiler answered."""

    def enter(self, function, *slots):
        result = super().enter(function, *slots)
        verdict = "runs as it is" if result is RUN_AS_IS else "captured"
        rows.append((depth_of(sys._getframe(1)) - 1, function.__qualname__, verdict))
        return result


def train(count):
    for number in range(count):
        loss = step(model, optimizer, choose(number))
        report(number, loss)


def choose(number):
    return max(tensors, key=size) if number == 0 else tensors[number]


def step(model, optimizer, x):
    optimizer.zero_grad()
    loss = loss_of(model, x)
    loss.backward()
    optimizer.step()
    return loss.item()


# %%
def loss_of(model, x):
    return ((model(x) - x) ** 2).mean()


def report(number, loss):
    print(f"step {number}: {loss:.4f}")


torch.manual_seed(0)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with FrameHook(Noting(Region(eager))) as hook:
    train(2)
draw_frames(rows)

# %% [markdown]
# `train`, `choose` and `report` have no tensor in sight, so they run as they are: their frames were stopped, looked at and
# let go. What they call is stopped in turn. `size` was called by `max`, and `step` by `train`; both were compiled. `loss_of`
# has no bar. It was inlined into the graph of `step`, and so were the model and the optimizer: they never had a frame.

# %%
for graph in hook.region.graph_modules:
    text = graph.graph.compact()
    print(text if len(text) < 95 else text[:92] + "...")

# %% [markdown]
# One graph for `size`, and one for `step`: loss, backward pass and the optimizer's update of both parameters are one program
# up to `loss.item()`, where it breaks. At the second step there were gradients to drop, which changes nothing that the
# graph computes, so it served again. This is a whole training program, compiled as far as it goes, and not one line of it
# knows about the compiler.
#
# When is that better than to write `compile` over a function? When you can't, or don't know where: the program is somebody
# else's, a library calls your functions back, or you want to see what there is to be captured. For a model of your own the
# decorator says more clearly what is compiled, and nothing else pays for it.
#
# ## On and off
#
# Who is asked belongs to a thread. `with frame_hook(...)` in one thread leaves the others alone; their frames pass, at the
# price of the look at the word. Within a thread hooks may be nested, and the innermost is asked.
#
# And it must be off where it would do harm. While the tracer works it is off: the tracer runs a good deal of Python, some of
# it yours, such as a backend that you wrote. While a captured graph runs it is off. In both cases that is done with the
# word: the functions that enter these regions carry the word OFF.


# %%
def doubled(x):
    return x * 2


def backend(module, inputs):
    print("compiling", module.graph.compact(), "with", doubled(inputs[0]).shape)
    return lambda *args: tuple(doubled(x) / 2 for x in module(*args))


with frame_hook(backend) as hook:
    print(doubled(torch.ones(2)))
print([cache.code.co_name for cache in hook.region.caches])

# %% [markdown]
# `doubled` is called three times in there: by us, by the backend, and by what the backend returned. Only the first was
# captured.
#
# One more danger is left, and it is the stack. A frame that is hooked is evaluated by a call in C. Recursion in Python, which
# may be as deep as `sys.setrecursionlimit` allows, now uses up the C stack, and Python does not expect that. So the hook
# looks at how much room there is, and when there is little, it makes Python raise its usual error:


# %%
def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


limit = sys.getrecursionlimit()
sys.setrecursionlimit(10**6)
with frame_hook(eager):
    print(deep(5_000))
    try:
        print(deep(500_000))
    except RecursionError as error:
        print("RecursionError:", str(error)[:32])
sys.setrecursionlimit(limit)

# %% [markdown]
# ## Beside PyTorch
#
# The program from the beginning of this lesson, under our hook and compiled by PyTorch. A line tells the function
# that a graph was made in, and what it computes:

# %%
from minitorch_compile.course.drawings.beside import beside

with frame_hook(eager) as hook:
    rank(tensors)
nodes = [graph.graph.find_nodes(op="call_method") for graph in hook.region.graph_modules]
beside("07_frames", hook.region.graph_modules[0].code)

# %% [markdown]
# One graph, of `size`, and none of `rank`, which computes nothing itself. PyTorch comes to it by the same road:
# `rank` was compiled, its `sorted` couldn't be traced with such a key, and when it was run for real, the hook caught
# the calls that C code made. The difference is who sets the hook. There it is part of every compiled function. Here
# it is asked for.
#
# ## What PyTorch does differently
#
# - Its hook is written in C, once for each version of Python, and compiled into `torch._C`. When a frame is captured, it
# makes a second frame with the new code object and evaluates that one. We call a Python function and take its result.
# - Beside each code object it keeps the list of compiled versions itself, where we keep a word, and checks the guards in
# C++. Our guards are a generated Python function, as lesson 05 has shown.
# - The hook is always how `torch.compile` works: a compiled function sets it for the time of its call. Ours puts a
# wrapper around the function, and needs the hook only for what is called on the way.
# - Its rule which functions to skip is a list of names of some four thousand lines, `trace_rules.py`. It skips most of Python's
# library as we do, but captures installed packages unless they are listed; ours want to be named, with `include=`.
#
# ## Exercises
#
# Open `work/07_frame_hook.ipynb`. Three exercises first, three quarters of an hour: where tensors hide (spliced into the package), a hook
# that remembers, and a prediction. Then come three steps of your own stack, three quarters of an hour.
#
# ## What you write
#
# `mini/frames.py`: a hook for the frames of your own interpreter. All that they call goes through `Frame.apply`, and a frame of the
# hook has another one, as your tracer has. A call for real, where a graph has broken or where a frame is interpreted, goes to the
# compiler if there is a tensor in sight. So a break in an outer function leaves the inner ones compiled, and a whole program can
# be run with not one function of it decorated. The compiler itself is left alone, since no such frame runs it.
#
# The package's hook sees more: every frame that CPython itself makes, in each thread by itself, also those that C code makes,
# of which yours sees the callbacks of `sorted` and four others. It remembers its verdict beside the code, and looks after
# the C stack.
