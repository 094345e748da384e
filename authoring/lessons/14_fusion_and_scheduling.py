# %% [markdown]
# # 14 Fusion and scheduling
#
# Lesson 13 ended with loops. Softmax became four of them, each with a body that we can print, run and count. Here they
# are again, as formulas, for a matrix of 512 rows.

# %%
import minitorch_compile as torch
from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.text import formula
from minitorch_compile.nn import functional as F
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import empty_fake


def loops_of(function, *sizes):
    """A function of float32 tensors as a graph of loops: lessons 12 and 13 in one line."""
    results = lambda *xs: tuple(tree_leaves(function(*xs)))
    graph = trace(results, [empty_fake(each) for each in sizes])
    return lower(simplify(prims.decompose(graph)))


softmax = loops_of(lambda x: x.softmax(1), (512, 1024))
for loop in softmax.operations:
    print(f"{loop.buffer.name} = {formula(loop):22} over {loop.sizes}, reducing {loop.reduced}")

# %% [markdown]
# If each becomes a kernel, the machine walks over the matrix four times. The maximum reads all of it. The exponential
# reads it again and writes a second matrix. The sum reads that one. The division reads it once more, and writes a
# third.
#
# Does that matter? A core of a laptop can do some fifty billion additions in a second, and its memory brings it some
# three or four billion numbers in the same time. So a loop that does fewer than ten operations on each number it
# fetches waits for memory, and nothing that you do to its arithmetic makes it faster. This limit is called the
# *roofline*. Nearly everything in a network except its matrix products lies under the flat part of that roof.
#
# There is one way out: fetch less. If the four loops were *one* kernel, each row would be fetched once, and be worked
# on while it is in the cache. This is *fusion*. The package can be told how much of it we want, so let's see first
# whether it's worth a lesson. The program asks how sure a classifier is of each of its answers: the largest probability
# in each row.

# %% tags=["varies"]
import time


def milliseconds(function, x):
    function(x)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        function(x)
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


x, threads = torch.randn(8192, 1024), torch.get_num_threads()
torch.set_num_threads(1)
for name, largest in (("each loop alone", 1), ("fused", 300)):
    compiled = torch.compile(lambda x: x.softmax(1).amax(1), options={"max_fusion_size": largest})
    print(f"{name:16}{milliseconds(compiled, x):6.2f} ms")
torch.set_num_threads(threads)

# %% [markdown]
# The arithmetic is the same in both lines, to the last operation. What differs is how far the numbers travel, and how
# much fresh memory has to be found for them on the way. A *scheduler* decides that. It takes the loops, and gives kernels and their order. In this lesson you build one in about
# a hundred lines. First it has to know what a loop touches. Then it needs rules that say when two loops may be one. Then
# it has to choose.
#
# ## What a loop touches
#
# A loop is a Python function that asks a handler. So nobody has to look *into* it to find out what it reads. We run it
# under a handler that computes nothing and takes notes: which buffer is asked for, at which address.

# %%
from minitorch_compile.inductor.ir.dependencies import loop_variables
from minitorch_compile.inductor.ir.printer import PrintHandler


class Notes(PrintHandler):
    """The reads and writes of one body, as pairs of a buffer and an address."""

    def __init__(self):
        super().__init__()
        self.reads, self.writes = set(), set()

    def load(self, buffer, address):
        self.reads.add((buffer, address))
        return super().load(buffer, address)

    def store(self, buffer, address, *value):
        self.writes.add((buffer, address))

    store_reduction = store_scan = store


def touched(loop, at=None):
    notes = Notes()
    loop.run(notes, at or loop_variables(loop))
    return notes


def text(accesses):
    return ", ".join(sorted(f"{buffer.name}[{address}]" for buffer, address in accesses))


for loop in softmax.operations:
    notes = touched(loop)
    print(f"{text(notes.writes):22} from  {text(notes.reads)}")

# %% [markdown]
# There is everything to know about dependencies. The second loop reads `buf0`, which the first writes, so it comes
# later. And since addresses are expressions, we see *where*: at `[i0]`, one number for a row. There are no other kinds
# of trouble. In old-fashioned code, a loop may also overwrite what another still wants to read. Here no buffer is ever
# written twice, because lowering makes a new one for each result. So "b needs a" means "b reads what a writes", and
# nothing else.
#
# A kernel is a list of loops now, and what it costs is a sum. Each buffer is fetched or stored once in a kernel, however
# many of its loops use it. A buffer that is made in a kernel, and that nobody outside wants, costs nothing at all.


# %%
def reads(kernel):
    return {buffer for loop in kernel for buffer, _ in touched(loop).reads}


def writes(kernel):
    return {loop.buffer for loop in kernel}


def traffic(kernels, graph):
    """How many bytes the kernels fetch from memory and bring back to it."""
    wanted, total = {view.buffer for view in graph.outputs}, 0
    for kernel in kernels:
        others = [other for other in kernels if other is not kernel]
        outside = wanted.union(*map(reads, others))
        kept = writes(kernel) - outside
        total += sum(buffer.nbytes for buffer in (reads(kernel) | writes(kernel)) - kept)
    return total


alone = [[loop] for loop in softmax.operations]
together = [softmax.operations]
print(f"{traffic(alone, softmax):,} bytes alone, {traffic(together, softmax):,} bytes together")

# %% [markdown]
# The second number is the input and the output, once each: less is impossible. Before we believe it, we have to find out
# whether those four loops may be together at all.
#
# ## When two loops may be one
#
# A fused kernel goes over its positions once, and at each position it does the work of the first loop, then that of the
# second. So the first question is whether the two go the same way. Sizes need not be equal. A walk over (8, 64) visits
# the same elements in the same order as one over (8, 4, 16), if you cut the 64 into 4 times 16. To compare two walks,
# write down after how many steps each turns: into the next row, the next plane. If every turn of one divides the next
# larger of the other, the two have common axes.
#
# *Predict*: the cell below cuts a walk over (6, 4) and one over (3, 8) into common sizes. Which are they?

# %%
from minitorch_compile.course import predict

predict("14.axes", None)

# %%
from itertools import pairwise
from math import prod


def turns(sizes):
    """After how many steps a row-major walk over these sizes turns."""
    return {prod(sizes[dim:]) for dim in range(len(sizes) + 1)}


def common_sizes(*walks):
    """The coarsest sizes that all of the walks can be cut into; None if there are none."""
    steps = sorted(set().union(*map(turns, walks)))
    if any(above % below for below, above in pairwise(steps)):
        return None
    return tuple(above // below for below, above in pairwise(steps))[::-1]


print(common_sizes((8, 64), (8, 4, 16)), common_sizes((6, 4), (3, 8)), common_sizes((6, 4), (4, 6)))

# %% [markdown]
# The last pair has none, as 4 doesn't divide 6. And a walk over 24 elements has nothing in common with one over 25, so
# that is the very first thing to ask.
#
# The second question is the one that matters. Suppose the second loop reads what the first writes. In the fused kernel,
# is it written by then? Here is a fusion that goes wrong. The second loop adds to each element the one at the mirrored
# place.

# %%
x = [1, 2, 3, 4]


def two_loops():
    y = [10 * each for each in x]
    return [y[i] + y[3 - i] for i in range(4)]


def one_loop():
    y, z = [0] * 4, [0] * 4  # zeros stand for whatever lay in that memory
    for i in range(4):
        y[i] = 10 * x[i]
        z[i] = y[i] + y[3 - i]
    return z


print(two_loops(), one_loop())

# %% [markdown]
# At the first position it reads `y[3]`, which is written at the last. No error comes, only half of a wrong answer. The
# rule is short: **every value must be read where it was written**. If both loops are expressed in the common axes,
# "where" is an address, and the two addresses must be the same expression. That is a comparison of sums, which lesson
# 13's algebra can do.
#
# But then, what about a reduction? It is finished at the end of a row, and not at any position. The kernel for this is
# not one loop in another, but several loops in another, called *stages*:
#
#     for each row:
#         for each column: largest = max(largest, x)
#         for each column: e = exp(x - largest); total = total + e
#         for each column: result = e / total
#
# What needs a finished reduction waits for the next stage. Between stages lies a row, four thousand bytes in our case.
# That fits into the nearest cache, so the second and third pass cost next to nothing. And the rule stays as it is. The
# maximum is written at `[i0]` and read at `[i0]`: in the same row. If a loop reads it at `[i1]`, it wants the maximum of
# another row, which isn't there yet, and the addresses say so.
#
# Only one thing is left to ask: two reductions must agree on what a row is. A sum along the columns and one along the
# rows go over the same positions, yet no order of them finishes both in time.


# %%
def row(loop):
    """Where in the walk the reduced dimensions are; None if it reduces nothing."""
    if not loop.reduced:
        return None
    return prod(loop.sizes[min(loop.reduced) :]), prod(loop.sizes[max(loop.reduced) + 1 :])


# %% [markdown]
# Now we have all of `why_not`. It answers with a reason, or with None if there isn't any. A reason is better than False:
# you will want to know why your program has two kernels, and the scheduler is the one who knows. The fourth question
# asks whether there is anything to gain. Loops that touch nothing in common *may* be fused, but it saves no byte.

# %%
from minitorch_compile.inductor.ir.index import flatten, unflatten, variables


def why_not(first, second):
    """Why the two kernels can't be one; None if they can."""
    loops = [*first, *second]
    points = sorted({prod(loop.sizes) for loop in loops})
    if len(points) > 1:
        return f"one goes over {points[0]} positions, the other over {points[1]}"
    if len({row(loop) for loop in loops if loop.reduced}) > 1:
        return "they reduce different rows"
    sizes = common_sizes(*(loop.sizes for loop in loops))
    if sizes is None:
        return "they have no common axes"
    flat = flatten(variables("i", sizes), sizes)
    notes = {loop: touched(loop, unflatten(flat, loop.sizes)) for loop in loops}
    made = dict(access for loop in first for access in notes[loop].writes)
    asked = {access for loop in second for access in notes[loop].reads}
    for buffer, address in asked:
        if made.get(buffer, address) != address:
            return f"{buffer.name} is read at [{address}] and written at [{made[buffer]}]"
    seen = {access for loop in first for access in notes[loop].reads | notes[loop].writes}
    return None if seen & asked else "they touch nothing at the same place"


def explain(function, *sizes):
    for a, b in pairwise(loops_of(function, *sizes).operations):
        print(f"{formula(a):20} and {formula(b):24}:", why_not([a], [b]) or "can be one")


explain(lambda x: x.softmax(1), (512, 1024))
explain(lambda x: (x.exp() + x.exp().flip(1)) * 2, (4, 8))
explain(lambda x: (x.sum(0), x.sum(1)), (8, 8))
explain(lambda x: x / x.sum(1, keepdim=True).max(), (4, 8))

# %% [markdown]
# Note the line with both sums. They are two loops that need nothing from each other, and would share the reading of x.
# It can't be had, as they don't agree on rows.
#
# There is one more trap, and it is not in the two loops. Let a's result be needed by m, and m's by b, and let b read a's
# result as well, at the right place. a and b can be one, by our rules. But m has to run after a and before b, and if a
# and b are one kernel, then m can run neither before nor after it. So a pair may not be fused if the way from one to the
# other leads through a third.


# %%
def needed(kernel, kernels):
    """All kernels that must have run before this one."""
    direct = [k for k in kernels if k is not kernel and writes(k) & reads(kernel)]
    return direct + [deeper for k in direct for deeper in needed(k, kernels)]


def between(first, second, kernels):
    """A third kernel on the way from the first to the second."""
    return next((k for k in needed(second, kernels) if first in needed(k, kernels)), None)


trap = loops_of(lambda x: x.exp() + x.exp().flip(0).cumsum(1).flip(0), (8, 8))
a, m, b = alone = [[loop] for loop in trap.operations]
print("a and b:", why_not(a, b) or "can be one", "| between them:", between(a, b, alone) == m)

# %% [markdown]
# ## Choosing
#
# Which pairs should be fused? Each fusion may forbid others, so the order matters, and to find the best set of all is
# as hard as such problems are. But there is a measure, bytes saved. If two kernels share a buffer, the fused one
# fetches it once instead of twice. So its score is the size of what they share. Take the pair with the largest score,
# fuse it, and begin again. This is *greedy*, it is what compilers do, and it is rarely far from the best.


# %%
def score(first, second):
    shared = (reads(first) | writes(first)) & reads(second)
    return sum(buffer.nbytes for buffer in shared)


def in_order(kernels):
    """Each kernel after those that it needs."""
    order = []
    while len(order) < len(kernels):
        rest = [k for k in kernels if k not in order]
        order.append(next(k for k in rest if all(n in order for n in needed(k, kernels))))
    return order


def greedy(graph):
    """Kernels, and for each pair that was refused the reason."""
    kernels, refused = [[loop] for loop in graph.operations], {}
    while True:
        pairs = [(a, b) for i, a in enumerate(kernels) for b in kernels[i + 1 :] if score(a, b)]
        for first, second in sorted(pairs, key=lambda pair: -score(*pair)):
            reason = why_not(first, second) or between(first, second, kernels)
            if reason is None:
                break
            refused[first[-1].buffer.name, second[-1].buffer.name] = reason
        else:
            return kernels, refused
        kernels = [k for k in kernels if k is not first and k is not second]
        kernels = in_order([*kernels, [*first, *second]])


kernels, refused = greedy(softmax)
print(len(kernels), "kernel,", f"{traffic(kernels, softmax):,}", "bytes")

# %% [markdown]
# That's all. A hundred lines, and softmax moves as little as is possible. Let's look at what we have done to it. The first
# picture has a frame for each loop, the second a frame for each of our kernels. A dotted arrow is a value that never
# reaches memory.

# %%
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import Schedule


def picture(graph, kernels):
    members = [[Group.of(loop).members[0] for loop in kernel] for kernel in kernels]
    return Schedule(graph, [Group((), each) for each in members], []).draw()


picture(softmax, [[loop] for loop in softmax.operations])

# %%
picture(softmax, kernels)

# %% [markdown]
# Layer normalisation is the next in the line: two reductions and a formula with square root and all. Lesson 13 found
# that it reads its input three times.

# %%
layer_norm = loops_of(lambda x, w, b: F.layer_norm(x, (1024,), w, b), (512, 1024), (1024,), (1024,))
kernels, _ = greedy(layer_norm)
single = [[loop] for loop in layer_norm.operations]
print(f"{len(single)} loops, {traffic(single, layer_norm):,} bytes")
print(f"{len(kernels)} kernel, {traffic(kernels, layer_norm):,} bytes")
picture(layer_norm, single)

# %%
picture(layer_norm, kernels)

# %% [markdown]
# ## Side by side
#
# So far each loop read what the one before it had made. That is *vertical* fusion. But the score asks only what two
# loops share, so it also finds loops that stand side by side and read the same thing. This is *horizontal* fusion. A
# kernel then has several outputs, which is no trouble at all. Here is a step of an optimizer with momentum: it has two
# results, and the old weights, the slope and the old momentum are needed for both.


# %%
def momentum_step(p, grad, m):
    m = 0.9 * m + grad
    return p - 0.1 * m, m


step = loops_of(momentum_step, (1000, 1000), (1000, 1000), (1000, 1000))
kernels, _ = greedy(step)
for name, chosen in ("alone", [[loop] for loop in step.operations]), ("fused", kernels):
    print(f"{name}: {len(chosen)} kernels, {traffic(chosen, step) / 1e6:.0f} MB")

# %% [markdown]
# Twenty megabytes are the three inputs and two outputs. Here is a program that doesn't fall together, with the reasons.
# It makes the rows of a matrix comparable, then looks at it from the other side.
#
# *Predict*: how many kernels is this?

# %%
predict("14.kernels", None)


# %%
def both_ways(x):
    rows = x.softmax(1)
    return rows - rows.mean(0)


graph = loops_of(both_ways, (256, 256))
kernels, refused = greedy(graph)
print(len(kernels), "kernels:", [[loop.buffer.name for loop in kernel] for kernel in kernels])
for (a, b), reason in refused.items():
    print(f"{a} and {b}: {reason}")

# %% [markdown]
# Nothing can be done about it. Until the last row is through, no column has a mean. What you can do as the author of a
# program is to *see* this, and to ask whether you need it the other way round. In exercise 14.2 the answer is no, and a
# program gets along with half of its bytes.
#
# ## Where buffers live
#
# After fusing, some values still go to memory. Each of them is needed from the kernel that makes it to the last one that
# reads it. That is its *lifetime*. Two buffers whose lifetimes don't overlap may lie at the same address. What counts is
# how much is alive at the worst moment. A network with a hundred layers doesn't need a hundred times the memory of one.
#
# The planner is first fit. Take the buffers, largest first. Put each at the lowest offset where it doesn't collide with
# one that is alive at the same time.

# %%
from typing import NamedTuple


class Life(NamedTuple):
    name: str
    first: int  # the step that writes it
    last: int  # the last step that reads it
    nbytes: int


def first_fit(lives):
    placed = {}
    for life in sorted(lives, key=lambda life: -life.nbytes):
        at_the_time = [n for n in placed if n.first <= life.last and life.first <= n.last]
        offset = 0
        for other in sorted(at_the_time, key=placed.get):
            if placed[other] - offset >= life.nbytes:
                break
            offset = max(offset, placed[other] + other.nbytes)
        placed[life] = offset
    return placed


def chart(placed, steps):
    for life, offset in sorted(placed.items()):
        bar = "." * life.first + "#" * (life.last - life.first + 1)
        print(f"{life.name}  {bar:.<{steps}}  bytes {offset} to {offset + life.nbytes}")
    print("peak", max(offset + life.nbytes for life, offset in placed.items()), end=" of ")
    print(sum(life.nbytes for life in placed), "bytes")


chart(first_fit([Life("abcdef"[n], n, n + 1, 64 * (1 + n % 3)) for n in range(6)]), 7)

# %% [markdown]
# Each row is a buffer and each column a step. Look at the step where b ends and c begins. That step reads b and writes c,
# so both are alive, and they may not share. If you are off by one here, everything works in your tests, until a kernel
# overwrites what it hasn't read. At the worst moment 320 bytes are alive, b and c, and we need 384, for d finds no gap
# that is free all its life. First fit isn't perfect either, but it is quick, and rarely far off.
#
# One kind of sharing may happen within a step. A pointwise kernel that reads a dying buffer at the very place where it
# writes another one can write it *in place*. Here the trouble is back that we had thought away in the beginning: a write
# after which somebody might read. So the package asks again, with the same addresses as before.
#
# ## The package's own
#
# The scheduler of the package is in `schedule/scheduler.py`, and you know it already. Its `Group` in `group.py` is our kernel, and
# `accesses_of` in `dependencies.py` our notes. Here it is with a block of a network: a normalisation, two linear layers
# with a gelu between, and the way around them.

# %%
from minitorch_compile.inductor.schedule.scheduler import schedule


def block(x, w1, b1, w2, b2):
    inside = F.gelu(F.linear(F.layer_norm(x, (64,)), w1, b1))
    return x + F.linear(inside, w2, b2)


mlp = loops_of(block, (128, 64), (256, 64), (256,), (64, 256), (64,))
planned = schedule(mlp)
print(planned)

# %% [markdown]
# Seven operations have become the kernels you see. Before and after, as pictures:

# %%
from minitorch_compile.inductor.ir.loops import Loop

single = [Group.of(each) if isinstance(each, Loop) else each for each in mlp.operations]
Schedule(mlp, single, []).draw()

# %%
planned.draw()

# %% [markdown]
# A matrix product isn't a loop of ours. It goes to a library as an *extern* kernel, and a group can't reach into that.
# So the products are the walls of this house, and fusion furnishes the rooms. (Lesson 16 makes doors.) Each edge on which
# something still goes through memory has its reason, and you can ask for it:

# %%
for edge in planned.why_not:
    print(edge)

# %% [markdown]
# And this is how the package tells whether a pair saves anything, beside the rule that every value is read where it was
# written. You have both of them in your `why_not`.

# %%
import inspect

from minitorch_compile.inductor.schedule import fit

print(inspect.getsource(fit.share_memory))
print(inspect.getsource(Group._fuse_in_order))

# %% [markdown]
# It has three things that ours has not. A loop over rows alone, such as the division that makes a sum a mean, can join a
# kernel that goes over rows *and* columns, where it runs once a row. Groups of the wrong shape are tried a second time
# with their axes sorted by the steps in memory. And there are limits, on operations and on buffers in a kernel, since a
# kernel that needs more registers than there are is slow. After fusing, axes that no access can tell apart are merged
# again: a pointwise kernel over (128, 256) that reads contiguous buffers is one loop over 32768.
#
# The memory plan is `memory_plan.py`. First it finds what can be written in place, then it runs first fit.

# %%
from minitorch_compile.inductor.schedule.memory_plan import in_place, plan_memory

plan = plan_memory(planned, in_place(planned))
stored = [buffer for buffer in plan.same if buffer not in planned.internal]
for buffer in stored:
    home = plan.same[buffer]
    where = f"at {plan.offsets[home]}" if home in plan.offsets else "where the result will be"
    print(f"{buffer.name}: {buffer.nbytes:6} bytes {where}")
print(f"a block of {plan.total} bytes, and the result")
print(f"each for itself: {sum(buffer.nbytes for buffer in stored)} bytes")

# %% [markdown]
# To see these things for a program of yours, no imports are needed. Run it with the environment variable
# `MTC_LOGS=schedule,fusion,memory_plan`, or read `torch.compiler.inspect(f, x).schedule`, which has `kernel_count`,
# `bytes_moved`, `why_not` and `draw()`. The exercises are graded by the first two.
#
# ## Beside PyTorch
#
# The step with momentum, scheduled by both:

# %%
from minitorch_compile.course.drawings.beside import beside

beside("14_schedule", schedule(step))

# %% [markdown]
# Two loops over the same million positions, fused, with both results stored. Ours prints formulas, PyTorch its nodes:
# each has the buffers it reads and writes, with addresses as ours, since that is what the scheduler compares.
#
# ## What PyTorch does differently
#
# - TorchInductor's scheduler is this one in large: nodes with `MemoryDep`s found by running loop bodies under a
#   recording handler, `can_fuse_vertical` and `can_fuse_horizontal`, `score_fusion_memory`, and greedy rounds until
#   nothing changes. Scores there are tuples, as the kind of fusion and the distance in the graph count, too.
# - Its rules belong to the backend: Triton kernels and C++ kernels each have a `can_fuse` of their own. A Triton kernel
#   holds a row in registers if it fits (a *persistent reduction*), and loops over it otherwise.
# - It may benchmark a fusion before it accepts it (`config.benchmark_fusion`). Ours counts bytes, and the result is the
#   same on every machine.
# - It can reorder the loops of one side when two walks don't fit (`config.loop_ordering_after_fusion`), and it has
#   *combo kernels* for small kernels that share nothing, since on a GPU the launch itself costs some microseconds.
# - Buffers are reused there when a new one has the same size as a dead one. Planning offsets in one pool is an option
#   (`config.memory_planning`). Reasons for not fusing are in a log (`TORCH_LOGS=fusion`), not in an object.
#
# ## Exercises
#
# Open `work/14_fusion_and_scheduling.ipynb`. Four exercises first, an hour: you find what is between two kernels, rewrite a
# program so that it takes half of its bytes, plan memory, and rank pairs of kernels. Three of your functions then schedule
# the running stack. Then come the five steps, an hour and a half.
#
# ## What you write
#
# `mini/fusion.py`, in five steps: groups by rows, the first stage where a loop may run, joining, the greedy loop, and one loop for
# many dimensions. After it your softmax is one kernel of three stages. The package's version also ranks pairs by the bytes that they
# save, checks what lies between two kernels, puts loops side by side that only read the same, and plans where buffers live; your plan
# of the memory comes in lesson 17.
