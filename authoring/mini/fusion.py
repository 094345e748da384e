"""Lesson 14. Loops over the same rows become one: what one stage has just made, the next one still has.

>>> graph = decompose(trace(lambda x: (x + 1).softmax(1), fake((8, 100))))
>>> for group in fuse(Lowering(graph)): print(group)
rows (8,): amax buf0 | sum buf1 | buf2
"""

from mini.loops import Call, Loop, Lowering, decompose, fake, flatten, split, trace, variables  # noqa: F401
from mini.tensor import numel


def same(sizes, others):
    """What reads the same is the same; a size that depends on the batch is not asked what it is now."""
    return str(sizes) == str(others)


# %% 14.5 stages and groups
class Stage:
    """Loops that run side by side over the inside of a row."""

    def __init__(self, inner, loops):
        self.inner, self.loops = inner, loops

    def __str__(self):
        return ", ".join(f"{loop.reduction or ''} {loop.buffer.name}".strip() for loop in self.loops)


class Group:
    """What becomes one kernel: for each of the rows, stage after stage."""

    loops = property(lambda self: [loop for stage in self.stages for loop in stage.loops])

    def __init__(self, rows):
        self.rows, self.stages = tuple(rows), []

    def __str__(self):
        return f"rows {self.rows}: {' | '.join(map(str, self.stages))}"

    # %% 14.6 how early a loop may run
    def stage_after(self, read, at, made, inner):
        """The first stage that may read this element of what a loop of stage `at` made; None if no stage may."""
        size = numel(made.sizes) // max(numel(self.rows), 1)  # what a row has of it
        row = flatten(variables("i", self.rows), self.rows)
        if not (read - row * size).within(size):
            return None  # another row makes it, perhaps later
        itself = not made.reduction and read == flatten(made.index(self.rows), made.sizes)
        return at if itself and same(self.stages[at].inner, inner) else at + 1

    def first_stage(self, loop, inner):
        """The first one where all that the loop reads is there; None if that is nowhere in this group."""
        makers = {made.buffer: (at, made) for at, stage in enumerate(self.stages) for made in stage.loops}
        reads = [(buffer, index) for buffer, index in loop.reads(self.rows) if buffer in makers]
        stages = [self.stage_after(index, *makers[buffer], inner) for buffer, index in reads]
        return None if None in stages else max(stages, default=0)

    # %% 14.7 a loop joins
    def add(self, loop):
        """Put the loop into a stage, or into a new one; False if it can't be here at all."""
        rows, inner = self.rows, (loop.sizes + loop.reduced)[len(self.rows) :]
        if not same(loop.sizes[: len(rows)], rows) or (loop.reduction and not same(loop.sizes, rows)):
            return False
        first = self.first_stage(loop, inner)
        if first is None:
            return False
        for stage in self.stages[first:]:
            if same(stage.inner, inner):
                stage.loops.append(loop)
                return True
        self.stages.append(Stage(inner, [loop]))
        return True

    def regrouped(self, rows):
        """The same loops by other rows: a row of (8,) has a row of (8, 100) inside. None if that can't be."""
        result = Group(rows)
        return result if all(result.add(loop) for loop in self.loops) else None


# %% 14.8 the greedy loop
def fuse(lowering):
    """Each step joins the last group that it can join, if it needs nothing made after that one."""
    groups = []
    for step in lowering.steps:
        if isinstance(step, Call):
            groups.append(step)
        elif not joined(groups, step):
            groups.append(Group(step.sizes))
            groups[-1].add(step)
    return [in_one_loop(group) if isinstance(group, Group) else group for group in groups]


def joined(groups, loop):
    """Whether a group, from the last one on, took the loop: by its own rows, or by the loop's."""
    needed = {buffer for buffer, _ in loop.reads()}
    for at in reversed(range(len(groups))):
        group = groups[at]
        for rows in (group.rows, loop.sizes) if isinstance(group, Group) else ():
            wider = group.regrouped(rows)
            if wider and wider.add(loop):
                groups[at] = wider
                return True
        made = group.loops if isinstance(group, Group) else [group]
        if any(step.buffer in needed for step in made):
            return False
    return False


# %% 14.9 one loop for many dimensions
def in_one_loop(group):
    """Work in the order of memory needs one loop, however many dimensions there are; other work by rows, if it can."""
    if any(loop.reduction for loop in group.loops) or len(group.stages) > 1 or len(group.rows) < 2:
        return group
    one, loops = Group((numel(group.rows),)), [flat(loop) for loop in group.loops]
    if all(index.is_affine for loop in loops for _, index in loop.reads()) and all(map(one.add, loops)):
        return one
    return group.regrouped(group.rows[:-1]) or group


def flat(loop):
    """The same loop over positions: its index is split off them."""
    return Loop(loop.buffer, (numel(loop.sizes),), lambda h, index: loop.body(h, split(index[0], loop.sizes)))
