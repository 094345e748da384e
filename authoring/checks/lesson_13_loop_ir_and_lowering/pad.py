"""Exercise 13.1: the lowering of pad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.measures.loops import computed
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.loops import Loop, TensorBox
from minitorch_compile.inductor.ir.printer import print_operation
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.tensor import Tensor

PAD = Exercise(
    "13.1",
    "a lowering: pad",
    answer="pad",
    minutes=20,
    place="inductor.pad",
    hints=(
        "At position at, which element of x is it, in each dimension? And when is it none?",
        "The element is at i - low. It is one of x's if low <= i < low + size: that's within(ops, i, low, low + size).",
        "TensorBox(sizes, x.dtype, inner, inputs=[x]), where inner(ops, at) asks ops.masked(condition, lambda:"
        " x.load(ops, place), value, x.dtype), unless the condition is None.",
    ),
)
SECTION = "Lowering, rule by rule"
MASKED = "The package's own"
Ints = tuple[int, ...]


def printed(answer: Callable[..., Any], sizes: Ints, low: Ints, high: Ints) -> str:
    """The loop over a padded x."""
    box = answer(GraphLowering(), TensorBox.of(Buffer.contiguous("x", sizes, torch.float32)), low, high, 0)
    result = Buffer.contiguous("result", box.sizes, torch.float32)
    return print_operation(Loop(result, box.sizes, box.load))


def judge(answer: Callable[..., Any], x: Tensor, low: Ints, high: Ints, value: float) -> None:
    text = f"pad of sizes {list(x.shape)}, low {low}, high {high}, value {value}"
    expected = np.pad(x.numpy(), tuple(zip(low, high)), constant_values=value)
    try:
        got = computed(lambda x: answer(GraphLowering(), x, low, high, value), x)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except IndexError as error:
        raise WrongAnswer(f"{text}: a load outside of x: {error}", OUTSIDE) from error
    except Exception as error:
        raise WrongAnswer(f"{text}: {type(error).__name__}: {error}", "A rule returns a TensorBox.") from error
    if got.shape != expected.shape:
        raise WrongAnswer(f"{text}: sizes {list(got.shape)}, expected {list(expected.shape)}", SIZES)
    if got.dtype != expected.dtype:
        raise WrongAnswer(f"{text}: dtype {got.dtype}, expected {expected.dtype}", "The box has the dtype of x.")
    if not np.array_equal(got, expected):
        raise WrongAnswer(f"{text}: expected {expected.tolist()}, got {got.tolist()}", idea(got, expected, low))


OUTSIDE = "A where computes both of its sides, and so does a load that nothing guards. masked() leaves the load out."
SIZES = "Each dimension grows by what is put before it and by what is put behind it."


def idea(got: np.ndarray, expected: np.ndarray, low: Ints) -> str:
    if np.array_equal(got, np.roll(expected, [-n for n in low], range(expected.ndim))):
        return "x begins at 0 here. Element i of the result is element i - low of x."
    if np.array_equal(got != 0, expected != 0):
        return "The right places, and other numbers in them."
    return "An element is one of x's only if that holds in all dimensions, on both sides."


@PAD.case("one dimension", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    x = torch.tensor([3.0, 1.0, 4.0])
    judge(answer, x, (2,), (2,), 0.0)
    judge(answer, x, (2,), (0,), 7.0)
    judge(answer, x, (0,), (1,), -1.0)


@PAD.case("several dimensions, whole numbers", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, torch.arange(1.0, 7.0).reshape(2, 3), (1, 2), (0, 1), 0.0)
    judge(answer, torch.arange(1, 7).reshape(2, 3), (0, 1), (2, 0), 9)
    judge(answer, torch.arange(1.0, 9.0).reshape(2, 1, 4), (1, 1, 0), (0, 1, 2), 0.5)


@PAD.case("no question is asked whose answer is known", points=1, section=MASKED)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, torch.arange(1.0, 7.0).reshape(2, 3), (0, 1), (0, 0), 0.0)
    text = printed(answer, (2, 3), (0, 1), (0, 0))
    if text.count("index_value") > 1:
        raise WrongAnswer(
            f"pad with low (0, 1), high (0, 0) becomes\n{text}\n",
            "Rows are never outside, nor are columns on the right.",
        )
    if "masked" in printed(answer, (2, 3), (0, 0), (0, 0)):
        raise WrongAnswer("pad by nothing has a mask", "If every condition holds always, load without one.")


@PAD.case("in the running package", points=1, section=MASKED)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, torch.tensor([3.0, 1.0]), (1,), (1,), 0.0)
    x = torch.arange(1.0, 7.0).reshape(2, 3)
    with splice("inductor.pad", answer):
        got = torch.compile(lambda x: torch.nn.functional.pad(x * 2, (1, 2)).sum(0), backend="loops")(x)
    if not torch.equal(got, torch.nn.functional.pad(x * 2, (1, 2)).sum(0)):
        raise WrongAnswer(f"F.pad(x * 2, (1, 2)).sum(0), compiled, is {got}", "Load through x.load, not from a buffer.")
