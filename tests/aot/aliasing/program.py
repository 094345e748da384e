"""Random programs that view, write and read tensors, as source lines.

>>> print(Program(["v = a[0]", "v.add_(1)"], ["a"], ["a", "v"]).source)
def program(a):
    v = a[0]
    v.add_(1)
    return a, v

A program is grown by running it: a line that the plain library refuses, for sizes that don't fit, is dropped.
"""

from __future__ import annotations

import itertools
import linecache
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from tests.aot.aliasing.worlds import World

NAMESPACE = {"torch": torch, "F": F}
_numbers = itertools.count()


@dataclass
class Program:
    """Source lines, each a statement of its own, between arguments and what is returned."""

    lines: list[str]
    arguments: list[str]
    returned: list[str]

    @property
    def source(self) -> str:
        body = [f"    {line}" for line in self.lines]
        result = ", ".join(self.returned) + ("," if len(self.returned) == 1 else "")
        return "\n".join([f"def program({', '.join(self.arguments)}):", *body, f"    return {result}"])

    def function(self) -> Callable[..., Any]:
        """The program as a function, whose source lines tracebacks and the tracer can show."""
        name = f"<aliasing program {next(_numbers)}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        namespace = dict(NAMESPACE)
        exec(compile(self.source, name, "exec"), namespace)
        return namespace["program"]


# x is a tensor of the program, y another one, n a small number, f a float; a list offers alternatives
VIEWS = [
    "{x}[{i}]", "{x}[..., {n}:]", "{x}[::2]", "{x}[:, ::2]", "{x}[1:]", "{x}.transpose(0, -1)", "{x}.unsqueeze({n})",
    "{x}.squeeze()", "{x}.view(-1)", "{x}.reshape(-1)", "{x}.narrow(0, {n}, 1)", "{x}.narrow(-1, 0, 2)", "{x}.detach()",
    "{x}.diagonal()", "{x}.flatten()", "{x}.view_as({x})", "{x}.unfold(0, 2, 2)", "{x}.split(1)[{i}]",
    "{x}.chunk(2)[{i}]", "{x}.unbind(0)[{i}]", "{x}.movedim(0, -1)", "{x}.as_strided((2, 2), (1, 2), {n})",
    "{x}.select(-1, {i})", "{x}.T", "{x}.expand(2, *{x}.shape)", "{x}[None]", "{x}.permute(*range({x}.dim())[::-1])",
]  # fmt: skip
WRITES = [
    "{x}.add_({f})", "{x}.mul_({f})", "{x}.copy_({y})", "{x}.copy_({x} * 2)", "{x}.fill_({f})", "{x}.zero_()",
    "{x}.sin_()", "{x}.exp_()", "{x}.sub_({y}.detach().mean())", "{x}.mul_({y})", "{x}.add_({y})", "{x}.mul_({x})",
    "{x}.clamp_(-1, 1)", "{x}.relu_()", "{x}[torch.tensor([0, -1])] = {f}", "{x}[torch.tensor([1, 1, 0])] = {x}[0]",
    "{x}[{i}] = {y}", "{x}[{i}] += {f}", "{x}[..., 1:] = {x}[..., :-1]",
    "{x}.index_add_(0, torch.tensor([0, 0]), {x}[:2])",
    "{x}.masked_fill_({y} > 0, {f})", "{x}.index_fill_(0, torch.tensor([1]), {f})", "{x}.addcmul_({y}, {x})",
    "{x}.lerp_({y}, 0.3)", "{x} += {y}", "{x} *= {f}", "{x}[::2] *= {f}", "{x}.t().mul_({f})", "{x}.tanh_()",
    "{x}.copy_({x}.flip(0))", "{x}.cumsum_(0)", "{x}.pow_(2)", "{x}.copy_({y}.float())", "{x}.copy_({y}.double())",
    "{x}.scatter_(0, torch.zeros_like({x}, dtype=torch.int64), {f})", "{x}.tril_()", "{x}.sigmoid_()", "{x}.neg_()",
    "torch.add({x}, {x}, out={x})", "{x}[{x} > 0] = {f}", "{x}.div_({f})", "{x}.sub_({x}.mean())", "{x}.round_()",
    "{x}.index_copy_(0, torch.tensor([1, 0]), {x}[:2])", "{x}.clamp_min_({f})", "{x}.uniform_()", "{x}.normal_()",
    "torch.where({x} > 0, {x}, {y}, out={x}) if False else {x}.abs_()", "{x}.view(-1)[1:].copy_({x}.view(-1)[:-1])",
    "{x}.put_(torch.tensor([0, 1]), torch.ones(2, dtype={x}.dtype))", "F.relu({x}, inplace=True)",
    "F.leaky_relu_({x})", "{x}.erfinv_() if False else {x}.expm1_()", "{x}.swapaxes(0, -1).add_({y})",
    "{x}.fill_diagonal_({f})", "{x}.baddbmm_({x}, {x}) if {x}.dim() == 3 else {x}.sinh_()", "{x}.addmm_({x}, {x})",
]  # fmt: skip
READS = [
    "{x} * 2 + {y}.sum()", "({x} * {x}).sum() + {y}.mean()", "{x}.exp()", "{x}.clone()", "{x}.sum(0)", "{x} * {y}",
    "torch.cat([{x}.reshape(-1), {y}.reshape(-1)])", "{x}.float()", "{x}.double()", "{x}.softmax(-1)", "{x} + {y}",
    "{x}.contiguous()", "torch.zeros_like({x})", "torch.where({x} > 0, {x}, {y})", "{x}.to(torch.float64)",
    "{x}.sigmoid()",
    "{x}.tanh()", "{x}.abs().sqrt()", "{x}.max(-1).values", "{x}.repeat(2)", "{x} / 3", "torch.stack([{x}, {x}])",
    "torch.ones(2, 3, dtype=torch.float64)", "{x}.sum()", "{x}.prod(-1)", "{x}[torch.tensor([0, 0])]", "torch.rand(3)",
    "F.dropout({x}, 0.5)",
]  # fmt: skip
META = [
    "{x}.t_()", "{x}.unsqueeze_(0)", "{x}.squeeze_()", "{x}.transpose_(0, -1)", "{x}.swapaxes_(0, -1)",
    "{x}.requires_grad_()", "{x}.requires_grad_(False)",
]  # fmt: skip
WORTH_KEEPING = ("leaf Variable", "no_grad mode", "single memory location", "can't be cast", "is a view", "output of a")


def grow(seed: int, world: World, length: int, metadata: bool) -> Program:
    """A random program for the arguments of a world, in which it is run: the world is used up.

    `metadata`: also lines such as `x.t_()`, which change how a tensor looks and need a tracer of Python.
    """
    r = random.Random(seed)
    names = [chr(ord("a") + i) for i in range(len(world.arguments))]
    values: dict[str, Any] = dict(zip(names, world.arguments, strict=True)) | NAMESPACE
    program = Program([], list(names), [])
    while len(program.lines) < length:
        line, name = _line(r, names, metadata)
        error = _failure(line, values)
        if error is None or (r.random() < 0.1 and any(words in str(error) for words in WORTH_KEEPING)):
            program.lines.append(line)
        if error is None and name:
            names.append(name)
        elif error is not None and program.lines[-1:] == [line]:
            break  # the program ends here, with this error
    program.returned = r.sample(names, min(r.choice((1, 2, 3, 4)), len(names)))
    return program


def _line(r: random.Random, names: list[str], metadata: bool) -> tuple[str, str]:
    """A statement, and the name that it binds, if any."""
    kind = r.choice([VIEWS] * 4 + [WRITES] * 5 + [READS] * 3 + ([META] if metadata else []))
    text = r.choice(kind).format(
        x=r.choice(names), y=r.choice(names), n=r.randrange(2), i=r.choice((0, 1, -1)), f=r.choice((0.5, 2.0, -1.5, 1))
    )
    name = f"v{len(names)}" if kind is VIEWS or kind is READS else ""
    statement = f"{name} = {text}" if name else text
    # Under no_grad, a method such as t_() leaves a history behind that is of other sizes, in PyTorch too.
    region = "" if kind is META else r.choice([""] * 8 + ["with torch.no_grad(): ", "with torch.enable_grad(): "])
    return region + statement, name


def _failure(line: str, values: dict[str, Any]) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(line, values)
    except Exception as error:  # whatever the library says to the line
        return error
    return None
