"""A generator that the traced program has begun, made again as a real one.

A generator is a suspended frame. The one made here begins with a prefix that puts the frame together, then yields where
the program had yielded; the caller takes that first item and throws it away.

>>> from minitorch_compile.dynamo.testing import generated
>>> def countdown(n):
...     while n:
...         yield n
...         n = n - 1
>>> def f(log):
...     numbers = countdown(3)
...     log.append(next(numbers))
...     return numbers
>>> print(generated(f, []))
generator_0 = countdown(3)
next(generator_0)
log.append(3)
return generator_0
>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> program = decode(countdown.__code__)
>>> after_yield = 1 + [inst.opname for inst in program.instructions].index("YIELD_VALUE")
>>> resumed = make_resumed_generator(program, after_yield, started=True, stack_size=0, slots={"n"})
>>> again = resumed.function({})(3)
>>> next(again), list(again)
(None, [2, 1])
"""

from __future__ import annotations

from collections.abc import Collection, Hashable

from minitorch_compile.dynamo.bytecode.instructions import Program
from minitorch_compile.dynamo.resuming.resume import ResumeCode, assembled
from minitorch_compile.dynamo.resuming.resume_prefix import Prefix

_made: dict[Hashable, ResumeCode] = {}


def make_resumed_generator(
    program: Program,
    index: int,
    *,
    started: bool,
    stack_size: int,
    nulls: Collection[int] = (),
    slots: Collection[str] = (),
    cells: Collection[str] = (),
) -> ResumeCode:
    """The code of a generator function that goes on in `program` at `index`, which is behind a `yield` if `started`,
    otherwise at the beginning. The parameters are those of `make_resume_code`."""
    key = id(program), index, stack_size, frozenset(nulls), frozenset(slots), frozenset(cells)
    if key not in _made:
        prefix = Prefix(program, index)
        prefix.become_generator()
        prefix.take_cells(cells)
        prefix.push_stack(stack_size, nulls)
        prefix.wait() if started else prefix.start()
        _made[key] = assembled(prefix, slots, cells, program.code.co_name)
    return _made[key]
