# %% [markdown]
# # 14 Exercises: fusion and scheduling
#
# Seven exercises, about an hour and a half. Each is a sentence, a signature, an example and a check. Write your answer in place
# of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("14.1")` gives the first
# of three hints, and calling it again the next; hints cost nothing.

# %%
from itertools import combinations
from math import prod

import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.inductor.ir.dependencies import accesses_of, buffers_read
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.schedule.memory_plan import Life

# %% [markdown]
# ## 14.1 Kernels and bytes: predict
#
# x is a (64, 64) of float32, so it has 16384 bytes. Into how many kernels does each program go, and how many bytes do they
# move? Each buffer counts once a kernel, whether read or written; what stays inside a kernel is free. Write a pair (kernels,
# bytes) for each before you run anything. `x.neg()` would be (1, 32768).

# %% tags=["stub"]
predicted = {
    "x.sin().exp() + 1": ...,
    "x.t() + x": ...,
    "x / x.sum(1, keepdim=True)": ...,
    "x.softmax(0)": ...,
    "x.exp() + x.exp().flip(0)": ...,
    "x.cumsum(0).cumsum(1)": ...,
    "x.sum(0) + x.sum(1)": ...,
}

# %% tags=["solution"]
predicted = {
    "x.sin().exp() + 1": (1, 32768),
    "x.t() + x": (1, 32768),
    "x / x.sum(1, keepdim=True)": (1, 32768),
    "x.softmax(0)": (1, 32768),
    "x.exp() + x.exp().flip(0)": (2, 65536),
    "x.cumsum(0).cumsum(1)": (2, 65536),
    "x.sum(0) + x.sum(1)": (2, 33536),
}

# %%
check("14.1")

# %% tags=["wrong"] says="it may be read at any two places"
predicted = predicted | {"x.t() + x": (1, 49152)}

# %% tags=["wrong"] says="one of which isn't written yet"
predicted = predicted | {"x.exp() + x.exp().flip(0)": (1, 32768)}

# %% tags=["wrong"] says="It never leaves the kernel"
predicted = predicted | {"x / x.sum(1, keepdim=True)": (2, 49664)}

# %% tags=["wrong"] says="are one kernel with stages"
predicted = predicted | {"x.softmax(0)": (4, 98816)}

# %% tags=["wrong"] says="goes across the first"
predicted = predicted | {"x.cumsum(0).cumsum(1)": (1, 32768)}

# %% tags=["wrong"] says="The first sum has 256 bytes"
predicted = predicted | {"x.sum(0) + x.sum(1)": (1, 16640)}

# %% [markdown]
# Here is how to see the truth about any program, with the reasons:

# %%
if passed("14.1"):
    seen = torch.compiler.inspect(lambda x: x.sum(0) + x.sum(1), torch.ones(64, 64))
    print(seen.schedule)
    print(*seen.schedule.why_not)

# %% [markdown]
# ## 14.2 Two loops in one kernel
#
# Two pointwise loops, the first before the second. May they be one kernel, and does that save anything? They may if they have
# the same `sizes`, and every value that the second reads of the first one's `buffer` is read where it was written. It saves
# something if the second reads something that the first reads or writes, at the same place. `accesses_of(loop)` has lists
# `reads` and `writes` (always one), each access with a `buffer` and an `address`.


# %%
def can_fuse(first: Loop, second: Loop) -> bool:
    """Whether the two loops should be one."""
    ### BEGIN SOLUTION
    (write,) = accesses_of(first).writes
    wanted = accesses_of(second).reads
    if first.sizes != second.sizes:
        return False
    if any(read.buffer is write.buffer and read.address != write.address for read in wanted):
        return False
    seen = {(access.buffer, access.address) for access in [*accesses_of(first).reads, write]}
    return any((read.buffer, read.address) in seen for read in wanted)
    ### END SOLUTION


# %%
check("14.2")


# %% tags=["wrong"] says="Compare the addresses, not only the buffers"
def can_fuse(first, second):
    (write,) = accesses_of(first).writes
    touched = {write.buffer, *buffers_read(first)}
    return first.sizes == second.sizes and not touched.isdisjoint(buffers_read(second))


# %% tags=["wrong"] says="The rule is for every read"
def can_fuse(first, second):
    (write,) = accesses_of(first).writes
    seen = {(access.buffer, access.address) for access in [*accesses_of(first).reads, write]}
    reads = [(read.buffer, read.address) for read in accesses_of(second).reads]
    return first.sizes == second.sizes and any(read in seen for read in reads)


# %% tags=["wrong"] says="it was there all along"
def can_fuse(first, second):
    seen = {(a.buffer, a.address) for a in [*accesses_of(first).reads, *accesses_of(first).writes]}
    reads = [(read.buffer, read.address) for read in accesses_of(second).reads]
    return first.sizes == second.sizes and all(read in seen for read in reads)


# %% tags=["wrong"] says="so the two don't go the same way"
def can_fuse(first, second):
    (write,) = accesses_of(first).writes
    wanted = accesses_of(second).reads
    if any(read.buffer is write.buffer and read.address != write.address for read in wanted):
        return False
    seen = {(access.buffer, access.address) for access in [*accesses_of(first).reads, write]}
    return any((read.buffer, read.address) in seen for read in wanted)


# %% tags=["wrong"] says="They stand side by side"
def can_fuse(first, second):
    (write,) = accesses_of(first).writes
    mine = [read for read in accesses_of(second).reads if read.buffer is write.buffer]
    fits = all(read.address == write.address for read in mine)
    return first.sizes == second.sizes and bool(mine) and fits


# %% tags=["wrong"] says="so no byte is saved"
def can_fuse(first, second):
    (write,) = accesses_of(first).writes
    mine = [read for read in accesses_of(second).reads if read.buffer is write.buffer]
    return first.sizes == second.sizes and all(read.address == write.address for read in mine)


# %% [markdown]
# ## 14.3 Find the bug: three rules that look right
#
# A scheduler asks one of these rules about pairs of loops, the earlier one first. Each rule lets it fuse what must not be
# one kernel. For each, write a program of an (8, 8) tensor x with a pair of loops on which the rule says yes although they
# can't be one: for `by_size` and `by_value` because the two don't fit, for `by_pair` because of a third. Remember that a
# cheap value is no loop of its own; `x.exp()`, used twice, is one.


# %%
def by_size(loops: list[Loop], first: Loop, second: Loop) -> bool:
    """The two go over the same number of positions."""
    return prod(first.sizes) == prod(second.sizes)


def by_value(loops: list[Loop], first: Loop, second: Loop) -> bool:
    """The same sizes, and if the second wants what the first makes, the two fit."""
    if first.sizes != second.sizes:
        return False
    if first.buffer in buffers_read(second):
        return isinstance(Group.of(first).fuse(Group.of(second)), Group)
    return True


def by_pair(loops: list[Loop], first: Loop, second: Loop) -> bool:
    """The two fit: common axes, the same rows, each value read where it was written."""
    return isinstance(Group.of(first).fuse(Group.of(second)), Group)


# %% tags=["stub"]
programs = {
    "by_size": ...,
    "by_value": ...,
    "by_pair": ...,
}

# %% tags=["solution"]
programs = {
    "by_size": lambda x: x.exp() + x.exp().flip(0),
    "by_value": lambda x: (x.sum(0), x.sum(1)),
    "by_pair": lambda x: x.exp() + x.exp().flip(0).cumsum(1).flip(0),
}

# %%
check("14.3")

# %% tags=["wrong"] says="there is no pair of loops to fuse"
programs = programs | {"by_size": lambda x: x.sin() + x.cos()}

# %% tags=["wrong"] says="Read a value where it isn't written yet"
programs = programs | {"by_size": lambda x: x.softmax(1)}

# %% tags=["wrong"] says="What if none goes, and they reduce"
programs = programs | {"by_value": lambda x: x.exp() + x.exp().flip(0)}

# %% tags=["wrong"] says="So the trouble must come from a third one"
programs = programs | {"by_pair": lambda x: x - x.sum(1, keepdim=True)}

# %% tags=["wrong"] says="A program such as"
programs = programs | {"by_pair": "x.exp() + x.exp().flip(0)"}

# %% tags=["wrong"] says="Matrix products aren't loops"
programs = programs | {"by_value": lambda x: (x @ x).sum(0)}

# %% [markdown]
# ## 14.4 What must run between
#
# a and b are two nodes of a scheduler that would fit in one kernel. Return a third one that needs what a makes and that b
# needs, both directly or through others; None if there is none. `scheduler.inputs(node)` gives the nodes whose results a
# node reads. If m reads a's result, and b reads those of a and m, the answer is m. Graphs are large: visit no node
# more than once.


# %%
def between(scheduler, a, b):
    """A node on a way from a to b, or None."""
    ### BEGIN SOLUTION
    stack = [node for node in scheduler.inputs(b) if node is not a]
    seen = set(stack)
    while stack:
        node = stack.pop()
        for source in scheduler.inputs(node):
            if source is a or source == a:
                return node
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return None
    ### END SOLUTION


# %%
check("14.4")

# %% [markdown]
# The package asks this about every pair that would fit. With your answer in it:

# %%
if passed("14.4"):
    with splice("inductor.between", between):
        trap = lambda x: x.exp() + x.exp().flip(0).cumsum(1).flip(0)
        seen = torch.compiler.inspect(trap, torch.ones(8, 8))
        print(*seen.schedule.why_not, sep="\n")


# %% tags=["wrong"] says="The way from a to b may lead through several"
def between(scheduler, a, b):
    return next((node for node in scheduler.inputs(b) if a in list(scheduler.inputs(node))), None)


# %% tags=["wrong"] says="so they may be fused"
def between(scheduler, a, b):
    stack, seen = [b], set()
    while stack:
        node = stack.pop()
        for source in scheduler.inputs(node):
            if source == a:
                return node
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return None


# %% tags=["wrong"] says="once for each way to it"
def between(scheduler, a, b):
    stack = [node for node in scheduler.inputs(b) if node != a]
    while stack:
        node = stack.pop()
        if a in list(scheduler.inputs(node)):
            return node
        stack.extend(scheduler.inputs(node))
    return None


# %% tags=["wrong"] says="look at all inputs of b"
def between(scheduler, a, b):
    if a in list(scheduler.inputs(b)):
        return None
    stack = list(scheduler.inputs(b))
    seen = set(stack)
    while stack:
        node = stack.pop()
        for source in scheduler.inputs(node):
            if source == a:
                return node
            if source not in seen:
                seen.add(source)
                stack.append(source)
    return None


# %% tags=["wrong"] says="n is needed by b, and doesn't need a"
def between(scheduler, a, b):
    return next((node for node in scheduler.inputs(b) if node != a and list(scheduler.inputs(node))), None)


# %% [markdown]
# ## 14.5 Half of the bytes
#
# This program takes two kernels, and moves four times the bytes of x. Rewrite it so that a (512, 512) takes at most half of
# that, with the same results up to rounding, also for large numbers. For [[0, 0]] it gives [[1, 1]].
#
#     def glow(x):
#         share = x.softmax(1)
#         return share + share.flip(1)


# %%
def glow(x: torch.Tensor) -> torch.Tensor:
    """Each row's softmax plus its mirror image."""
    ### BEGIN SOLUTION
    return x.softmax(1) + x.flip(1).softmax(1)
    ### END SOLUTION


# %%
check("14.5")


# %% tags=["wrong"] says="is written"
def glow(x):
    share = x.softmax(1)
    return share + share.flip(1)


# %% tags=["wrong"] says="Softmax isn't linear"
def glow(x):
    return 2 * ((x + x.flip(1)) / 2).softmax(1)


# %% tags=["wrong"] says="The rows are mirrored, each in itself"
def glow(x):
    return x.softmax(1) + x.flip(0).flip(1).softmax(1)


# %% tags=["wrong"] says="exp(1000) is infinity"
def glow(x):
    e = x.exp()
    return (e + x.flip(1).exp()) / e.sum(1, keepdim=True)


# %% [markdown]
# ## 14.6 A memory planner
#
# A `Life` has a `name`, the steps `first` and `last` in which it is alive (both included), and `nbytes`. Give each an offset
# in one block, a multiple of 64, such that no two overlap in both time and place. Return the offsets by name, and the size of
# the block, rounded up to a multiple of 64. It must be no larger than what first fit with the largest first needs. For
# `[Life("a", 0, 1, 100), Life("b", 1, 2, 100), Life("c", 2, 3, 100)]` it is `({"a": 0, "b": 128, "c": 0}, 256)`.


# %%
def assign_offsets(lives: list[Life]) -> tuple[dict[str, int], int]:
    """Offsets by name, and the size of the block."""
    ### BEGIN SOLUTION
    rounded = lambda n: -(-n // 64) * 64
    placed = {}
    for life in sorted(lives, key=lambda life: -life.nbytes):
        offset = 0
        for other in sorted(placed, key=placed.get):
            if other.last < life.first or life.last < other.first:
                continue
            if placed[other] - offset >= life.nbytes:
                break
            offset = max(offset, rounded(placed[other] + other.nbytes))
        placed[life] = offset
    total = max((rounded(offset + life.nbytes) for life, offset in placed.items()), default=0)
    return {life.name: offset for life, offset in placed.items()}, total
    ### END SOLUTION


# %%
check("14.6")

# %% [markdown]
# With your planner, a chain of running sums along alternating dimensions lives in the memory that you give it.

# %%
if passed("14.6"):
    with splice("inductor.assign_offsets", assign_offsets):
        chain = torch.compile(lambda x: x.cumsum(0).cumsum(1).cumsum(0).cumsum(1))
        print(chain(torch.ones(2, 3)))


# %% tags=["wrong"] says="its place is free"
def assign_offsets(lives):
    offsets, end = {}, 0
    for life in lives:
        offsets[life.name] = end
        end += -(-life.nbytes // 64) * 64
    return offsets, end


# %% tags=["wrong"] says="both are alive"
def assign_offsets(lives):
    placed = {}
    for life in sorted(lives, key=lambda life: -life.nbytes):
        offset = 0
        for other in sorted(placed, key=placed.get):
            if other.last <= life.first or life.last <= other.first:
                continue
            if placed[other] - offset >= life.nbytes:
                break
            offset = max(offset, -(-(placed[other] + other.nbytes) // 64) * 64)
        placed[life] = offset
    total = max((-(-(at + life.nbytes) // 64) * 64 for life, at in placed.items()), default=0)
    return {life.name: at for life, at in placed.items()}, total


# %% tags=["wrong"] says="Every offset must be a multiple of 64"
def assign_offsets(lives):
    placed = {}
    for life in sorted(lives, key=lambda life: -life.nbytes):
        offset = 0
        for other in sorted(placed, key=placed.get):
            if other.last < life.first or life.last < other.first:
                continue
            if placed[other] - offset >= life.nbytes:
                break
            offset = max(offset, placed[other] + other.nbytes)
        placed[life] = offset
    total = max((-(-(at + life.nbytes) // 64) * 64 for life, at in placed.items()), default=0)
    return {life.name: at for life, at in placed.items()}, total


# %% tags=["wrong"] says="Whom should you place first"
def assign_offsets(lives):
    placed = {}
    for life in lives:
        offset = 0
        for other in sorted(placed, key=placed.get):
            if other.last < life.first or life.last < other.first:
                continue
            if placed[other] - offset >= life.nbytes:
                break
            offset = max(offset, -(-(placed[other] + other.nbytes) // 64) * 64)
        placed[life] = offset
    total = max((-(-(at + life.nbytes) // 64) * 64 for life, at in placed.items()), default=0)
    return {life.name: at for life, at in placed.items()}, total


# %% tags=["wrong"] says="The total is the end of the highest one"
def assign_offsets(lives):
    placed = {}
    for life in sorted(lives, key=lambda life: -life.nbytes):
        offset = 0
        for other in sorted(placed, key=placed.get):
            if other.last < life.first or life.last < other.first:
                continue
            if placed[other] - offset >= life.nbytes:
                break
            offset = max(offset, -(-(placed[other] + other.nbytes) // 64) * 64)
        placed[life] = offset
    return {life.name: at for life, at in placed.items()}, sum(life.nbytes for life in lives)


# %% [markdown]
# ## 14.7 Which pair first
#
# This is the scheduler's method that says which pairs it should try to fuse, and in which order. `self.nodes` are its nodes. A
# node has `step` (a `Group`, or an extern kernel, which can't be fused), `reads` (buffers), `step.outputs` (buffers), and
# `first`, its place in the program. Return the pairs of groups that touch a common buffer, as tuples with the earlier node
# first. The pair with the most bytes in common comes first in the list; a buffer has `nbytes`.


# %%
def candidates(self):
    """Pairs of nodes worth fusing, those that save most first."""
    ### BEGIN SOLUTION
    groups = sorted((n for n in self.nodes if isinstance(n.step, Group)), key=lambda n: n.first)
    saved = {}
    for first, second in combinations(groups, 2):
        shared = {*first.reads, *first.step.outputs} & {*second.reads, *second.step.outputs}
        if shared:
            saved[first, second] = sum(buffer.nbytes for buffer in shared)
    return sorted(saved, key=lambda pair: -saved[pair])
    ### END SOLUTION


# %%
check("14.7")

# %% [markdown]
# A schedule made with your ranking:

# %%
if passed("14.7"):
    with splice("inductor.candidates", candidates):
        x = torch.ones(64, 64)
        print(torch.compiler.inspect(lambda x: x.softmax(1) - x.mean(1, keepdim=True), x).schedule)


# %% tags=["wrong"] says="They stand side by side, and save as much"
def candidates(self):
    groups = sorted((n for n in self.nodes if isinstance(n.step, Group)), key=lambda n: n.first)
    pairs = [p for p in combinations(groups, 2) if {*p[0].step.outputs} & {*p[1].reads}]
    return sorted(pairs, key=lambda p: -sum(b.nbytes for b in {*p[0].step.outputs} & {*p[1].reads}))


# %% tags=["wrong"] says="The second reads what the first writes"
def candidates(self):
    groups = sorted((n for n in self.nodes if isinstance(n.step, Group)), key=lambda n: n.first)
    pairs = [p for p in combinations(groups, 2) if {*p[0].reads} & {*p[1].reads}]
    return sorted(pairs, key=lambda p: -sum(b.nbytes for b in {*p[0].reads} & {*p[1].reads}))


# %% tags=["wrong"] says="one large buffer counts more"
def candidates(self):
    groups = sorted((n for n in self.nodes if isinstance(n.step, Group)), key=lambda n: n.first)
    saved = {}
    for first, second in combinations(groups, 2):
        shared = {*first.reads, *first.step.outputs} & {*second.reads, *second.step.outputs}
        if shared:
            saved[first, second] = len(shared)
    return sorted(saved, key=lambda pair: -saved[pair])


# %% tags=["wrong"] says="only nodes whose step is a Group"
def candidates(self):
    nodes = sorted(self.nodes, key=lambda n: n.first)
    saved = {}
    for first, second in combinations(nodes, 2):
        shared = {*first.reads, *first.step.outputs} & {*second.reads, *second.step.outputs}
        if shared:
            saved[first, second] = sum(buffer.nbytes for buffer in shared)
    return sorted(saved, key=lambda pair: -saved[pair])


# %% tags=["wrong"] says="so there is nothing to save"
def candidates(self):
    groups = sorted((n for n in self.nodes if isinstance(n.step, Group)), key=lambda n: n.first)
    return list(combinations(groups, 2))


# %% tags=["wrong"] says="The earlier one comes first"
def candidates(self):
    groups = sorted((n for n in self.nodes if isinstance(n.step, Group)), key=lambda n: -n.first)
    saved = {}
    for first, second in combinations(groups, 2):
        shared = {*first.reads, *first.step.outputs} & {*second.reads, *second.step.outputs}
        if shared:
            saved[first, second] = sum(buffer.nbytes for buffer in shared)
    return sorted(saved, key=lambda pair: -saved[pair])


# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("14")

# %%
with own_parts():
    print(torch.compile(lambda x: x.softmax(1) + x.sum(0))(torch.ones(2, 2)))
