# %% [markdown]
# # 06 Graph breaks, resume functions, side effects
#
# Here is a function that no tracer can turn into one graph. In the middle it prints a number that doesn't exist until
# the graph has run. It appends to a list that belongs to somebody else. At the end it goes one of two ways, and which
# one depends on data.

# %%
import minitorch_compile as torch
from minitorch_compile.dynamo.testing import CompileCounter


def report(x, log):
    y = (x * 2).sin()
    log.append("seen")
    print("largest:", y.max().item(), log)
    if y.sum() > 0:
        return y + 1
    return y - 1


counter = CompileCounter()
compiled, log = torch.compile(report, backend=counter), []
for numbers in ([0.5, 1.0], [0.1, 0.2], [-0.5, -1.0]):
    result = compiled(torch.tensor(numbers), log)
    print(result, "  graphs so far:", counter.frame_count)

# %% [markdown]
# Everything happened as it should, in the right order, and `compiled` used graphs all the same: three on the first call,
# the same three on the second, and a fourth when the branch went the other way for the first time. Here they are:

# %%
for module in counter.graphs:
    print(module.graph.compact())

# %% [markdown]
# The function was cut into pieces. Between the pieces runs plain Python, *for real*: `.item()` on a real tensor, a real
# `print`, a real `if`. This is what makes a compiler usable for programs that nobody wrote with a compiler in mind.
# A program with a hundred innocent lines and one impossible one is compiled, in two parts, around the impossible
# line. In this lesson you build that: you stop a function in its middle, and let another function go on from there.
#
# ## Where tracing must stop
#
# A tracer runs the program before its numbers exist. Three kinds of lines can't be done then.
#
# - Lines that need the numbers: `.item()`, `if y.sum() > 0`, a size that depends on how many elements are positive.
# - Lines that act on the world: `print`, writing a file. At tracing time it is too early, and they must happen at every
# call.
# - Lines that nobody can look into: a function written in C, which may do anything to its arguments.
#
# What then? One could run the whole function as plain Python. It's always right, and always slow. One could guess, and
# be wrong. The third way is to stop exactly there, run what was traced so far as a graph, do the impossible line for
# real, and go on tracing after it. The place is called a *graph break*. By hand it looks like this:


# %%
def first_part(x, log):
    y = (x * 2).sin()
    log.append("seen")
    return y, y.max()


def rest_of_report(y, largest, log):
    print("largest:", largest, log)
    if y.sum() > 0:
        return y + 1
    return y - 1


def by_hand(x, log):
    y, largest = first_part(x, log)
    largest = largest.item()  # the line that can't be traced, for real
    return rest_of_report(y, largest, log)


by_hand(torch.tensor([0.5, 1.0]), [])

# %% [markdown]
# `first_part` and `rest_of_report` can be compiled on their own, as any function can. Note the arguments of the second:
# whatever was alive at the break and is needed later. `y` and `log` are variables. `largest` isn't a variable of
# the user's at all. It is a value in the middle of an expression, and in lesson 03 you saw where such values live: on the
# stack.
#
# ## The rest of a function
#
# Nobody will cut functions by hand. So we need, for any function and any instruction of it, a function that does the rest.
# Rewriting source code would be hopeless: think of a break in the middle of an expression, inside a loop, inside a `try`.
# In bytecode it is almost nothing. Take the *whole* code of the user's function. Put a few instructions before it that
# bring the stack into the state it had, and then *jump into the middle*.

# %%
from dataclasses import replace
from types import FunctionType

from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction


def rest_of(function, index, stack, slots):
    """The function that continues at instruction `index`; called with the slots, then the stack."""
    program = decode(function.__code__)
    names = [f"stack{i}" for i, value in enumerate(stack) if value is not NULL]
    unused = iter(names)
    push = [
        Instruction("PUSH_NULL") if v is NULL else Instruction("LOAD_FAST", next(unused))
        for v in stack
    ]
    prefix = [*push, Instruction("JUMP", target=len(push) + 1 + index)]
    rest = program.shifted(len(prefix))
    arguments = [*slots, *names]
    others = [name for name in program.slot_names if name not in slots]
    header = program.code.replace(
        co_name=f"rest_of_{program.code.co_name}",
        co_argcount=len(arguments),
        co_varnames=(*arguments, *others),
        co_nlocals=len(arguments) + len(others),
    )
    whole = replace(rest, code=header, instructions=(*prefix, *rest.instructions))
    return FunctionType(assemble(whole), function.__globals__)


# %% [markdown]
# `decode` and `assemble` are the package's translation between CPython's bytecode and the instructions of lesson 03, and
# `shifted` moves every jump target by the length of what we put in front. A small example. The sum of the prices is about to be
# multiplied by something, and somebody hands us the sum:


# %% tags=["varies"]
def total(prices, tax):
    return sum(prices) * (1 + tax)


instructions = decode(total.__code__).instructions
index = 1 + [inst.opname for inst in instructions].index("CALL")
after_the_sum = rest_of(total, index, stack=[None], slots=["tax"])
print(decode(after_the_sum.__code__))
print(after_the_sum(0.5, 10.0))

# %% [markdown]
# Two instructions of ours, then all of `total`. The part before the target is never reached; it costs a few bytes. What is
# gained is that *everything else is as it was*: loops, line numbers, exception tables. Even a running loop can be moved
# to another function, since all there is to it is an iterator on the stack. We use the interpreter of lesson 03 to run
# a function halfway, and let CPython do the other half:

# %%
from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter


def squares(count):
    found = []
    for i in range(count):
        found.append(i * i)
    return found, "done"


frame = ConcreteInterpreter(decode(squares.__code__), {"count": 5}, globals())
while frame.locals.get("i") != 3:
    frame.step()
print("slots:", frame.locals, " on the stack:", [type(value).__name__ for value in frame.stack])
goes_on = rest_of(squares, frame.index, frame.stack, list(frame.locals))
print(goes_on(*frame.locals.values(), *frame.stack))

# %% [markdown]
# The frame was taken apart in one machine and put together in another, in the middle of a loop, and neither the list nor
# the iterator noticed.
#
# ## What is carried over
#
# We passed all slots. That works, and has a price: a large tensor that the rest never reads would be kept alive, and,
# worse, would be an output of the first graph and an input of the second, so that nothing about it can be optimised away.
# Only the *live* slots should cross. A slot is live at a place if some way from there reads it before anything writes it.
# That can be computed from the end backwards. What is live before an instruction is what is live after it, without
# what it writes, plus what it reads. Loops lead back, so we repeat until nothing changes.

# %%
import inspect

from minitorch_compile.dynamo.bytecode.control_flow import successors


def live_at(program, index):
    """The slots that are read later, if the program goes on at instruction `index`."""
    live = [set() for _ in program.instructions]
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(live))):
            inst = program.instructions[i]
            after = set().union(*(live[j] for j in successors(program, i)))
            writes = {inst.argval} if inst.opname == "STORE_FAST" else set()
            reads = {inst.argval} if inst.opname == "LOAD_FAST" else set()
            before = (after - writes) | reads
            changed, live[i] = changed or before != live[i], before
    return live[index]


program = decode(report.__code__)
lines, number = inspect.getsourcelines(report)
for line in lines[1:]:
    number += 1
    first = next(i for i, inst in enumerate(program.instructions) if inst.line == number)
    print(f"{', '.join(sorted(live_at(program, first))):<8} | {line.rstrip()}")

# %% [markdown]
# On the left stands what is live when the line begins. x dies at once, `log` with the `print`, and y lives until the end. The package's version is `dynamo/bytecode/liveness.py`, and you
# will write yours in exercise 06.1; it needs to know a little more, about exceptions and deleted variables.
#
# ## A tracer that breaks
#
# Now the pieces come together. We need a tracer that knows when to stop. Lesson 04 explained how: the interpreter stays as
# it is, and the values change. Here tensors are replaced by *proxies* which write down what is done to them. The tracer
# looks out for three things, and before it would do one of them, it gives up.

# %%
from minitorch_compile.fx import Graph, GraphModule
from minitorch_compile.fx.symbolic_trace import Proxy


class Break(Exception):
    """Tracing can't do the next instruction."""


class Tracing(ConcreteInterpreter):
    """Plain Python over proxies; stops where it must."""

    def load_attr(self, value, name):
        if isinstance(value, Proxy) and name in ("item", "tolist"):
            raise Break(f".{name}() needs the data")
        return super().load_attr(value, name)

    def truth(self, value):
        if isinstance(value, Proxy):
            raise Break("which way to go depends on data")
        return super().truth(value)

    def call(self, function, args, kwargs):
        if any(function is known for known in (print, input, open)):
            raise Break(f"{function.__name__} acts on the world")
        return super().call(function, args, kwargs)

    def caught(self, error):  # a Break is no exception of the user's program
        return None if isinstance(error, Break) else super().caught(error)


# %% [markdown]
# The frame is driven one instruction at a time, and before each of them we note where it stands. An instruction that breaks
# may have taken its operands off the stack already; we put the frame back as if it had never been tried.


# %%
def trace(function, arguments):
    """The graph up to the end or the first break, and the frame there."""
    graph, slots = Graph(), {}
    for name, value in zip(function.__code__.co_varnames, arguments):
        is_tensor = isinstance(value, torch.Tensor)
        slots[name] = Proxy(graph.placeholder(name)) if is_tensor else value
    frame = Tracing(decode(function.__code__), slots, function.__globals__)
    while frame.outcome is None:
        before = frame.checkpoint()
        try:
            frame.step()
        except Break as reason:
            frame.restore(before)
            print(f"  break in {function.__name__}: {reason}")
            break
    return graph, frame


# %% [markdown]
# What is left when tracing stops: a graph, and a frame that stands before an instruction. In its stack and its slots there
# are proxies where there should be tensors. So we complete the graph in such a way that it gives exactly these, run it, and
# put real tensors in their places. Then one instruction is done for real, and `rest_of` provides the function that goes
# on, which is run in the same way.
#
# *Predict*: the cell below ends with a run of `quiet_report`. At how many instructions will the tracer give up?

# %%
from minitorch_compile.course import predict

predict("06.breaks", None)


# %%
def run(function, *arguments):
    """Runs a function in graphs, with plain Python at the breaks."""
    graph, frame = trace(function, arguments)
    ended = frame.outcome is not None
    live = () if ended else live_at(frame.program, frame.index)
    slots = {name: value for name, value in frame.locals.items() if name in live}
    left = [frame.outcome.value] if ended else [*frame.stack, *slots.values()]
    tensors = run_graph(graph, [v for v in left if isinstance(v, Proxy)], arguments)

    def real(value):
        return tensors.get(id(value), value)

    if ended:
        return real(frame.outcome.value)
    slots = {name: real(value) for name, value in slots.items()}
    here = ConcreteInterpreter(frame.program, slots, function.__globals__)
    here.stack, here.index = [real(value) for value in frame.stack], frame.index
    here.step()  # the impossible instruction, for real
    rest = rest_of(function, here.index, here.stack, list(here.locals))
    return run(rest, *here.locals.values(), *(v for v in here.stack if v is not NULL))


def run_graph(graph, proxies, arguments):
    """The real tensor of each proxy, by its id."""
    graph.output(tuple(proxy.node for proxy in proxies))
    print("  graph:", graph.compact())
    inputs = [value for value in arguments if isinstance(value, torch.Tensor)]
    return dict(zip(map(id, proxies), GraphModule({}, graph)(*inputs)))


def quiet_report(x):
    y = (x * 2).sin()
    print("largest:", y.max().item())
    if y.sum() > 0:
        return y + 1
    return y - 1


run(quiet_report, torch.tensor([0.5, 1.0]))

# %% [markdown]
# Three breaks, and the result is right. Look at the third. `if y.sum() > 0` is a jump, and the real jump knew where to go:
# after `here.step()`, `here.index` is the place, so the rest is the rest *from there*. Next time it may be the other one.
# A break at a jump has two resume functions, of which each call takes one.
#
# Ours traces at every call, of course. With the guards and the cache of lesson 05 around `trace`, for each rest of its own,
# it would be a compiler.
#
# ## What happened must happen again
#
# We left the list out. See what becomes of it:


# %%
def remember(x, log):
    y = x + 1
    log.append(y)
    return y * len(log)


log = []
print(run(remember, torch.tensor([1.0]), log), log)

# %% [markdown]
# The list was changed at tracing time, and what it got is a proxy, a ghost of a tensor. It is worse than it looks. If
# tracing gives up and starts again, there will be two ghosts. And when the graph is reused, without tracing, nothing
# will be appended. A *side effect* on a thing that existed before must not be done while tracing. It must be written
# down, and done after the graph, at every call, with the real tensors.
#
# But the tracer itself must see it: `len(log)` two lines later is 1 and no longer 0. So tracing goes on with a stand-in for
# the list, which behaves as if it had been changed, and keeps a note of what was done to it, in the order of the program:


# %%
class NotedList(list):
    """Stands in for a list from outside: changes go into the notes, and reading sees them."""

    def __init__(self, original, notes):
        super().__init__(original)
        self.original, self.notes = original, notes

    def append(self, value):
        super().append(value)
        self.notes.append((self.original, "append", (value,)))

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.notes.append((self.original, "__setitem__", (key, value)))


def run_with_notes(function, x, items):
    """One graph, then the side effects in program order."""
    notes = []
    graph, frame = trace(function, [x, NotedList(items, notes)])
    result = frame.outcome.value
    written = [value for _, _, args in notes for value in args if isinstance(value, Proxy)]
    tensors = run_graph(graph, [result, *written], [x])
    for target, method, args in notes:
        print(f"  afterwards: {method} of the list")
        getattr(target, method)(*(tensors.get(id(value), value) for value in args))
    return tensors[id(result)]


log = []
print(run_with_notes(remember, torch.tensor([1.0]), log), log)

# %% [markdown]
# The tensor in the list and the tensor in the graph are one and the same, as they were in the program. That is the whole
# idea, and the rest is diligence: dictionaries, attributes, globals, variables that are shared with inner functions, objects
# that are made on the way and found in a list at the end.
#
# Three rules keep it honest. Effects are replayed *in program order*, since the second may depend on the first. They are
# replayed *before* a breaking line is done for real, which may look at them. And they come after the graph, all together.
# If the graph raises an error, nothing has been changed yet, so the plain function can be run instead, from its
# beginning, and it raises the same error at the line where the user expects it. Try the package on that:


# %%
def pick(x, i, log):
    log.append("before")
    y = x[i]
    log.append("after")
    return y


fast, log = torch.compile(pick, backend="eager"), []
fast(torch.ones(3), torch.tensor([1]), log)
try:
    fast(torch.ones(3), torch.tensor([7]), log)
except IndexError as error:
    print("IndexError:", error)
print(log)

# %% [markdown]
# The graph is all of `x[i]`, and both appends come after it. Yet the second call left "before" in the list and no "after",
# as the plain function does.
#
# ## The package's own
#
# Back to the function from the beginning. The package doesn't step over the impossible line with an interpreter; it
# writes a Python statement that does the same, and the whole stand-in is one generated function. Behind the
# guards stand the parts that you have just built.

# %%
from minitorch_compile.dynamo.testing import generated

print(generated(report, torch.tensor([0.5, 1.0]), []))

# %% [markdown]
# The graph; then the append, done again; then `.item()`; and the rest is called with y, `log` and three things
# from the stack: `print`, its first argument, and the number. A resume function is compiled like any other: it
# has guards, versions, and breaks of its own. Here is the way of the first call, with the other branch, which it
# didn't take, dashed:

# %%
from minitorch_compile.course.drawings.split import draw_split

compiled = torch.compile(report, backend="eager")
compiled(torch.tensor([0.5, 1.0]), [])
draw_split(compiled)

# %% [markdown]
# ## Ask for the reasons
#
# A break is right, but not free. Each graph is launched by itself, has its own guards, and nothing can be fused across the
# gap. So the first question about a slow model is: where does it break? `explain` calls a function once and tells. For
# every break there is the line, the place in the line, the reason and a hint.

# %%
print(torch.compiler.explain(report)(torch.tensor([0.5, 1.0]), []))

# %% [markdown]
# And where a break is a mistake, say so. With `fullgraph=True` the same explanation is an error:


# %%
@torch.compile(fullgraph=True)
def strict(x):
    return x * 2 if x.sum() > 0 else x


try:
    strict(torch.ones(3))
except RuntimeError as error:
    print(error)

# %% [markdown]
# The code at the end, `MTC-B05`, is a row of a catalogue, `dynamo/breaks/break_reasons.py`. Every reason has one.
#
# ## Getting rid of breaks
#
# Most breaks go away with one changed line, and it is always the same thought: leave the number in its tensor, and leave the
# world until the end. A branch on data becomes `torch.where`, which computes both sides and selects. A check or a message
# moves to after the call. A number that is only passed on needn't be a Python number. Here is our function without a break.


# %%
def calm_report(x, log):
    y = (x * 2).sin()
    log.append("seen")
    return torch.where(y.sum() > 0, y + 1, y - 1), y.max()


counter = CompileCounter()
calm, log = torch.compile(calm_report, backend=counter), []
for numbers in ([0.5, 1.0], [-0.5, -1.0]):
    result, largest = calm(torch.tensor(numbers), log)
    print("largest:", largest.item(), log, " result:", result)
print(counter.frame_count, "graph")

# %% [markdown]
# What was printed in the middle is returned, and printed by the caller. Appending to a list was never a problem: side
# effects that can be noted and replayed don't break.
#
# There is a second reason to leave numbers in their tensors. After `.item()` tracing goes on with an ordinary number. If
# it is only handed on, as to `print`, nobody minds. If the program computes with it, `x / x.max().item()` for instance,
# then it has been looked at, and is guarded, and at the next call it is another number. That is lesson 05's storm, one
# line after the break.
#
# ## In the middle of things
#
# A break can happen in places that are less comfortable than the middle of a straight function. Inside a loop, for
# instance. The iterator goes along on the stack, as it did in `squares`, and the resume function asks it for the next
# item, for real:


# %%
def shrink(x):
    for _ in range(3):
        x = x / x.max()
        print("sum:", x.sum().item())
    return x + 1


compiled = torch.compile(shrink, backend="eager")
compiled(torch.tensor([1.0, 2.0]))
draw_split(compiled)

# %% [markdown]
# The first round begins in the function itself. The second begins in the box at the lower right, and goes back to where
# the first one went on. So a loop of a thousand rounds is compiled once, in five pieces.
#
# Inside `with torch.no_grad():` the mode must be switched on again for the rest, and inside `try` the handlers must still
# be there; they are, since the rest is the user's own code. When a function that is called breaks, the tracer, which had
# gone into it, breaks the caller at the call, and the callee is compiled by itself, break and all. Where the package can't
# split a function, it runs *that function* as plain Python and compiles what it calls. Whatever it does, `explain` says
# so.
#
# *Predict*: in the next program the inner function prints, and is called from the middle of the outer one. How many
# graphs do the two become?

# %%
predict("06.graphs", None)


# %%
def inner(x):
    y = x.exp()
    print("inside")
    return y + 1


def outer(x):
    return inner(x * 2) * 3


print(torch.compiler.explain(outer)(torch.zeros(1)))

# %% [markdown]
# Four graphs from two functions: before and after the call in `outer`, before and after the `print` in `inner`.
#
# ## Beside PyTorch
#
# What the package writes for the first piece of `report`, and what PyTorch puts in its place:

# %%
from minitorch_compile.course.drawings.beside import beside

beside("06_bytecode", generated(report, torch.tensor([0.5, 1.0]), []))

# %% [markdown]
# Both do the same things in the same order: call the graph, bring the list up to date, take the number out of its
# tensor, and call a function for the rest with `print`, its argument and the number. PyTorch's list is overwritten as
# a whole, where ours is appended to. And PyTorch writes it all as bytecode for the frame at hand. That works for
# every program, and can hardly be read; most of its instructions, left out here, only put the stack in order.
#
# ## What PyTorch does differently
#
# - It writes bytecode for everything, the guards aside: the call of the graph, the side effects, the breaking instruction. We
# write Python source for the first part, which can be read, and bytecode only for resume functions.
# - Its resume functions are the same idea: the user's bytecode behind a prefix that restores the stack and jumps. So are
# the speculation log, which lets tracing start again and stop before the instruction that failed, and the names:
# `torch_dynamo_resume_in_f_at_31`.
# - A break inside a loop or a `try` makes it run the whole function as plain Python: no graph at all.
# - It breaks at `print`, too, but can be told to defer it to the end of the graph (`reorderable_logging_functions`).
# - Its reasons have numbers as well, GB and four digits, and a page on the web for each.
#
# ## Exercises
#
# Open `work/06_graph_breaks.ipynb`. Four exercises first, an hour: liveness (spliced into the package), a bug in `rest_of`,
# programs that break as ordered, and one that is to be mended. Then come five steps of your own stack, an hour and a half.
#
# ## What you write
#
# `mini/breaks.py`: a trace is finished, its graph compiled; at each call the graph runs, the state that the trace left is made
# of real tensors, and its effects are done to the program's own lists, dictionaries, attributes and cells. Then one
# instruction runs for real, and the next piece begins, to the end of the function. From here on your stack compiles whole
# functions, whatever they do in between.
#
# You step over a break with the interpreter of lesson 03; the package writes a function for the rest, which CPython runs. It
# also carries over only what is live, takes the next item of a loop for real, so that a loop around a break is compiled
# once, and explains each break with its line, a reason and a hint.
