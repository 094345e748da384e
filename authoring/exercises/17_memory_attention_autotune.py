# %% [markdown]
# # 17 Exercises: memory, attention, autotune
#
# Seven exercises, an hour and three quarters: three about memory and attention, three quarters of an hour, and four steps of your
# own `mini/program.py` and `mini/front.py`, an hour. Each is a sentence, a
# signature, an example and a check. Write your answer in place of the `raise` line or the `...`, run the cell, run the check
# below it. If you are stuck, `hint("17.1")` gives the first of three hints, and calling it again the next; hints cost nothing.

# %%
import math
import statistics

import numpy as np

import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.schedule.group import Group


# %% [markdown]
# ## 17.1 A block of keys
#
# Attention of one query, block by block. A state is a triple: the largest score so far, the sum of exp(score -
# largest), and the sum of exp(score - largest) times value. Return the state after one more block of `scores`, of shape
# (n,), and `values`, (n, d). It begins as (-inf, 0.0, zeros), and a block may be masked: then all its scores are -inf,
# and the state stays as it is, also at the beginning. After scores [0, 1] and values [[10], [20]], weighted / total is
# 17.31.


# %%
def merge(state, scores: np.ndarray, values: np.ndarray):
    """(largest, total, weighted) after this block."""
    ### BEGIN SOLUTION
    largest, total, weighted = state
    new = max(largest, scores.max())
    if new == -math.inf:
        return state
    e, correction = np.exp(scores - new), math.exp(largest - new)
    return new, total * correction + e.sum(), weighted * correction + e @ values
    ### END SOLUTION


# %%
check("17.1")

# %% [markdown]
# Here it is at work: causal attention of 100 queries, in blocks of 16 keys, of which some are masked.

# %%
if passed("17.1"):
    q, k, v = np.random.default_rng(0).normal(size=(3, 100, 8))
    result = np.zeros((100, 8))
    for query in range(100):
        state = (-math.inf, 0.0, np.zeros(8))
        for first in range(0, 100, 16):
            scores = k[first : first + 16] @ q[query] / math.sqrt(8)
            scores[np.arange(first, first + len(scores)) > query] = -math.inf
            state = merge(state, scores, v[first : first + 16])
        result[query] = state[2] / state[1]
    wanted = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor(each)[None] for each in (q, k, v)), is_causal=True
    )
    print(np.allclose(result, wanted[0].numpy()))


# %% tags=["wrong"] says="Each block is measured against its own largest score"
def merge(state, scores, values):
    largest, total, weighted = state
    e = np.exp(scores - scores.max())
    return scores.max(), total + e.sum(), weighted + e @ values


# %% tags=["wrong"] says="and the total has still the old reference"
def merge(state, scores, values):
    largest, total, weighted = state
    new = max(largest, scores.max())
    e, correction = np.exp(scores - new), np.exp(largest - new)
    return new, total + e.sum(), weighted * correction + e @ values


# %% tags=["wrong"] says="and the weighted sum has still the old reference"
def merge(state, scores, values):
    largest, total, weighted = state
    new = max(largest, scores.max())
    e, correction = np.exp(scores - new), np.exp(largest - new)
    return new, total * correction + e.sum(), weighted + e @ values


# %% tags=["wrong"] says="The correction goes the wrong way"
def merge(state, scores, values):
    largest, total, weighted = state
    new = max(largest, scores.max())
    e = np.exp(scores - new)
    correction = np.exp(new - largest) if total else 0.0
    return new, total * correction + e.sum(), weighted * correction + e @ values


# %% tags=["wrong"] says="exp(1000) is infinity"
def merge(state, scores, values):
    _, total, weighted = state
    e = np.exp(scores)
    return scores.max(), total + e.sum(), weighted + e @ values


# %% tags=["wrong"] says="-inf minus -inf is NaN"
def merge(state, scores, values):
    largest, total, weighted = state
    new = max(largest, scores.max())
    e, correction = np.exp(scores - new), np.exp(largest - new)
    return new, total * correction + e.sum(), weighted * correction + e @ values


# %% [markdown]
# ## 17.2 Over the dead
#
# May a kernel write `output` into the memory of `source`, which nobody reads afterwards? The kernel is a group.
# `group.writer(output)` is the member that writes it. A member has `reads`, each with `buffer`, `address` and `masked`;
# it has `write.address`; `inner` is True if it runs at each position, False if once a row; and `loop.is_reduction`.
# `group.stages()` has the stage of each of `group.members`. Say True only if every read of source, by any member, is
# where output is written, by a loop of the same kind (`inner`), in the writer's stage or before it, and not masked. A
# reduction overwrites nothing. For `z = sin(y)` the answer is True, for `z = y + y.flip(1)` it's False.


# %%
def overwrites_safely(group: Group, output: Buffer, source: Buffer) -> bool:
    """Whether each number of source is read for the last time where, and not after, output is written."""
    ### BEGIN SOLUTION
    writer, stage = group.writer(output), dict(zip(group.members, group.stages()))
    if writer is None or writer.loop.is_reduction:
        return False
    for member in group.members:
        for access in member.reads:
            if access.buffer is source and (
                access.masked
                or access.address != writer.write.address
                or member.inner != writer.inner
                or stage[member] > stage[writer]
            ):
                return False
    return True
    ### END SOLUTION


# %%
check("17.2")

# %% [markdown]
# The package asks this for each pair of a result and a dying buffer of its size. With your rule in it, this program's
# memory:

# %%
if passed("17.2"):
    with splice("inductor.overwrites_safely", overwrites_safely):
        chain = lambda x: x.cumsum(0).softmax(1).cumsum(0).softmax(1).sum()
        print(torch.compiler.inspect(chain, torch.ones(256, 256)).memory)


# %% tags=["wrong"] says="lies a number of y that is read later"
def overwrites_safely(group, output, source):
    return group.writer(output) is not None and not group.writer(output).loop.is_reduction


# %% tags=["wrong"] says="All reads of y count"
def overwrites_safely(group, output, source):
    writer = group.writer(output)
    places = [a.address for member in group.members for a in member.reads if a.buffer is source]
    return not writer.loop.is_reduction and writer.write.address in places


# %% tags=["wrong"] says="in stage 1 the same row of y is read once more"
def overwrites_safely(group, output, source):
    writer = group.writer(output)
    return not writer.loop.is_reduction and all(
        a.address == writer.write.address and not a.masked and member.inner == writer.inner
        for member in group.members
        for a in member.reads
        if a.buffer is source
    )


# %% tags=["wrong"] says="That loop still wants y"
def overwrites_safely(group, output, source):
    writer, stage = group.writer(output), dict(zip(group.members, group.stages()))
    return not writer.loop.is_reduction and all(
        a.address == writer.write.address and not a.masked and stage[member] <= stage[writer]
        for member in group.members
        for a in member.reads
        if a.buffer is source
    )


# %% tags=["wrong"] says="A reduction may use its place from the beginning"
def overwrites_safely(group, output, source):
    writer, stage = group.writer(output), dict(zip(group.members, group.stages()))
    return all(
        a.address == writer.write.address
        and not a.masked
        and member.inner == writer.inner
        and stage[member] <= stage[writer]
        for member in group.members
        for a in member.reads
        if a.buffer is source
    )


# %% tags=["wrong"] says="A masked read may look at another place"
def overwrites_safely(group, output, source):
    writer, stage = group.writer(output), dict(zip(group.members, group.stages()))
    return not writer.loop.is_reduction and all(
        a.address == writer.write.address
        and member.inner == writer.inner
        and stage[member] <= stage[writer]
        for member in group.members
        for a in member.reads
        if a.buffer is source
    )


# %% tags=["wrong"] says="y is read in stages 0 and 1"
def overwrites_safely(group, output, source):
    writer = group.writer(output)
    stage = dict(zip(group.members, group.stages()))
    return not writer.loop.is_reduction and all(
        a.address == writer.write.address
        and not a.masked
        and member.inner == writer.inner
        and stage[member] == stage[writer]
        for member in group.members
        for a in member.reads
        if a.buffer is source
    )


# %% [markdown]
# ## 17.3 Times to choose by
#
# `names` are candidates, and `run(name)` runs one of them once and says how many seconds it took. The first run of each
# is cold, other programs disturb single runs, and the machine may become slower at any moment. `known` is a dict of
# times that were remembered, or None. If it has a time for each of `names` and for no other, return it, and run
# nothing. Otherwise measure, at most 20 runs of each, and return a dict of times by which the fastest can be chosen.


# %%
def timed(names: list[str], run, known: dict[str, float] | None) -> dict[str, float]:
    """Seconds for each candidate."""
    ### BEGIN SOLUTION
    if known is not None and set(known) == set(names):
        return known
    times = {name: [] for name in names}
    for _ in range(8):
        for name in names:
            times[name].append(run(name))
    return {name: statistics.median(times[name][1:]) for name in names}
    ### END SOLUTION


# %%
check("17.3")

# %% [markdown]
# In the package the candidates are the ways to compute a product, and this function of yours decides.

# %%
if passed("17.3"):
    with splice("inductor.timed", timed):
        tuned = torch.compile(lambda x: (x @ x).relu().sum(), mode="max-autotune")
        print(tuned(torch.ones(128, 128)))


# %% tags=["wrong"] says="One run says nothing"
def timed(names, run, known):
    if known is not None and set(known) == set(names):
        return known
    return {name: run(name) for name in names}


# %% tags=["wrong"] says="A median doesn't see them"
def timed(names, run, known):
    if known is not None and set(known) == set(names):
        return known
    rounds = [[run(name) for name in names] for _ in range(8)][1:]
    return {name: sum(times) / len(times) for name, times in zip(names, zip(*rounds))}


# %% tags=["wrong"] says="Let them take turns"
def timed(names, run, known):
    if known is not None and set(known) == set(names):
        return known
    return {name: statistics.median([run(name) for _ in range(8)][1:]) for name in names}


# %% tags=["wrong"] says="Look before you measure"
def timed(names, run, known):
    rounds = [[run(name) for name in names] for _ in range(8)][1:]
    return {name: statistics.median(times) for name, times in zip(names, zip(*rounds))}


# %% tags=["wrong"] says="A newer version of the program"
def timed(names, run, known):
    if known:
        return known
    rounds = [[run(name) for name in names] for _ in range(8)][1:]
    return {name: statistics.median(times) for name, times in zip(names, zip(*rounds))}


# %% tags=["wrong"] says="is from another time"
def timed(names, run, known):
    known = known or {}
    unknown = [name for name in names if name not in known]
    rounds = [[run(name) for name in unknown] for _ in range(8)][1:] if unknown else []
    measured = {name: statistics.median(times) for name, times in zip(unknown, zip(*rounds))}
    return {name: known.get(name, measured.get(name)) for name in names}


# %% tags=["wrong"] says="Return a dict of seconds"
def timed(names, run, known):
    rounds = [[run(name) for name in names] for _ in range(8)][1:]
    medians = [statistics.median(times) for times in zip(*rounds)]
    return names[medians.index(min(medians))]


# %% [markdown]
# ## Your own stack: `mini/program.py` and `mini/front.py`
#
# The last two files of your stack. `program.py` puts kernels and products in a row, says where their buffers lie, and is what a
# call runs; `front.py` is the door, `compile`. They import your `products`, `fusion`, `loops`, `prims`, `aot` and `breaks`. Their
# grown-up versions are `inductor/schedule/` and `inductor/runtime/native_call.py`, and `compiler/`.

# %% [markdown]
# ## 17.4 The whole program
#
# `Program(graph)`: `decompose(graph, self.rules)`, lower (`Lowering(graph)`), fuse, and make each group a step, in order: a `Call` a
# `ProductStep`, a group `self.kernel(group, wanted)`, where `wanted` are the buffers that have to be in memory after it,
# because they are outputs or because another group reads them (`read_by`). A kernel that the last step takes becomes its
# epilogue, and its buffers are that step's too. `self.lowering` keeps the lowering. At the end `self.prepared = functools.lru_cache(maxsize=4)(self.prepare)`: what calls of one batch have in
# common is found out once (step 17.6), and kept for the four batches that were used last.

# %% step="17.4"
class Program:
    """A graph, compiled: called with tensors it gives tensors."""

    rules, kernel, empty = DECOMPOSITIONS, Kernel, staticmethod(np.empty)
    take = give = staticmethod(lambda array: array)  # to the memory in which the kernels run, and from it

    def __init__(self, graph):
        """Decompose, lower, fuse; steps; memory."""


# %%
check("17.4")

# %% tags=["wrong"] step="17.4" says="it must be in memory, though it is no output"
# -             wanted = {*lowering.outputs}.union(*[read_by(other) for other in groups if other is not group])
# +             wanted = {*lowering.outputs}

# %% tags=["wrong"] step="17.4" says="it belongs to the product's step"
# -             if isinstance(last, ProductStep) and last.takes(step):
# -                 last.epilogue, last.buffers = step, last.buffers + step.buffers
# -             else:
# -                 self.steps.append(step)
# +             self.steps.append(step)

# %% tags=["wrong"] step="17.4" says="has those of both"
# -                 last.epilogue, last.buffers = step, last.buffers + step.buffers
# +                 last.epilogue = step

# %% [markdown]
# ## 17.5 A plan of the memory
#
# `plan(batch)` gives each buffer that the steps touch a place, and each place a size in bytes: a dictionary and a list.
# `bytes_of(buffer, batch)` says how many bytes a buffer needs. Inputs and outputs are not planned. A buffer lives from the first step that touches it to the last. When it comes to life it
# takes, of the places that are free and large enough, the smallest, or else a new one. What one step touches must be apart, so a
# place is free only after the last step of its buffer.

# %% step="17.5"
def plan(self, batch=None):
    """Buffers share memory: each takes the smallest free place that holds it. Gives places, and their bytes."""


# %%
check("17.5")

# %% tags=["wrong"] step="17.5" says="Both are alive in this step"
# -         for i, step in enumerate(self.steps):
# -             buffers = [buffer for buffer in dict.fromkeys(step.buffers) if buffer in last]
# +         for i, step in enumerate(self.steps):
# +             buffers = [buffer for buffer in dict.fromkeys(step.buffers) if buffer in last]
# +             free += [places[buffer] for buffer in buffers if last[buffer] == i and buffer in places]
# -             free += [places[buffer] for buffer in buffers if last[buffer] == i]

# %% tags=["wrong"] step="17.5" says="The place is too small"
# -                     fitting = [place for place in free if sizes[place] >= need]
# +                     fitting = free

# %% tags=["wrong"] step="17.5" says="take the smallest"
# -                     places[buffer] = min(fitting, key=sizes.__getitem__, default=len(sizes))
# +                     places[buffer] = max(fitting, key=sizes.__getitem__, default=len(sizes))

# %% tags=["wrong"] step="17.5" says="can be had for nothing"
# -             free += [places[buffer] for buffer in buffers if last[buffer] == i]

# %% tags=["wrong"] step="17.5" says="have memory of their own"
# -         others = {*self.lowering.inputs, *self.lowering.outputs, "s0"}
# +         others = {"s0"}

# %% [markdown]
# ## 17.6 A call
#
# Most of what a call needs is the same at each call with the same batch. `prepare(batch)` finds it out: pairs of an input and
# where it lies, `at(buffer.layout, batch)`; the same of outputs; a memory; and what each step's `launch(batch)` gives. The
# memory is a dictionary from buffers to flat arrays, with `"s0"`, the batch, for the kernels. Places of the plan are made with
# `self.empty(size, np.uint8)`; a buffer has the first bytes of its place, as numbers: `array.view(dtype)`.
#
# A call asks `self.prepared(batch)`; the batch is given, or it is
# `batch_of(self.lowering.inputs, tensors)`. In a copy of that memory an input's array is `self.take(flat(tensor, layout))`, which
# for a GPU means: copied to it; an output's is new. All are launched, and the outputs become
# tensors, of what `self.give(array)` brings back.

# %% step="17.6"
def prepare(self, batch):
    """What calls of one batch have in common: where inputs and outputs lie, the memory, and the steps to launch."""

def __call__(self, *tensors, batch=None):
    """Tensors for `self.lowering.inputs` give a list of tensors, one for each of `self.lowering.outputs`."""


# %%
check("17.6")

# %% tags=["wrong"] step="17.6" says="outputs get new memory at each call"
# -             now[buffer] = self.empty(numel(layout.sizes), buffer.dtype)
# +             now[buffer] = memory.setdefault(buffer, self.empty(numel(layout.sizes), buffer.dtype))

# %% tags=["wrong"] step="17.6" says="from its own first element on"
# -             now[buffer] = self.take(flat(tensor, layout))
# +             now[buffer] = self.take(tensor.storage.data)

# %% tags=["wrong"] step="17.6" says="is another one at another batch"
# -         inputs, outputs, memory, launches = self.prepared(batch or batch_of(self.lowering.inputs, tensors))
# +         self.first = getattr(self, "first", batch or batch_of(self.lowering.inputs, tensors))
# +         inputs, outputs, memory, launches = self.prepared(self.first)

# %% [markdown]
# ## 17.7 The door
#
# `compile(function, backend="inductor", dynamic=False)`: a `Region` of the function, a backend of `BACKENDS`, and `dynamic`; or
# of `aot(CudaProgram)` of `mini.cuda` for `"cuda"`, which you import only then. Another name is a ValueError that lists the names. A module,
# and whatever else has no `__code__`, is wrapped in a function that calls it.

# %% step="17.7"
def compile(function, backend="inductor", dynamic=False):
    """A function of tensors, or a module, as kernels; `backend` stops the way down earlier, or leads to a GPU."""


# %%
check("17.7")

# %% tags=["wrong"] step="17.7" says="must be told, with the names there are"
# -     if backend not in BACKENDS:
# -         raise ValueError(f"backend {backend!r}: there are {', '.join([*BACKENDS, 'cuda'])}")
# -     return Region(call, BACKENDS[backend], dynamic)
# +     return Region(call, BACKENDS.get(backend, BACKENDS["inductor"]), dynamic)

# %% tags=["wrong"] step="17.7" says="has no bytecode of its own"
# -     call = function if hasattr(function, "__code__") else lambda *args: function(*args)
# +     call = function

# %% tags=["wrong"] step="17.7" says="one Region for all calls"
# -     return Region(call, BACKENDS[backend], dynamic)
# +     return lambda *args: Region(call, BACKENDS[backend], dynamic)(*args)

# %% tags=["wrong"] step="17.7" says="leads to its own backend"
# -     return Region(call, BACKENDS[backend], dynamic)
# +     return Region(call, BACKENDS["inductor"], dynamic)

# %% [markdown]
# From a Python function to kernels, all of it yours. Two steps: a product with its epilogue, and a sum.

# %%
if passed("17.7"):
    from mini.front import compile as my_compile
    from mini.nn import Linear
    from mini.tensor import tensor

    model = Linear(3, 2)
    loss = my_compile(lambda x: model(x).tanh().sum())
    loss(tensor([[1.0, 2.0, 3.0]])).backward()
    print([p.grad for p in model.parameters()])
    print([entry.graph for entry in loss.entries()][0])

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("17")

# %%
with own_parts():
    print(torch.compile(lambda x: (x @ x).softmax(1).cumsum(0))(torch.ones(2, 2)))
