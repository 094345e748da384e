"""What the random programs live in: classes, globals, functions that they call, and the ways in which they are called.

The text of `WORLD` stands above every program; each run gets a fresh one. A program is the body of `f`, which sits
inside `make`, so that it has a closure as well as globals, defaults and star-arguments.
"""

WORLD = '''
import collections
import contextlib
import math
import random
import sys
import warnings
import weakref

import minitorch_compile as torch
from minitorch_compile import dynamo, nn


class Box:
    """Attributes, a property, operators, a length."""

    kind = "box"
    shared = []

    def __init__(self, a, n=0):
        self.a = a
        self.n = n
        self.log = []

    def bump(self, by=1):
        self.n += by
        self.log.append(self.n)
        return self.a * self.n

    @property
    def twice(self):
        return self.a * 2

    @twice.setter
    def twice(self, value):
        self.log.append("set")
        self.a = value / 2

    @classmethod
    def count(cls, by):
        cls.shared.append(by)
        return len(cls.shared)

    @staticmethod
    def half(q):
        return q / 2

    def __add__(self, other):
        return Box(self.a + (other.a if isinstance(other, Box) else other), self.n + 1)

    def __radd__(self, other):
        self.log.append("radd")
        return other + self.a

    def __iadd__(self, other):
        self.n += 1
        self.log.append(other)
        return self

    def __len__(self):
        return len(self.log)

    def __getitem__(self, index):
        self.n += 10
        return self.log[index]

    def __setitem__(self, index, value):
        self.log[index] = value
        self.n -= 1

    def __contains__(self, item):
        return item in self.log

    def __call__(self, q, *rest, **named):
        self.log.append(len(rest) + len(named))
        return q + self.n


class Loud(Box):
    """Derived: calls its base class by super(), prints when it is changed."""

    kind = "loud"

    def bump(self, by=1):
        print("bump", by)
        return super().bump(by + 1)

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "n":
            history.append(name)


class Slim:
    """Slots."""

    __slots__ = ("a", "n", "late", "__weakref__")

    def __init__(self, a, n=0):
        self.a = a
        self.n = n


class Asking:
    """Answers for attributes that it does not have; equal to all of its kind."""

    def __init__(self, n=0):
        self.n = n
        self.asked = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.asked.append(name)
        return len(name)

    def __eq__(self, other):
        return isinstance(other, Asking)

    def __hash__(self):
        return 7


class Guarded:
    """A context manager; swallows ValueError if it was told to."""

    def __init__(self, log, quiet=False):
        self.log = log
        self.quiet = quiet

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, cls, error, traceback):
        self.log.append("exit" if cls is None else cls.__name__)
        return self.quiet and cls is ValueError


class Mistake(Exception):
    def __init__(self, what, how=1):
        super().__init__(what)
        self.how = how


class Dying:
    """Notes its end."""

    def __init__(self, log):
        self.log = log

    def __del__(self):
        history.append("gone")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.fc = nn.Linear(2, 2)
        self.drop = nn.Dropout(0.5)
        self.calls = 0
        self.register_buffer("seen", torch.zeros(2))

    def forward(self, x, scale=1):
        self.calls += 1
        self.seen += x.detach().sum(0)
        self.last = x.shape[0]
        return self.norm(self.drop(self.fc(x)) * scale)


history = []
counter = 0
rate = 0.25
table = {"k": 1, "lr": 0.5}
limit = torch.full((2, 2), 0.5)
net = Net()


def helper(t, k=2, *rest, scale=1.0, **named):
    out = t * k + scale
    for r in rest:
        out = out + r
    for key in named:
        out = out - named[key]
    return out


def collect(item, into=[], *, index={}):
    """Mutable defaults."""
    into.append(item)
    index[len(into)] = item
    return into


def noisy(t):
    print("noisy")
    history.append("noisy")
    return t + 1


def numbers(t, n):
    """A generator with a finally."""
    try:
        for i in range(n):
            got = yield t + i
            if got is not None:
                history.append(got)
    finally:
        history.append("closed")
    return n


def delegating(t, n):
    done = yield from numbers(t, n)
    history.append(done)


@contextlib.contextmanager
def scope(log):
    log.append("in")
    try:
        yield log
    except KeyError:
        log.append("swallowed")
    finally:
        log.append("out")


def counted(function):
    """A decorator."""

    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


@counted
def decorated(q, by=1):
    return q * by + decorated.calls


def fails_after(log, t):
    log.append(t)
    raise Mistake("half", how=2)
'''

# The variable in which a program lists what changes before each of its calls. `CLASS_WORLD` stands above it.
BETWEEN = "CHANGES_BEFORE"

# The head of every program. `late` is a mutable default, `cell` and `kept` are variables of the closure.
HEAD = """
def make():
    cell = 0
    kept = []

    def f(x, y, n, items, box, opts, *rest, late=[], **named):
        global counter, rate
        nonlocal cell
"""
TAIL = """
    def peek():
        return cell, kept

    return f, peek


f, peek = make()
"""

# Ways to call: everything separate; the same object under several names; views of one another; objects that are also
# reachable as globals; gradients wanted; arguments that are equal but distinct.
CALLS = (
    'torch.rand(2, 2), torch.rand(2, 2), 2, [1, 2], Box(torch.ones(2, 2)), {"k": 1}',
    '(lambda t, l: (t, t, 0, l, Box(t, 3), {"k": l, "a": t}))(torch.rand(2, 2), [5])',
    "torch.rand(2, 2), torch.rand(2, 2, requires_grad=True), 1, history, Box(torch.rand(2, 2)), table",
    "(lambda t: (t, t.t(), 3, [t], Loud(t[0:1].expand(2, 2).clone()), {'k': t, 'v': t.view(4)}))(torch.rand(2, 2))",
    "(lambda b, l: (torch.rand(2, 2), b.a, 1, b.log, b, {'k': b, 'l': b.log}))(Box(torch.rand(2, 2), 2), [])",
    "torch.rand(2, 2, requires_grad=True), torch.rand(2, 2, requires_grad=True) * 2, 2, [], "
    "Box(torch.rand(2, 2, requires_grad=True)), collections.OrderedDict(k=2, a=1)",
    "(lambda t: (t[:, 1:].expand(2, 2).clone().t(), t.t(), 4, [1, 1], Box(limit), "
    "collections.defaultdict(list, k=[t])))(torch.rand(2, 2))",
    "(lambda a: (torch.rand(2, 2), torch.rand(2, 2), 2, [Asking(), Asking(1)], Box(a), {'k': Asking(), (1, 2): a}))"
    "(torch.rand(2, 2).double().float())",
    "torch.rand(3, 2), torch.rand(3, 2), 0, [torch.rand(3, 2)], Box(torch.ones(3, 2), 1), {}",
)

# Calls of programs with `CLASS_WORLD`.
CLASS_CALLS = (
    "torch.rand(2, 2), torch.rand(2, 2), 2, [1, 2], Made(torch.ones(2, 2), 1), Counting(k=1)",
    "torch.rand(2, 2), torch.rand(2, 2, requires_grad=True), 1, Logged([1, 2]), Derived(torch.rand(2, 2)), {'k': 1}",
    "(lambda t: (t, t[:, :], 3, [t], Narrow(t, 2), Ordered(k=t, b=2)))(torch.rand(2, 2))",
    "torch.rand(3, 2)[1:], torch.rand(2, 2).t(), 2, lib.names, Point(torch.rand(2, 2), 1), Defaults(list, k=[1])",
    "torch.rand(2, 2), torch.rand(2, 2), Number(2), history, Lazy(torch.rand(2, 2)), Made.cache",
    "torch.rand(2, 2), torch.rand(2, 2), 1, [Colour.RED, 2], Square(torch.rand(2, 2)), Tally('kab')",
    "torch.rand(2, 2, dtype=torch.float64), torch.rand(2, 2), True, [], Box(torch.rand(2, 2)), {Colour.RED: 1, 'k': 2}",
)
