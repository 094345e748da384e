"""Lesson 14. Loops over the same rows become one: what one stage has just made, the next one still has.

>>> graph = decompose(trace(lambda x: (x + 1).softmax(1), fake((8, 100))))
>>> for group in fuse(Lowering(graph)): print(group)
rows (8,): amax buf0 | sum buf1 | buf2
"""

from mini.index import Index, flatten, split
from mini.loops import Call, Loop, Lowering, Reads, decompose, fake, numel, trace  # noqa: F401


class Stage:
    """Loops that run side by side over the inside of a row."""

    def __init__(self, inner, loops):
        self.inner, self.loops = inner, loops

    def __str__(self):
        return ", ".join(f"{loop.reduction or ''} {loop.buffer.name}".strip() for loop in self.loops)


class Group:
    """What becomes one kernel: for each of the rows, stage after stage."""

    def __init__(self, rows):
        self.rows, self.stages = tuple(rows), []

    def __str__(self):
        return f"rows {self.rows}: {' | '.join(map(str, self.stages))}"

    @property
    def loops(self):
        return [loop for stage in self.stages for loop in stage.loops]

    def index(self, loop):
        """The loop's variables: i0, i1, ... for the row, j0, ... inside of it."""
        sizes = loop.sizes + loop.reduced
        names = [f"i{d}" if d < len(self.rows) else f"j{d - len(self.rows)}" for d in range(len(sizes))]
        return tuple(Index() if n == 1 else Index.variable(name, n) for name, n in zip(names, sizes, strict=True))

    def reads(self, loop):
        h = Reads()
        loop.body(h, self.index(loop))
        return h.found

    def add(self, loop):
        """Put the loop into a stage; False if it can't be here at all: it reads what other rows make."""
        rows, inner = self.rows, (loop.sizes + loop.reduced)[len(self.rows) :]
        if loop.sizes[: len(rows)] != rows or (loop.reduction and loop.sizes != rows):
            return False
        first = 0  # the first stage where it may be
        for buffer, read in self.reads(loop):
            for at, stage in enumerate(self.stages):
                for made in stage.loops:
                    if made.buffer is buffer:
                        row = flatten(self.index(made)[: len(rows)], rows)
                        inside = read - row * (numel(buffer.sizes) // max(numel(rows), 1))
                        if not self.within_a_row(inside, numel(buffer.sizes) // max(numel(rows), 1)):
                            return False
                        same = not made.reduction and read == flatten(self.index(made), made.sizes)
                        first = max(first, at if same and stage.inner == inner else at + 1)
        for stage in self.stages[first:]:
            if stage.inner == inner:
                stage.loops.append(loop)
                return True
        self.stages.append(Stage(inner, [loop]))
        return True

    def within_a_row(self, inside, size):
        low, high = inside.bounds()
        return 0 <= low and high < size and not any(f"i{d}" in str(inside) for d in range(len(self.rows)))


def fuse(lowering):
    """Greedy: each step joins the last group that it can join, if it needs nothing made after that one."""
    groups = []
    for step in lowering.steps:
        if isinstance(step, Call) or not joined(groups, step):
            groups.append(step if isinstance(step, Call) else alone(step))
    return [flat(group) if isinstance(group, Group) else group for group in groups]


def alone(loop):
    group = Group(loop.sizes)
    group.add(loop)
    return group


def joined(groups, loop):
    needed = {buffer for buffer, _ in loop.reads()}
    for at in reversed(range(len(groups))):
        group = groups[at]
        if isinstance(group, Group):
            for rows in (group.rows, loop.sizes):
                wider = regrouped(group, rows)
                if wider and wider.add(loop):
                    groups[at] = wider
                    return True
        made = {step.buffer for step in (group.loops if isinstance(group, Group) else [group])}
        if needed & made:
            return False
    return False


def regrouped(group, rows):
    """The same loops, grouped by other rows, if they can be: a row of (8,) has all of (8, 100) inside."""
    result = Group(rows)
    return result if all(result.add(loop) for loop in group.loops) else None


def flat(group):
    """Element-wise work in memory's order needs one loop only, however many dimensions there were."""
    if any(loop.reduction for loop in group.loops) or len(group.stages) > 1:
        return group
    count, loops = numel(group.rows), []
    for loop in group.loops:

        def body(h, index, loop=loop):
            return loop.body(h, split(index[0], loop.sizes))

        loops.append(Loop(loop.buffer, (count,), body))
    one = Group((count,))
    simple = all(one.add(loop) for loop in loops) and not any(
        "/" in str(i) or "%" in str(i) for loop in loops for _, i in one.reads(loop)
    )
    if simple or len(group.rows) < 2:
        return one
    last = regrouped(group, group.rows[:-1])
    return last or group
