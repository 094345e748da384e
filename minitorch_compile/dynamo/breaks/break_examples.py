"""For each reason of the catalogue: a program `f` that breaks for it, and what to write instead.

Each program is run with `f(torch.ones(3))`; the tests demand that the first breaks for the very reason, and that the
second, where there is one, is captured whole. `docs/graph_breaks.md` is made from them.

>>> print(EXAMPLES["data-dependent-jump"].mended, end="")
def f(x):
    return torch.where(x.sum() > 0, x, -x)
"""

from __future__ import annotations

from typing import NamedTuple

SETUP = "import torch\n"


class Example(NamedTuple):
    """Two programs; `mended` is empty where nothing needs to be mended."""

    breaks: str
    mended: str = ""


EXAMPLES: dict[str, Example] = {
    "unsupported-call": Example(
        """\
import zlib


def f(x):
    checksum = zlib.crc32(b"a name")
    return x * checksum
""",
        """\
import zlib

CHECKSUM = zlib.crc32(b"a name")


def f(x):
    return x * CHECKSUM
""",
    ),
    "explicit-break": Example(
        """\
def f(x):
    y = x * 2
    torch.compiler.graph_break()
    return y + 1
""",
        """\
def f(x):
    y = x * 2
    return y + 1
""",
    ),
    "input-output": Example(
        """\
def f(x):
    y = x.exp()
    print("exp done")
    return y.sum()
""",
        """\
def f(x):
    if not torch.compiler.is_compiling():
        print("runs plainly")
    return x.exp().sum()
""",
    ),
    "disabled-function": Example(
        """\
@torch.compiler.disable
def statistics(x):
    return float(x.mean()), float(x.std())


def f(x):
    mean, deviation = statistics(x)
    return (x - mean) / deviation
""",
        """\
def f(x):
    return (x - x.mean()) / x.std()
""",
    ),
    "data-dependent-jump": Example(
        """\
def f(x):
    if x.sum() > 0:
        return x
    return -x
""",
        """\
def f(x):
    return torch.where(x.sum() > 0, x, -x)
""",
    ),
    "generator-frame": Example(
        """\
async def double(x):
    return x * 2


def f(x):
    y = x + 1
    double(y).close()
    return y
""",
        """\
def double(x):
    return x * 2


def f(x):
    return double(x + 1)
""",
    ),
    "data-dependent-value": Example(
        """\
def f(x):
    return x * 2 if 3 in x else x
""",
        """\
def f(x):
    return torch.where((x == 3).any(), x * 2, x)
""",
    ),
    "unsupported-tensor-access": Example(
        """\
def f(x):
    return x * x.untyped_storage().nbytes()
""",
        """\
def f(x):
    return x * (x.numel() * x.element_size())
""",
    ),
    "unsupported-store": Example(
        """\
def f(x):
    f.calls = 1
    x.requires_grad = True
    return x * 2
""",
        """\
def f(x):
    return x * 2
""",
    ),
    "unsupported-object": Example(
        """\
import array

counts = array.array("i", [1, 2, 3])


def f(x):
    return x * counts[0]
""",
        """\
import array

counts = list(array.array("i", [1, 2, 3]))


def f(x):
    return x * counts[0]
""",
    ),
    "raised-exception": Example(
        """\
def f(x):
    factors = []
    return x * max(factors)
""",
        """\
def f(x):
    factors = []
    return x * max(factors, default=1)
""",
    ),
    "autograd-call": Example(
        """\
def f(x):
    weight = torch.ones(3, requires_grad=True)
    (x * weight).sum().backward()
    return weight.grad
""",
        """\
weight = torch.ones(3, requires_grad=True)  # a leaf from outside


def f(x):
    (x * weight).sum().backward()
    return weight.grad
""",
    ),
    "data-dependent-shape": Example(
        """\
def f(x):
    return torch.nn.functional.one_hot(x.long())
""",
        """\
def f(x):
    return torch.nn.functional.one_hot(x.long(), num_classes=10)
""",
    ),
    "aliased-inputs-mutated": Example(
        """\
whole = torch.ones(4)
part = whole[1:]


def f(x):
    whole.add_(1)
    return part * x
""",
        """\
whole = torch.ones(4)


def f(x):
    whole.add_(1)
    return whole[1:] * x
""",
    ),
    "outside-state": Example(
        """\
import time


def f(x):
    return x * time.time()
""",
        """\
def f(x):
    return x * torch.rand(1)
""",
    ),
    "recursion-limit": Example(
        """\
def total(x, depth):
    return x if depth == 0 else total(x, depth - 1) + 1


def f(x):
    return total(x, 400)
""",
        """\
def f(x):
    for _ in range(400):
        x = x + 1
    return x
""",
    ),
    "unrebuildable-value": Example(
        """\
def f(x):
    numbers = iter({1, 2, 3})
    first = next(numbers)
    return x * first, numbers
""",
        """\
def f(x):
    first, *numbers = [1, 2, 3]
    return x * first, numbers
""",
    ),
    "wrong-arguments": Example(
        """\
def f(x):
    return x * sorted([2, 1], keys=abs)[0]
""",
        """\
def f(x):
    return x * sorted([2, 1], key=abs)[0]
""",
    ),
    "missing-rule": Example(
        """\
def f(x):
    whole = x.to(torch.int64)
    return torch.lerp(whole, whole, 0.5)
""",
        """\
def f(x):
    return torch.lerp(x, x, 0.5)
""",
    ),
    "unsupported-syntax": Example(
        """\
def f(x):
    try:
        raise ExceptionGroup("several", [ValueError()])
    except* ValueError:
        x = x * 2
    return x
""",
        """\
def f(x):
    try:
        raise ValueError()
    except ValueError:
        x = x * 2
    return x
""",
    ),
    "metaclass-or-descriptor": Example(
        """\
class Counted(type):
    def __call__(cls):
        return super().__call__()


class Scale(metaclass=Counted):
    by = 2


def f(x):
    return x * Scale().by
""",
        """\
class Scale:
    by = 2


def f(x):
    return x * Scale().by
""",
    ),
}
