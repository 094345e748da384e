"""Grows random programs out of the lines of the call sheets.

A line such as `torch.softmax(f(3, 4), dim=1)` says what sizes an op wants. In a program the word `f(3, 4)` is replaced
by something of these sizes that is made of earlier values: a view of one, a part of one, one expanded or repeated. So
every op of the table meets every other one, in front of it and behind it, over views of all kinds.

The program is run while it grows, in float32 and in float64. A line that raises, or whose results the two precisions
disagree about (huge values, a comparison decided by rounding), is not taken.
"""

from __future__ import annotations

import ast
import functools
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import minitorch_compile as torch
from tests.battery.sheet import calls
from tests.inductor.fuzz.programs import SCOPE, Input, Program, names_read, names_stored

# as_strided sees memory behind its input, where the plain and the compiled program may have other things.
WORDS_LEFT_OUT = ("special", "as_strided")
LEFT_OUT = {"complex", "creation", "linalg", "recurrent"}  # sheets whose lines are not kernels' work
LAYOUTS = ("contiguous", "contiguous", "transposed", "every second", "offset", "expanded")
SIZES: tuple[tuple[int, ...], ...] = (
    *((), (1,), (4,), (17,), (0,), (3, 4), (1, 4), (3, 1), (5, 5), (2, 0), (9, 33)),
    *((2, 3, 4), (2, 1, 3), (2, 2, 4, 5)),
)
LARGEST_VALUE, MOST_ELEMENTS, AGREEMENT = 40.0, 3000, 1e-3

# Lines between the sheets' own: what most programs are made of. Braces are places for values of the program.
POINTWISE = """
{0} + {1}
{0} * {1}
{0} - {1}
torch.maximum({0}, {1})
torch.where({0} > 0.1, {0}, {1})
{0} / (1 + {1}.abs())
torch.atan2({0}, {1}.abs() + 0.5)
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
""".strip().splitlines()


@functools.cache
def sheet_lines() -> tuple[str, ...]:
    """The expressions of the call sheets that compute something from tensors."""
    return tuple(
        c.text
        for c in calls()
        if c.sheet not in LEFT_OUT and not c.random and not any(word in c.text for word in WORDS_LEFT_OUT)
    )


def grow(seed: int) -> Program:
    """The program of a seed: up to nine lines, up to six results."""
    return Grower(seed).grow()


class Rejected(Exception):
    """A line that is not taken."""


class Grower:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.program = Program(seed=seed, gradients=self.random.random() < 0.5, dynamic=self.random.random() < 0.2)
        self.plain: dict[str, Any] = dict(SCOPE)
        self.exact: dict[str, Any] = dict(SCOPE)
        self.count = 0
        self.new_input(self.random.choice(SIZES))

    def grow(self) -> Program:
        wanted = self.random.randint(2, 9)
        for _ in range(4 * wanted):
            if len(self.program.lines) >= wanted:
                break
            kind = self.random.choices(
                (self.from_a_sheet, self.pointwise, self.unary, self.view, self.write), (8, 3, 3, 2, 1)
            )[0]
            kind()
        self.choose_outputs()
        return self.program

    def choose_outputs(self) -> None:
        made = [name for line in self.program.lines for name in sorted(names_stored(line))]
        read = {name for line in self.program.lines for name in names_read(line)}
        ends = [name for name in dict.fromkeys(made) if name not in read]
        others = [name for name in dict.fromkeys(made) if name in read]
        self.program.outputs = [*ends, *self.random.sample(others, min(1, len(others)))][:6]
        self.program = self.program.without_unused()

    # ------------------------------------------------------------------------------------------ kinds of lines

    def from_a_sheet(self) -> None:
        """An expression of the sheets, over values of this program."""
        text = self.random.choice(sheet_lines())
        self.attempt(ast.unparse(_Words(self).visit(ast.parse(text, mode="eval"))))

    def pointwise(self) -> None:
        a = self.pick()
        self.attempt(self.random.choice(POINTWISE).format(a, self.of_sizes(tuple(self.plain[a].shape))))

    def unary(self) -> None:
        self.attempt(self.random.choice(UNARY).format(self.pick()))

    def view(self) -> None:
        self.attempt(self.random.choice(VIEWS).format(self.pick()))

    def write(self) -> None:
        a = self.pick()
        text = self.random.choice(WRITES).format(a, self.of_sizes(tuple(self.plain[a].shape)))
        self.attempt(text, stores=False)

    def attempt(self, expression: str, stores: bool = True) -> None:
        try:
            self.take(f"{self.name()} = {expression}" if stores else expression)
        except Rejected:
            return

    # ------------------------------------------------------------------------------------------ taking a line

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def take(self, line: str) -> None:
        """Runs the line in both precisions and adds it. Rejected if it fails or its results are not tame."""
        try:
            self.run(line)
            values = self._new_values(line)
        except Exception as reason:  # most lines fit only some values
            self.start_again()
            raise Rejected(line) from reason
        self.program.lines.append(line)
        if len(values) > 1:  # a tuple of results: each by a name of its own
            (target,) = names_stored(line)
            for place in range(len(values)):
                self.take(f"{self.name()} = {target}[{place}]")
            self.plain.pop(target), self.exact.pop(target)

    def run(self, line: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for scope in (self.plain, self.exact):
                torch.manual_seed(self.program.seed)
                exec(line, scope)

    def start_again(self) -> None:
        """All lines so far once more: the one that failed may have written before it did."""
        for scope, real in ((self.plain, "float32"), (self.exact, "float64")):
            scope.clear()
            scope.update(SCOPE)
            for name, spec in self.program.inputs.items():
                scope[name] = self._argument(spec, real)
        for line in self.program.lines:
            self.run(line)

    def _argument(self, spec: Input, real: str) -> Any:
        tensor = spec.tensor(real)
        return tensor.requires_grad_(self.program.gradients and tensor.is_floating_point())

    def _new_values(self, line: str) -> list[Any]:
        stored = names_stored(line)
        if not stored:
            written = [x for x in names_read(line) if isinstance(self.plain.get(x), torch.Tensor)]
            for name in written:
                _check_tame(self.plain[name], self.exact[name])
            return []
        (name,) = stored
        plain, exact = self.plain[name], self.exact[name]
        if isinstance(plain, torch.Tensor):
            _check_tame(plain, exact)
            return [plain]
        if not isinstance(plain, tuple | list) or not plain or not all(isinstance(x, torch.Tensor) for x in plain):
            raise Rejected("no tensors")
        for a, b in zip(plain, exact, strict=True):
            _check_tame(a, b)
        return list(plain) if len(plain) > 1 else [plain, plain]

    # ------------------------------------------------------------------------------------------ values of some sizes

    def pick(self) -> str:
        """The name of a real value; later ones more often."""
        names = [n for n, x in self.plain.items() if isinstance(x, torch.Tensor) and x.is_floating_point()]
        return self.random.choices(names, range(1, len(names) + 1))[0]

    def new_input(self, sizes: tuple[int, ...], values: np.ndarray | None = None) -> str:
        name = f"x{len(self.program.inputs)}"
        generator = np.random.default_rng([self.program.seed % 2**32, len(self.program.inputs)])
        if values is None:
            values = generator.normal(size=sizes).astype("float32")
        spec = self.program.inputs[name] = Input(np.asarray(values), self.random.choice(LAYOUTS))
        self.plain[name], self.exact[name] = self._argument(spec, "float32"), self._argument(spec, "float64")
        return name

    def of_sizes(self, sizes: tuple[int, ...]) -> str:
        """An expression of these sizes: a value seen in another way, or a new input."""
        wanted = math.prod(sizes)
        if self.random.random() < 0.25:
            return self.new_input(sizes)
        name = self.pick()
        have = tuple(self.plain[name].shape)
        if have == sizes:
            return name
        if _expands(have, sizes):
            return f"{name}.expand{sizes}" if sizes else name
        count = math.prod(have)
        if count == wanted:
            return f"{name}.reshape({sizes})"
        if count > wanted:
            return f"{name}.reshape(-1)[{self.random.randint(0, count - wanted)}:][:{wanted}].reshape({sizes})"
        if count:
            return f"{name}.reshape(-1).repeat({-(-wanted // count)})[:{wanted}].reshape({sizes})"
        return self.new_input(sizes)


def _expands(have: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(have) <= len(wanted) and all(a in (1, b) for a, b in zip(have[::-1], wanted[::-1]))


def _check_tame(plain: Any, exact: Any) -> None:
    """Rejected unless the two runs agree about sizes, and about values up to rounding."""
    if plain.numel() > MOST_ELEMENTS or plain.shape != exact.shape:
        raise Rejected("sizes")
    a = plain.detach().to(torch.complex128 if plain.is_complex() else torch.float64).numpy()
    b = exact.detach().to(torch.complex128 if exact.is_complex() else torch.float64).numpy()
    coarse = 30 if plain.dtype in (torch.float16, torch.bfloat16) else 1
    scale = 1 + np.abs(b).max(initial=0)
    if (
        not np.isfinite(a).all()
        or not scale <= LARGEST_VALUE
        or not np.abs(a - b).max(initial=0) <= coarse * AGREEMENT * scale
    ):
        raise Rejected("not tame")


class _Words(ast.NodeTransformer):
    """Replaces the words of a sheet (`f(3, 4)`, `pos(2)`, ...) by expressions over the program's values."""

    def __init__(self, grower: Grower) -> None:
        self.grower = grower
        self.words: dict[str, Callable[..., str]] = {
            "f": grower.of_sizes,
            "pos": lambda sizes: f"({grower.of_sizes(sizes)}.abs() + 0.5)",
            "unit": lambda sizes: f"(torch.sigmoid({grower.of_sizes(sizes)}) * 0.9 + 0.05)",
        }

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not isinstance(node.func, ast.Name) or node.func.id not in (*self.words, *FRESH):
            return self.generic_visit(node)
        arguments = [ast.literal_eval(a) for a in node.args]
        options = {k.arg: ast.literal_eval(k.value) for k in node.keywords}
        if node.func.id in self.words:
            text = self.words[node.func.id](tuple(arguments))
        else:
            text = self.grower.new_input(
                (), FRESH[node.func.id](self.grower.random.randrange(1000), *arguments, **options)
            )
        return ast.parse(text, mode="eval").body


def _distinct(seed: int, *sizes: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(math.prod(sizes)).reshape(sizes).astype("float32") * 0.5 - 1


def _square(seed: int, n: int, *batch: int) -> np.ndarray:
    return (np.random.default_rng(seed).normal(size=(*batch, n, n)) * 0.5 + 3 * np.eye(n)).astype("float32")


def _integers(seed: int, *sizes: int, high: int = 3, low: int = 0) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).integers(low, high, sizes))


def _bools(seed: int, *sizes: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).random(sizes) < 0.5)


# Words whose numbers matter: always inputs of their own.
FRESH: dict[str, Callable[..., np.ndarray]] = {"distinct": _distinct, "square": _square, "i": _integers, "b": _bools}
