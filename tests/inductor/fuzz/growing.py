"""Grows random programs out of the lines of the call sheets.

A line such as `torch.softmax(f(3, 4), dim=1)` says what sizes an op wants. In a program the word `f(3, 4)` is replaced
by something of these sizes that is made of earlier values: a view of one, a part of one, one expanded or repeated. So
every op of the table meets every other one, in front of it and behind it, over views of all kinds.

The program is run while it grows, in float32 and in float64. A line that raises, or whose results the two precisions
disagree about (huge values, a comparison decided by rounding), is not taken; nor one that is all rounding (`noise`).
"""

from __future__ import annotations

import ast
import math
import random
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor.dispatch.dispatch import mode
from tests.inductor.fuzz.noise import Noise, is_delicate
from tests.inductor.fuzz.programs import SCOPE, Input, Program, names_read, names_stored
from tests.inductor.fuzz.vocabulary import (
    ELEMENTS,
    FRESH,
    LAYOUTS,
    POINTWISE,
    SIZES,
    UNARY,
    VIEWS,
    WRITES,
    normal,
    sheet_lines,
)

AGREEMENT = 1e-3
LENGTHS = (1, 2, 2, 3, 3, 4, 4, 5, 6, 8)


def grow(seed: int) -> Program:
    """The program of a seed: up to eight lines, up to six results."""
    return Grower(seed).grow()


class Rejected(Exception):
    """A line that is not taken."""


class Grower:
    """Grows the program of a seed. A class for other programs may have its own sizes and dtypes of inputs, number and
    size of a value's elements, numbers of lines, and likelihoods of each kind of line."""

    sizes, elements, most_elements, largest_value = SIZES, ELEMENTS, 3000, 40.0
    lengths, likely = LENGTHS, (8, 3, 3, 2, 2)
    unary_lines: Sequence[str] = UNARY

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.program = Program(seed=seed, gradients=self.random.random() < 0.4, dynamic=self.random.random() < 0.2)
        self.program.emulate_precision_casts = self.random.random() < 0.5
        self.plain: dict[str, Any] = dict(SCOPE)
        self.exact: dict[str, Any] = dict(SCOPE)
        self.count = 0
        self.element = self.random.choice(self.elements)  # of all inputs: lines mix dtypes enough
        self.new_input(self.random.choice(self.sizes))

    def grow(self) -> Program:
        wanted = self.random.choice(self.lengths)
        for _ in range(4 * wanted):
            if len(self.program.lines) >= wanted:
                break
            kind = self.random.choices(
                (self.from_a_sheet, self.pointwise, self.unary, self.view, self.write), self.likely
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
        """An expression of the sheets, over values of this program: all names that they call are as likely."""
        text = self.random.choice(sheet_lines()[self.random.choice(tuple(sheet_lines()))])
        self.attempt(ast.unparse(_Words(self).visit(ast.parse(text, mode="eval"))))

    def pointwise(self) -> None:
        a = self.pick()
        self.attempt(self.random.choice(POINTWISE).format(a, self.of_sizes(tuple(self.plain[a].shape))))

    def unary(self) -> None:
        self.attempt(self.random.choice(self.unary_lines).format(self.pick()))

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
            if is_delicate(line):
                self.check_stable(line)
        except Exception as reason:  # most lines fit only some values
            self.start_again()
            raise Rejected(line) from reason
        self.program.lines.append(line)
        if len(values) > 1:  # a tuple of results: each by a name of its own
            (target,) = names_stored(line)
            for place in range(len(values)):
                self.take(f"{self.name()} = {target}[{place}]")
            self.plain.pop(target), self.exact.pop(target)

    def check_stable(self, line: str) -> None:
        """Rejected if the line gives something else where its normalisations get slightly other numbers."""
        noisy = dict(SCOPE) | {name: spec.tensor("float64") for name, spec in self.program.inputs.items()}
        for earlier in self.program.lines:
            torch.manual_seed(self.program.seed)
            exec(earlier, noisy)
        torch.manual_seed(self.program.seed)
        with mode(Noise()):
            exec(line, noisy)
        for name in names_stored(line):
            for a, b in zip(tree_leaves(noisy[name]), tree_leaves(self.exact[name]), strict=True):
                self.check_tame(a, b)

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
                self.check_tame(self.plain[name], self.exact[name])
            return []
        (name,) = stored
        plain, exact = self.plain[name], self.exact[name]
        if isinstance(plain, torch.Tensor):
            self.check_tame(plain, exact)
            return [plain]
        if not isinstance(plain, tuple | list) or not plain or not all(isinstance(x, torch.Tensor) for x in plain):
            raise Rejected("no tensors")
        for a, b in zip(plain, exact, strict=True):
            self.check_tame(a, b)
        return list(plain) if len(plain) > 1 else [plain, plain]

    def check_tame(self, plain: Any, exact: Any) -> None:
        """Rejected unless the two runs agree about sizes, and about values up to rounding."""
        if plain.numel() > self.most_elements or plain.shape != exact.shape:
            raise Rejected("sizes")
        a = plain.detach().to(torch.complex128 if plain.is_complex() else torch.float64).numpy()
        b = exact.detach().to(torch.complex128 if exact.is_complex() else torch.float64).numpy()
        coarse = 30 if plain.dtype in (torch.float16, torch.bfloat16) else 1
        scale = 1 + np.abs(b).max(initial=0)
        if (
            not np.isfinite(a).all()
            or not scale <= self.largest_value
            or not np.abs(a - b).max(initial=0) <= coarse * AGREEMENT * scale
        ):
            raise Rejected("not tame")

    # ------------------------------------------------------------------------------------------ values of some sizes

    def pick(self) -> str:
        """The name of a value; later ones more often, real ones mostly."""
        tensors = {n: x for n, x in self.plain.items() if isinstance(x, torch.Tensor)}
        real = [n for n, x in tensors.items() if x.is_floating_point()]
        names = real if real and self.random.random() < 0.85 else list(tensors)
        return self.random.choices(names, range(1, len(names) + 1))[0]

    def new_input(self, sizes: tuple[int, ...], values: np.ndarray | None = None) -> str:
        name, element = f"x{len(self.program.inputs)}", self.element if values is None else "float32"
        if values is None:
            values = normal(self.program.seed, len(self.program.inputs), sizes, element)
        spec = self.program.inputs[name] = Input(
            np.asarray(values), self.random.choice(LAYOUTS), element if "float" in element else "float32"
        )
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
