"""Lesson 05. A size that is another one at each call: the batch, s0, in formulas like 64 * s0.

Any operation on it has an answer: for all batches from 2 on; or as it is now, and then a guard says so.

>>> said = []
>>> size = Size(Batch(7, lambda text, holds: said.append(text)))
>>> size * 64, size * 64 // 8, size * 64 % 8, size + size - 1, size > 1
(64*s0, 8*s0, 0, (2*s0 - 1), True)
>>> size < 10, list(range(size)), said
(True, [0, 1, 2, 3, 4, 5, 6], ['(s0 < 10) is True', 's0 == 7'])
"""

import operator
from collections import namedtuple

from mini.tensor import Layout, fake  # noqa: F401

Batch = namedtuple("Batch", "now require")  # how many while tracing; require(text, holds): of how many at a later call


# %% 05.10 formulas, and their numbers at a call
def product(a, b, c, d):
    """(a * s0 + b) * (c * s0 + d) as the pair of its factor and its number; None: it is no such formula."""
    return None if a and c else (a * d + b * c, b * d)


def quotient(a, b, c, d):
    """(a * s0 + b) // (c * s0 + d), if what it leaves is 0 or more, and less than the divisor, for all s0 from 2 on; else None.

    >>> quotient(64, 9, 0, 8), quotient(0, 3, 4, 0), quotient(64, 0, 1, 0), quotient(1, 0, 0, 2)
    ((8, 1), (0, 0), (0, 64), None)
    """
    times, plus = (0, a // c) if c else (a // d, b // d)
    left, rest = a - times * d - plus * c, b - plus * d
    return (times, plus) if 0 <= left <= c and 0 <= 2 * left + rest < 2 * c + d else None


def remainder(a, b, c, d):
    """What is left of that division; None if there is no quotient."""
    found = quotient(a, b, c, d)
    return found and (a - found[0] * d - found[1] * c, b - found[1] * d)


def batch_of(fakes, tensors):
    """The batch of a call with these tensors: what stands where a fake has a formula. None if none has one.

    >>> size = Size(Batch(7, None))
    >>> batch_of([fake((3, 4)), fake((4, size * 2))], [fake((3, 4)), fake((4, 10))])
    5
    """
    places = ((x.sizes[d], tensor, d) for x, tensor in zip(fakes, tensors, strict=True) for d in range(len(x.sizes)))
    return next(((tensor.sizes[d] - n.plus) // n.times for n, tensor, d in places if isinstance(n, Size)), None)


def at(value, batch):
    """A size, or a tuple or layout of sizes, in the numbers of a call; anything else is as it is.

    >>> at((Size(Batch(7, None)) * 2, 3), 5)
    (10, 3)
    """
    if batch is None:
        return value
    if isinstance(value, Size):
        return value.times * batch + value.plus
    if isinstance(value, Layout):
        return Layout(at(value.sizes, batch), at(value.strides, batch), at(value.offset, batch))
    return tuple([at(part, batch) for part in value]) if isinstance(value, tuple) else value


# %% 05.11 a size
def terms(value):
    """The factor of s0, and the number, of a size or of a plain number."""
    return (value.times, value.plus) if isinstance(value, Size) else (0, value)


class Size:
    """times * s0 + plus, with s0 from 2 on."""

    def __init__(self, batch, times=1, plus=0):
        self.batch, self.times, self.plus = batch, times, plus

    def calculate(self, name, x, y):
        """x + y, say, of which one is this size: a formula, or a number where it does not depend on the batch."""
        if not (isinstance(x, NUMBERS) and isinstance(y, NUMBERS)):
            return NotImplemented
        found = None if float in (type(x), type(y)) else EXACT[name](*terms(x), *terms(y))
        if found is None:
            return getattr(operator, name)(*[operator.index(v) if isinstance(v, Size) else v for v in (x, y)])
        return Size(self.batch, *found) if found[0] else found[1]

    def compare(self, name, other):
        """Known if their difference is on one side of 0 at 2, and goes on to that side."""
        if not isinstance(other, NUMBERS):
            return NotImplemented
        ask, (times, plus) = getattr(operator, name), terms(self - other)
        if times == 0 or times * (2 * times + plus) > 0:
            return ask(2 * times + plus, 0)
        answer = ask(times * self.batch.now + plus, 0)
        text = f"({self} {SIGNS[name]} {other}) is {answer}"
        self.batch.require(text, lambda now: ask(times * now + plus, 0) == answer)
        return answer

    def __index__(self):
        """What can't be said of all batches is said of this one."""
        now = self.batch.now
        self.batch.require(f"s0 == {now}", lambda later: later == now)
        return self.times * now + self.plus

    # %% given
    def __repr__(self):
        text = "s0" if self.times == 1 else f"{self.times}*s0"
        return f"({text} {'-' if self.plus < 0 else '+'} {abs(self.plus)})" if self.plus else text


NUMBERS = int, float, Size
EXACT = {"add": lambda a, b, c, d: (a + c, b + d), "sub": lambda a, b, c, d: (a - c, b - d), "mul": product}
EXACT |= {"floordiv": quotient, "mod": remainder} | dict.fromkeys(("truediv", "pow"), lambda a, b, c, d: None)
SIGNS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}
Size.__neg__, Size.__bool__, Size.__hash__ = lambda x: 0 - x, lambda x: x != 0, lambda x: hash(operator.index(x))
for name in EXACT:
    setattr(Size, f"__{name}__", lambda x, y, name=name: x.calculate(name, x, y))
    setattr(Size, f"__r{name}__", lambda x, y, name=name: x.calculate(name, y, x))
for name in SIGNS:
    setattr(Size, f"__{name}__", lambda x, y, name=name: x.compare(name, y))
