# %% [markdown]
# # 17 Memory, attention, autotune
#
# A compiled program is fast when numbers stay near. What about those that are stored? A result of one kernel that another
# one reads has to lie somewhere, and a large model is mostly limited by how much of that there is. So the question of
# this lesson: what of it is needed at all, and who decides where the rest lies?
#
# Here is where it hurts most. A layer of attention gets some words, each of them a vector, and lets each word look at
# each. These are the megabytes of its inputs and of its scores, for sixteen heads, when the text becomes longer.

# %%
from minitorch_compile.course.drawings.line_chart import draw_lines

HEADS, WIDTH = 16, 64
lengths = [256 * n for n in range(1, 9)]
draw_lines(
    {
        "scores": [4 * HEADS * length**2 / 1e6 for length in lengths],
        "queries, keys, values": [4 * HEADS * 3 * length * WIDTH / 1e6 for length in lengths],
    },
    x_label="words, in 256s",
    y_label="MB",
)

# %% [markdown]
# The lower line is what the layer is about. The upper one is scratch paper, and it's forgotten as soon as the layer is
# done. The lesson has three parts. First, how not to have it at all. Then, for all that can't be avoided, how many
# lives fit into one block of memory. And at the end a question that came up in lesson 16, and can't be answered by
# thinking: how large should a block be? That we ask the machine.

# %%
import math
import time

import numpy as np

import minitorch_compile as torch
from minitorch_compile.nn import functional as F

torch.set_num_threads(1)
rng = np.random.default_rng(0)

# %% [markdown]
# ## Attention without the scores
#
# Lesson 16 ran what follows a product while its rows were hot. The finest epilogue of all is between two products. Attention asks of each query how well it matches each key, turns
# the scores into shares by softmax, and adds up the values by these shares:


# %%
def attention(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[1])
    e = np.exp(scores - scores.max(1, keepdims=True))
    return e @ v / e.sum(1, keepdims=True)


# %% [markdown]
# The scores are a matrix of all queries by all keys. For 4,000 words that's 16 million numbers, for each head of each
# layer, and nobody wants to have them. But softmax is in the way. It divides by a sum over *all* keys, and subtracts
# the largest of *all* scores, so that nothing overflows. How can you begin before you've seen them?
#
# You begin with what you know, and correct it. Keep the largest score so far, and the sum of exponentials below it.
# When a larger one comes, the old sum was taken with the wrong reference. But exp(s - old) is exp(s - new) times
# exp(new - old), so a single factor puts it right:

# %%
largest, total = -math.inf, 0.0
for score in (2.0, 1.0, 5.0, 3.0):
    new = max(largest, score)
    total = total * math.exp(largest - new) + math.exp(score - new)
    largest = new
    print(f"after {score}: largest {largest}, sum {total:.4f}")
print(f"all at once: {sum(math.exp(s - 5) for s in (2.0, 1.0, 5.0, 3.0)):.4f}")

# %% [markdown]
# This is the *online softmax*. At the start the largest is minus infinity, its factor exp(-inf) is zero, and the first
# score needs no special case. What works for the sum works for everything that's a sum of these exponentials times
# something, so for the values, too. And instead of one score at a time, take a block of keys: a product, an epilogue, a
# product, and the scores of the block can be forgotten.


# %%
def attention_in_blocks(q, k, v, block):
    largest = np.full((len(q), 1), -np.inf, np.float32)
    total = np.zeros((len(q), 1), np.float32)
    weighted = np.zeros((len(q), v.shape[1]), np.float32)
    for first in range(0, len(k), block):
        scores = q @ k[first : first + block].T / math.sqrt(q.shape[1])
        new = np.maximum(largest, scores.max(1, keepdims=True))
        e = np.exp(scores - new)
        correction = np.exp(largest - new)
        total = total * correction + e.sum(1, keepdims=True)
        weighted = weighted * correction + e @ v[first : first + block]
        largest = new
    return weighted / total


q, k, v = rng.normal(size=(3, 1000, 64)).astype(np.float32)
print(np.abs(attention_in_blocks(q, k, v, 96) - attention(q, k, v)).max() < 1e-6)
print(np.abs(attention_in_blocks(100 * q, k, v, 96) - attention(100 * q, k, v)).max() < 2e-3)

# %% [markdown]
# Not an approximation: the same sums, in another order. The second line has scores of some hundreds. They overflow any
# float32 exponential that isn't measured against the largest. Here is the memory that both take at the worst moment, as
# NumPy reports it, for lengths up to 2048.

# %%
import tracemalloc


def megabytes(function, *arguments):
    tracemalloc.start()
    function(*arguments)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(peak_bytes / 1e6, 1)


of_length = [rng.normal(size=(3, 256 * n, 64)).astype(np.float32) for n in range(1, 9)]
draw_lines(
    {
        "all scores": [megabytes(attention, *qkv) for qkv in of_length],
        "blocks of 64": [megabytes(attention_in_blocks, *qkv, 64) for qkv in of_length],
    },
    x_label="length, in 256s",
    y_label="MB",
)

# %% [markdown]
# Twice the length is four times the scores, but only twice the rest. Cut the queries into blocks as well, and what's
# needed beside the result doesn't grow at all. This is FlashAttention.
#
# What about the backward pass? It needs the shares again, all of them, and they were never kept. But each can be
# computed from its score, the largest and the total. So the forward pass saves two numbers for a query, and the
# backward pass goes over the blocks a second time and makes the scores anew. That's lesson 11's recomputation, decided
# by hand: a product more, and a matrix of all by all less.
#
# In the package it is an operation, `flash_attention`, with a kernel in `kernels/attention.py`. You needn't know. A pass
# looks for softmax between two products in whatever you have written, and puts the operation there if the scores
# wouldn't fit into the cache anyway.
#
# *Predict*: a product, a division, a softmax and another product. How many kernels will that be?

# %%
from minitorch_compile.course import predict

predict("17.kernels", None)


# %% tags=["varies"]
def by_hand(q, k, v):
    return (q @ k.transpose(-1, -2) / 8).softmax(-1) @ v


heads = [torch.randn(1, 4, 1024, 64) for _ in range(3)]
seen = torch.compiler.inspect(by_hand, *heads)
print(seen.schedule)
print(seen.memory)

# %% [markdown]
# One kernel. The scores alone would have been sixteen megabytes. The second buffer, with two numbers for each query, is
# the one that a backward pass would want, and each thread has scratch memory for a block.
#
# ## Many lives in one block
#
# Now the whole graph. A compiled call asks for memory once: for its results, and for one *arena* in which all
# temporaries lie. Lesson 14 had the rule: two buffers may overlap in place if they don't overlap in time. So a buffer
# is a rectangle, as long as its life and as high as its bytes, and planning memory is packing rectangles that can be
# moved up and down but not sideways. Here is a network that makes them interesting. It goes from wide to narrow and
# back, and keeps what it had on the way down for the way up.

# %%
from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.memory_plan import Life, last_uses
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.tensor import empty_fake


def hourglass(x, a, b, c, d, e):
    wide = (x @ a).softmax(1)
    middle = (wide @ b).softmax(1)
    narrow = (middle @ c).softmax(1)
    back = (narrow @ d).softmax(1) + middle
    return (((back @ e).softmax(1) + wide).sum(0),)


sizes = (256, 32), (32, 512), (512, 256), (256, 128), (128, 256), (256, 512)
graph = trace(hourglass, [empty_fake(each) for each in sizes])
planned = schedule(lower(simplify(prims.decompose(graph))))


def lives_of(planned):
    last, results = last_uses(planned), {view.buffer for view in planned.graph.outputs}
    return [
        Life(buffer, number, last[buffer], buffer.nbytes)
        for number, step in enumerate(planned.steps)
        for buffer in step.outputs
        if buffer not in planned.internal and buffer not in results
    ]


lives = lives_of(planned)
steps = range(len(planned.steps))
alive = [sum(each.nbytes for each in lives if each.first <= n <= each.last) for n in steps]
total_bytes = sum(each.nbytes for each in lives)
print(f"{total_bytes:,} bytes in all, {max(alive):,} alive at the worst moment")

# %% [markdown]
# No plan can do with less than the second number. To get near it there are two choices. In which *order* do we place
# the buffers? And if there are several gaps, which one? *First fit* takes the lowest, *best fit* the tightest. We write
# it so that both can be exchanged.


# %%
def gaps(life, placed):
    """The free places (offset, size) while it is alive; the last one has no end."""
    others = [each for each in placed if each.first <= life.last and life.first <= each.last]
    found, end = [], 0
    for other in sorted(others, key=placed.get):
        found.append((end, placed[other] - end))
        end = max(end, placed[other] + other.nbytes)
    return [*found, (end, math.inf)]


def plan(lives, order, fit):
    placed = {}
    for life in sorted(lives, key=order):
        placed[life] = fit([gap for gap in gaps(life, placed) if gap[1] >= life.nbytes])[0]
    return placed


def first_fit(gaps):
    return gaps[0]


def best_fit(gaps):
    return min(gaps, key=lambda gap: gap[1])


# %%
from minitorch_compile.course.drawings.lives import draw_lives

placed = plan(lives, lambda life: -life.nbytes, best_fit)
draw_lives([(n.name.name, n.first, n.last, placed[n], n.nbytes) for n in lives])

# %% [markdown]
# As low as it can be. In the middle, where the network is narrow, much of the arena is empty, and the rest holds what
# waits for its way up. One network proves nothing, so here are two hundred random sets of thirty buffers, and by how
# much each method exceeds the worst moment on average.


# %%
def random_lives(seed):
    draw = np.random.default_rng(seed)
    starts, lengths = draw.integers(0, 40, 30), draw.integers(1, 10, 30)
    ends, sizes = starts + lengths, 64 * draw.integers(1, 50, 30)
    return [Life(n, *map(int, each)) for n, each in enumerate(zip(starts, ends, sizes))]


def excess(lives, order, fit):
    placed = plan(lives, order, fit)
    worst = max(sum(e.nbytes for e in lives if e.first <= n <= e.last) for n in range(50))
    return max(offset + life.nbytes for life, offset in placed.items()) / worst - 1


samples = [random_lives(seed) for seed in range(200)]
orders = {"as they come": lambda life: life.first, "largest first": lambda life: -life.nbytes}
for name, order in orders.items():
    for fit in (first_fit, best_fit):
        average = sum(excess(lives, order, fit) for lives in samples) / len(samples)
        print(f"{name:13} {fit.__name__:9} {100 * average:4.1f}% more")

# %% [markdown]
# The order matters, the gap hardly does. So the package, in `memory_plan.py`, places the largest first at the lowest
# offset. There is a bigger saving, and it comes before any packing. Each softmax reads a product for the last time, and
# writes a result of the same size. If a kernel reads each number no later than it overwrites it, both may have the
# *same* memory. To know that, compare addresses, as in lesson 14. It must be read where it is written, by the same
# loop, and in no later stage than the one that writes. With this, `in_place` makes fewer and longer lives of our
# picture:

# %%
from minitorch_compile.inductor.schedule.memory_plan import in_place, plan_memory

final = plan_memory(planned, in_place(planned))
homes = {}
for life in lives:
    homes.setdefault(final.same[life.name], []).append(life)
rows = []
for home, those in homes.items():
    name, first, last = "+".join(n.name.name for n in those), those[0].first, those[-1].last
    rows += [(name, first, last, final.offsets[home], home.nbytes)] if home in final.offsets else []
draw_lives(rows)

# %% [markdown]
# ## One program
#
# What is left to do is small. A compiled graph is a list of steps, in order; a plan, which says for each buffer where in
# the arena it begins; and the constants. To call it means to take fresh memory for the results, look up the inputs,
# and run the steps. `torch.compile` is the door in front of all that: a function, and a way to make such programs.
#
# All sizes are known when the graph is compiled, so the peak of a call is known before it runs. `memory_report.py` adds
# it up, and you can ask for the one of any program. Here is a training step. The results of its forward pass contain
# what is saved for the backward pass, and those are its arguments then.

# %% tags=["varies"]
layers = [torch.nn.Linear(512, 512) for _ in range(4)]


def deep(x):
    for layer in layers:
        x = layer(x).tanh()
    return x.square().mean()


batch = torch.ones(1024, 512)
with torch.no_grad():
    print("inference:", torch.compiler.inspect(deep, batch).memory)
seen = torch.compiler.inspect(deep, batch)
print("forward:  ", seen.memory)
print("backward: ", seen.backward_memory)

# %% [markdown]
# Without gradients, the arena is that of two layers however many there are. With them, each layer's result has to be
# kept: that is the memory that the partitioner of lesson 11 fights for.
#
# `mode="reduce-overhead"` goes one step further, and keeps the arena from call to call. Fresh memory isn't free: the
# operating system hands it out page by page, on the first touch of each 4096 bytes. The memory of results is used again
# as well, but these belong to the caller, who may still hold those of the last call. So the references to a result are
# counted first, and one that somebody can still reach is never overwritten.
#
# ## Let the machine decide
#
# How high should a block of rows be, when a product has an epilogue? In lesson 16 the answer depended on sizes, and it
# depends on caches, on the BLAS, on the number of threads. A formula for all of that would be wrong by next year. So
# make all candidates and time them. This is *autotuning*. Here are some, in NumPy: a linear layer with tanh behind it,
# in blocks of rows.


# %%
def candidates(rows, inner, columns, heights=(32, 128, 512)):
    """A call for each height of a block."""
    shapes = (rows, inner), (inner, columns), (rows, columns)
    x, w, out = (rng.normal(size=shape).astype("f") for shape in shapes)

    def in_blocks(height):
        for top in range(0, rows, height):
            block = out[top : top + height]
            np.matmul(x[top : top + height], w, out=block)
            np.tanh(block, out=block)

    calls = {f"blocks of {height}": lambda height=height: in_blocks(height) for height in heights}
    return calls | {"all at once": lambda: in_blocks(rows)}


# %% [markdown]
# First, look at what you'd measure: sixty calls of two of them, in turns.

# %% tags=["varies"]
calls = candidates(8192, 32, 480)
measured = {"all at once": [], "blocks of 128": []}
for _ in range(60):
    for name, times in measured.items():
        start = time.perf_counter_ns()
        calls[name]()
        times.append((time.perf_counter_ns() - start) / 1e6)
draw_lines(measured, x_label="call", y_label="ms")

# %% [markdown]
# Now imagine that you had called each of them once. The first call finds cold caches and may even compile something.
# Some calls are disturbed by other programs. And if the whole machine becomes slower for a while, it hits whoever is
# running then. So don't count the first call, let the candidates take turns, and don't compare means, which a single
# disturbed call can spoil. A *median* survives until half of the calls are spoilt. The *shortest* time survives as long
# as one call wasn't disturbed, because whatever happens to a call makes it longer, never shorter.
#
# Measuring takes time, so the result should be remembered, also by the next process. That needs a *key*, made of
# everything that the choice depends on. If something is missing from the key, a choice made for another machine will be
# used on yours, and nothing will tell you.

# %%
import json
import platform
import tempfile
from pathlib import Path


def fastest(calls, rounds=7):
    times = {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter_ns()
            call()
            times[name] += [time.perf_counter_ns() - start] if turn else []
    return min(times, key=lambda name: min(times[name]))


def chosen(shape, file):
    """The name of the fastest candidate, and whether it had to be measured."""
    key = f"linear_tanh {shape} float32 threads {torch.get_num_threads()} {platform.processor()}"
    remembered = json.loads(file.read_text()) if file.exists() else {}
    if known := remembered.get(key):
        return known, "remembered"
    remembered[key] = fastest(candidates(*shape))
    file.write_text(json.dumps(remembered))
    return remembered[key], "measured"


# %% [markdown]
# *Predict*: three shapes are asked for, of which the third is the first again. What will be said of it in the last
# word of its line?

# %%
predict("17.tuned", None)

# %% tags=["varies"]
file = Path(tempfile.mkdtemp()) / "choices.json"
for shape in (16384, 32, 480), (4096, 256, 480), (16384, 32, 480):
    print(shape, *chosen(shape, file))

# %% [markdown]
# One more thing to know before you let a clock decide: the candidates give the same values, but perhaps not to the last
# bit, since each sums in its own order. A program whose last digit depends on who was disturbed while it was tuned
# can't be debugged. That is another reason to write the choice down.
#
# The package does this with `mode="max-autotune"`. For each product, together with the loops that follow it, it asks:
# BLAS or tiles, an epilogue or not, and how many rows in a block? Each way is compiled as a small graph of its own.
# Then come the limits of fusion, for the whole graph. The times are kept beside the machine code, named by a digest of
# what is computed, the number of threads, the processor and all versions. With the log artifact `perf_hints` you see
# the tables:

# %% tags=["varies"]
from minitorch_compile import logs

layer = torch.randn(8192, 128), torch.randn(512, 128), torch.randn(512)
tuned = torch.compile(lambda x, w, b: F.gelu(F.linear(x, w, b)), mode="max-autotune")
with logs.capture("perf_hints") as records:
    tuned(*layer)
print(*(record.text for record in records), sep="\n")

# %% [markdown]
# Run the notebook a second time, and it says "remembered". Without the mode nothing is timed. Then a few numbers in
# `packed_products.py` decide, which were measured on the author's machines, and the same program is compiled in the
# same way each time.
#
# ## Beside PyTorch
#
# The attention that was written by hand, in the end:

# %% tags=["varies"]
from minitorch_compile.course.drawings.beside import beside

beside("17_attention", torch.compiler.inspect(by_hand, *heads).schedule)

# %% [markdown]
# Nobody has said that this is attention, and both have found out, by looking for a softmax between two products.
# PyTorch calls a kernel that people have written, `_scaled_dot_product_flash_attention_for_cpu`, and has found the 8
# as a factor of 0.125. Both kernels also give a number or two for each query, in case a backward pass wants them.
#
# ## What PyTorch does differently
#
# - Attention is a set of hand-written kernels behind `scaled_dot_product_attention`: FlashAttention, memory-efficient,
#   cuDNN. Products with a softmax between them are found by pattern matching, as here, and FlexAttention compiles
#   variants from a template.
# - `mode="reduce-overhead"` means CUDA graphs there: a recorded sequence of launches that is replayed as one. Graphs of
#   one program share a memory pool (*CUDA graph trees*), so an output is overwritten by the next run. Reading it then
#   is an error that tells you to clone it before.
# - Buffers are reused when sizes are equal; planning offsets in one pool is an option (`config.memory_planning`). The
#   caching allocator below makes asking for memory cheap in any case.
# - `mode="max-autotune"` compiles dozens of configurations of each template in parallel, times them against the
#   library, and keeps the choices on disk, keyed by sizes, strides, dtypes and the device.
#
# Where to read on: `torch/_inductor/fx_passes/fuse_attention.py`, `memory.py` and `codegen/memory_planning.py`, and
# `select_algorithm.py` for the choices.
#
# ## Exercises
#
# Open `work/17_memory_attention_autotune.ipynb`. You write the heart of attention, the rule for overwriting the dead, and
# the clock of the tuner. Two of your functions go into the running stack.
#
# ## What you write
#
# `mini/program.py` and `mini/front.py`, in four steps: the program, a plan of its memory, a call, and the door,
# `compile`. With them your stack is complete, and trains models: that's lesson 18. The package also reuses memory in place,
# tunes by timing, and turns the whole program into one native function.
