"""What random programs are made of: lines of the call sheets, lines between them, and the values of inputs.

>>> POINTWISE[0].format("x0", "v1")
'x0 + v1'
>>> "torch.trunc(f(3, 4))" in sheet_lines()["trunc"]
True
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import ml_dtypes
import numpy as np

from tests.battery.sheet import calls, names_called

# as_strided (and fill_diagonal_, which is made of it) sees memory behind its input, where the plain and the compiled
# program may have other things; what empty gives is anybody's guess; view_as_complex makes a second storage.
WORDS_LEFT_OUT = ("special()", "as_strided", "fill_diagonal", "empty", "view_as_complex")
LAYOUTS = ("contiguous", "contiguous", "transposed", "every second", "offset", "expanded")
ELEMENTS = (
    *("float32",) * 14,
    *("float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool"),
)
SIZES: tuple[tuple[int, ...], ...] = (
    *((), (1,), (4,), (17,), (0,), (3, 4), (1, 4), (3, 1), (5, 5), (2, 0), (9, 33)),
    *((2, 3, 4), (2, 1, 3), (2, 2, 4, 5)),
)

# Lines between the sheets' own: what most programs are made of. Braces are places for values of the program.
POINTWISE = """
{0} + {1}
{0} * {1}
{0} - {1}
torch.maximum({0}, {1})
torch.where({0} > 0.1, {0}, {1})
{0} / (1 + {1}.abs())
torch.atan2({0}, {1}.abs() + 0.5)
torch.addcmul({0}, {1}, {1}, value=0.5)
({0} > {1}) & ({1} < 0.5)
""".strip().splitlines()
UNARY = """
torch.tanh({0})
torch.exp(-{0}.abs())
F.gelu({0})
torch.sin({0})
torch.sigmoid({0})
{0}.relu()
torch.softmax({0}, -1)
{0} - {0}.mean()
torch.cumsum({0}, 0)
{0}.sum(0)
{0}.amax(-1)
{0}.mean(-1, keepdim=True) * {0}
{0}.half().float()
{0}.bfloat16() * 1.5
{0}.double().abs().log1p()
{0}.to(torch.int8)
({0} * 4).to(torch.int32)
{0} > 0
{0}.argmax(-1)
{0}.var(-1)
{0}.float()
torch.sort({0}, -1)
torch.complex({0}, {0} + 1).abs()
F.dropout({0}, 0.3)
torch.rand({0}.shape) + {0}
""".strip().splitlines()
VIEWS = """
{0}.transpose(0, -1)
{0}[..., 1:]
{0}.flip(0)
{0}.unsqueeze(1)
{0}[::2]
{0}.reshape(-1)
torch.cat([{0}, {0}])
{0}.expand(2, *{0}.shape)
{0}.squeeze()
{0}.clone()
{0}.permute(*range({0}.dim())[::-1])
{0}.unfold(0, 2, 1)
{0}.diagonal()
{0}.narrow(-1, 1, 2)
{0}.split(2, 0)
{0}.unbind(0)
{0}.contiguous()
""".strip().splitlines()
WRITES = """
{0}.add_(1)
{0}.mul_(0.5)
{0}[0] = 0.25
{0}[..., 0].add_(0.5)
{0}.copy_({1})
{0}.tanh_()
{0}.reshape(-1)[::2].mul_(0.5)
{0}.fill_(0.75)
{0}.t().sub_(0.5)
{0}.clamp_(-1, 1)
{0}[{0} > 0.5] = 0.25
{0}.masked_fill_({1} > 0, 0.5)
{0}[torch.tensor([0, -1])] = {0}[0] * 2
{0}.index_add_(0, torch.tensor([0, 0]), {0}[:2].clone())
{0}.diagonal().add_(1)
{0}.transpose(0, -1).mul_({0})
{0}[1:].copy_({0}[:-1].clone())
{0}.scatter_(0, torch.zeros_like({0}, dtype=torch.int64), 0.5)
{0}.cumsum_(0)
torch.add({0}, {1}, out={0})
""".strip().splitlines()


@functools.cache
def sheet_lines() -> dict[str, tuple[str, ...]]:
    """The expressions of the call sheets, those that draw random numbers as well, by the names that they call."""
    lines: dict[str, list[str]] = {}
    for call in calls():
        if not any(word in call.text for word in WORDS_LEFT_OUT):
            for name in names_called(call.text):
                lines.setdefault(name, []).append(call.text)
    return {name: tuple(lines[name]) for name in sorted(lines)}


# ------------------------------------------------------------------------------------------ values of inputs


def normal(seed: int, number: int, sizes: tuple[int, ...], element: str) -> np.ndarray:
    """Normal numbers that the dtype named `element` has; those for floats of two bytes are written as float32."""
    values = np.random.default_rng([seed % 2**32, number]).normal(size=sizes)
    if element.startswith(("int", "uint")):
        return np.asarray(np.abs(values * 3) if element == "uint8" else values * 3).astype(element)
    if element == "bool":
        return np.asarray(values > 0.3)
    if element == "complex64":
        return np.asarray(values + 1j * np.flip(values)).astype(element)
    narrow = np.asarray(values).astype(ml_dtypes.bfloat16 if element == "bfloat16" else element)
    return narrow.astype("float64" if element == "float64" else "float32")


def _distinct(seed: int, *sizes: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(math.prod(sizes)).reshape(sizes).astype("float32") * 0.5 - 1


def _square(seed: int, n: int, *batch: int) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=(*batch, n, n)) * 0.5 + 3 * np.eye(n)).astype("float32")


def _integers(seed: int, *sizes: int, high: int = 3, low: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).integers(low, high, sizes))


def _bools(seed: int, *sizes: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).random(sizes) < 0.5)


def _complex(seed: int, *sizes: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.asarray(random.normal(size=sizes) + 1j * random.normal(size=sizes)).astype("complex64")


def _definite(seed: int, n: int, *batch: int) -> np.ndarray:
    a = np.random.default_rng(seed).normal(size=(*batch, n, n))
    return (a @ np.swapaxes(a, -1, -2) + np.diag(np.arange(1.0, n + 1))).astype("float32")


# Words whose numbers matter: always inputs of their own.
FRESH: dict[str, Callable[..., np.ndarray]] = {
    **{"distinct": _distinct, "square": _square, "definite": _definite},
    **{"i": _integers, "b": _bools, "c": _complex},
}
