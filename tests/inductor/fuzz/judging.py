"""Whether a compiled program gives what the plain one gives: the judge of random programs.

Sizes, dtypes and strides of results (gradients may lie as they like), and where NaN and infinities stand, must be those
of the plain run. Values are judged by a third run, in float64: the compiled program may be as far from it as a few
times what the plain float32 run is at its worst element, and a few units of rounding: one wrong element is seen, a sum
in another order isn't.

Where that finds a difference, the plain program is run again with each operation rounding a little otherwise (`noise`).
An element that this changes, such as the place of the larger of two numbers that differ by rounding only, says nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile import config, logs
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor.dispatch.dispatch import mode
from tests.inductor.fuzz.noise import Rounding
from tests.inductor.fuzz.programs import Program
from tests.inductor.fuzz.thresholds import thresholds

ROUNDING = {"float32": 3e-5, "float16": 1e-2, "bfloat16": 8e-2}
NOISE = {"float32": 1e-6, "float16": 2e-3, "bfloat16": 2e-2}  # a few units of rounding
TRIALS = 8


@dataclass
class Outcome:
    """What a run left behind, by name: results, arguments afterwards, gradients. Or the exception."""

    tensors: dict[str, Any]
    error: BaseException | None = None


def run(program: Program, function: Callable[..., Any], real: str = "float32", device: str = "cpu") -> Outcome:
    """One call with fresh arguments, and the gradients of the results if the program wants them."""
    arguments = program.tensors(real, device)
    torch.manual_seed(program.seed)
    with warnings.catch_warnings(), nullcontext() if device == "cpu" else torch.device(device):
        warnings.simplefilter("ignore")
        try:
            results = tree_leaves(function(*arguments))
            tensors = {f"output {i}": x for i, x in enumerate(results) if isinstance(x, torch.Tensor)}
            tensors |= {f"{name} afterwards": x for name, x in zip(program.inputs, arguments)}
            if program.gradients:
                tensors |= _gradients(program, arguments, results)
        except Exception as error:  # judged, like a result
            return Outcome({}, error)
    return Outcome({name: x.detach() for name, x in tensors.items()})


def _gradients(program: Program, arguments: list[Any], results: Any) -> dict[str, Any]:
    differentiable = [x for x in results if isinstance(x, torch.Tensor) and x.requires_grad]
    if not differentiable:
        return {}
    tangents = [_tangent(x) for x in differentiable]
    torch.autograd.backward(differentiable, tangents)
    return {f"gradient of {n}": x.grad for n, x in zip(program.inputs, arguments) if x.grad is not None}


def _tangent(like: Any) -> Any:
    values = np.cos(np.arange(like.numel())).reshape(tuple(like.shape))
    return torch.from_numpy(np.asarray(values)).to(like.dtype).to(like.device)


def difference(program: Program, backend: str, function: Callable[..., Any] | None = None) -> str | None:
    """What the compiled program does otherwise; None if nothing."""
    function = program.function() if function is None else function
    with (
        config.patch(emulate_precision_casts=program.emulate_precision_casts),
        thresholds(program.sizes_are),
        logs.capture("graph_breaks") as breaks,
    ):
        return _difference(program, backend, function, breaks)


def _difference(program: Program, backend: str, function: Callable[..., Any], breaks: Sequence[Any]) -> str | None:
    torch.compiler.reset()
    compiled = torch.compile(function, backend=backend, dynamic=program.dynamic or None, mode=program.mode)
    expected = Expected(program, function)
    # A second call goes through guards and reused buffers; with recordings it makes one, which a third call launches.
    for attempt in ("first", "second") if program.mode == "default" else ("first", "second", "again", "last"):
        found = expected.compare(run(program, compiled, device=program.device), breaks)
        if found:
            return f"{attempt} call: {found}"
    return _difference_at_other_sizes(program, function, compiled, breaks) if program.dynamic else None


def _difference_at_other_sizes(program: Program, function: Any, compiled: Any, breaks: Sequence[Any]) -> str | None:
    """A dynamic program is called again with larger inputs, and once more with those it was compiled for."""
    for attempt, sized in {"larger": program.resized(), "third": program}.items():
        found = Expected(sized, function).compare(run(sized, compiled, device=program.device), breaks)
        if found:
            return f"{attempt} call: {found}"
    return None


def _coarsest(program: Program) -> str:
    """The least precise dtype that the program goes through: its gradients and sums are as coarse as that."""
    texts = [*program.lines, *(spec.element for spec in program.inputs.values())]
    for dtype, words in {"bfloat16": ("bfloat16",), "float16": ("half()", "float16")}.items():
        if any(word in text.replace("bfloat16", "") or word == "bfloat16" in text for word in words for text in texts):
            return dtype
    return "float32"


class Expected:
    """What the plain program gives: as it is, in float64, and, if it comes to that, rounded otherwise."""

    def __init__(self, program: Program, function: Callable[..., Any]) -> None:
        self.program = program
        self.function = function
        self.coarsest = _coarsest(program)
        self.plain, self.exact = run(program, function), run(program, function, "float64")

    def compare(self, got: Outcome, breaks: Sequence[Any]) -> str | None:
        """The first difference between a compiled run and the plain one. `breaks`: where its graph was broken."""
        plain = self.plain
        if got.error is not None or plain.error is not None:
            if type(got.error) is type(plain.error) or _was_overwritten(plain) or _is_refused(got):
                return None
            if (plain.error is not None or breaks) and _was_overwritten(got):
                return None
            return f"raises {_shown(got.error)} where the plain run raises {_shown(plain.error)}"
        names = {name for name, x in got.tensors.items() if name in plain.tensors or not _is_idle(name, x)}
        if names != plain.tensors.keys():
            return f"gives {sorted(got.tensors)} where the plain run gives {sorted(plain.tensors)}"
        for name, like in plain.tensors.items():
            x = got.tensors[name]
            x, like = (x.contiguous(), like.contiguous()) if name.startswith("gradient") else (x, like)
            found = _compare_layouts(x, like, self.program.device) or self._compare_values(name, x, like)
            if found:
                return f"{name} {found}"
        return None

    def _compare_values(self, name: str, got: Any, plain: Any) -> str | None:
        exact = self.exact.tensors.get(name)
        found = _compare_tensors(got, plain, exact, ROUNDING[self.coarsest])
        if found is None or exact is None or exact.shape != got.shape:
            return found
        others = [outcome.tensors.get(name) for outcome in self.rounded_otherwise]
        known = [_array(x) for x in others if x is not None and x.shape == got.shape]
        return None if known and _is_rounding(_array(got), _array(plain), _array(exact), known) else found

    @cached_property
    def rounded_otherwise(self) -> list[Outcome]:
        outcomes = []
        for seed in range(TRIALS):
            with mode(Rounding(NOISE[self.coarsest], seed)):
                outcomes.append(run(self.program, self.function, "float64"))
        return outcomes


def _is_rounding(got: np.ndarray, plain: np.ndarray, exact: np.ndarray, others: list[np.ndarray]) -> bool:
    """Whether each element is right, or is one that rounding decides about."""
    with np.errstate(all="ignore"):
        spread = np.max([np.where(np.isnan(abs(x - exact)), np.inf, abs(x - exact)) for x in others], axis=0)
        right = (got == plain) | (np.isnan(got) & np.isnan(plain))
        near = abs(got - exact) <= 4 * spread if got.dtype.kind in "fc" else spread > 0
    return bool((right | near).all())


def _is_idle(name: str, x: Any) -> bool:
    """Whether it is a gradient of zeros, which compiled code may give where the plain run gives none.

    A graph of several results has one backward pass, and takes zeros for the gradient of a result that nobody used. In
    one program that is so after a graph break, where the second graph overwrites a result of the first. PyTorch too.
    """
    return name.startswith("gradient") and not _array(x).any()


def _was_overwritten(outcome: Outcome) -> bool:
    """Whether backward() missed a value that the program itself has overwritten.

    Compiled code kept that value, so it may go on. Of two mistakes in a program, it may report the other one. And it
    may have kept another value, an argument, which a second graph after a break overwrites.
    """
    return "modified by an inplace operation" in str(outcome.error)


def _is_refused(outcome: Outcome) -> bool:
    """Whether the compiler says that it can't do this: write to windows of memory that is not one dense block."""
    reasons = (outcome.error, getattr(outcome.error, "__cause__", None))
    return any(isinstance(e, NotImplementedError) and "functionalize: an as_strided view" in str(e) for e in reasons)


def _shown(error: BaseException | None) -> str:
    return "nothing" if error is None else f"{type(error).__name__}: {str(error)[:300]}"


def _compare_layouts(got: Any, plain: Any, device: str) -> str | None:
    if got.device.type != device:
        return f"is on {got.device}"
    for what in ("shape", "dtype", "requires_grad"):
        if getattr(got, what) != getattr(plain, what):
            return f"has {what} {getattr(got, what)}, expected {getattr(plain, what)}"
    if got.numel() and _strides(got) != _strides(plain):
        return f"has strides {got.stride()}, expected {plain.stride()}"
    return None


def _compare_tensors(got: Any, plain: Any, exact: Any, rounding: float) -> str | None:
    a, b = _array(got), _array(plain)
    if plain.dtype not in FLOATS:
        return None if np.array_equal(a, b) else f"is {a.tolist()}, expected {b.tolist()}"
    finite = np.isfinite(b)
    if not np.array_equal(np.where(finite, 0.0, b), np.where(np.isfinite(a), 0.0, a), equal_nan=True):
        return f"is {a.tolist()}, expected {b.tolist()}: other NaN or infinities"
    reference = _array(exact) if exact is not None and tuple(exact.shape) == tuple(got.shape) else b
    reference = np.where(np.isfinite(reference), reference, b)
    error, allowed = np.abs(a - reference)[finite], allowance(b[finite], reference[finite], rounding)
    if error.max(initial=0) <= allowed:
        return None
    return f"is {a.tolist()}, expected {reference.tolist()}: off by {error.max():.2e}, allowed {allowed:.2e}"


def _strides(x: Any) -> list[int]:
    """The strides that mean something."""
    return [stride for size, stride in zip(x.shape, x.stride()) if size > 1]


FLOATS = {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.complex128}


def _array(x: Any) -> np.ndarray:
    """Its elements in the widest dtype of their kind; truth values as numbers, which can be subtracted."""
    wide = torch.complex128 if x.is_complex() else torch.float64 if x.dtype in FLOATS else x.dtype
    wide = torch.int8 if wide is torch.bool else wide
    return np.asarray(x.detach().cpu().to(wide).numpy())


def allowance(plain: np.ndarray, reference: np.ndarray, rounding: float) -> float:
    """How far from the reference a result may be."""
    return 4 * np.abs(plain - reference).max(initial=0) + rounding * (1 + np.abs(reference).max(initial=0))
