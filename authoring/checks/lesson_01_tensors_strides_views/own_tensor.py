"""Exercise 01.8: a storage, and tensors that look at it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from .layouts import visited

OWN_TENSOR = Step(
    "01.8",
    "storage and tensor",
    file="tensor",
    minutes=15,
    hints=(
        "A tensor owns no numbers: it has a storage and a layout. Two tensors may have the same storage. What must"
        " numpy() give, then, so that a write into the array is seen by both?",
        "np.ndarray(sizes, dtype, buffer, 0, strides) is an array over memory that exists. Its strides are bytes; ours"
        " are elements. The buffer begins at self.storage.data[self.layout.offset :].",
        "A fake's storage has None for data: ask `self.is_fake` first, and raise a TypeError that says what was asked"
        " for.",
    ),
)
TENSOR = "A tensor is a line"
SECTION = "Strides say how far to jump"
LAYOUTS = [((3,), (1,), 0), ((3,), (2,), 0), ((2, 2), (2, 1), 0), ((2, 2), (1, 2), 0), ((2, 3), (0, 1), 0), ((), (), 0)]
AT_OFFSETS = [((3,), (1,), 2), ((2, 2), (1, 3), 5), ((), (), 7), ((0, 2), (2, 1), 12)]


def made(mini: Any, layout: Any, dtype: Any = np.int64) -> Any:
    t = mini.tensor
    return t.Tensor(t.Storage(np.arange(12, dtype=dtype) * 10, dtype), t.Layout(*layout))


def judge(mini: Any, layouts: list[Any], why: str) -> None:
    for layout, dtype in itertools.product(layouts, (np.int64, np.float32)):
        wanted = (np.array(visited(*layout[:2]), dtype).reshape(layout[0]) + layout[2]) * 10
        got = outcome(lambda layout=layout, dtype=dtype: made(mini, layout, dtype).numpy(), ())
        if not isinstance(got, np.ndarray) or got.dtype != dtype or not np.array_equal(got, wanted):
            shown = got.tolist() if isinstance(got, np.ndarray) else repr(got)
            fact = f"a {np.dtype(dtype)} storage 0, 10, 20, ... under Layout{layout}: expected {wanted.tolist()}"
            raise WrongAnswer(f"{fact}, got {shown}", why)


@OWN_TENSOR.case("a tensor has a storage, a layout, and no history", points=1, section=TENSOR)
def _(mini: Any) -> None:
    x = made(mini, ((2, 3), (3, 1), 0))
    expected = {"sizes": (2, 3), "shape": (2, 3), "strides": (3, 1), "dtype": np.dtype(np.int64), "is_fake": False}
    expected |= {"requires_grad": False, "grad": None, "grad_fn": None}
    for name, value in expected.items():
        got = getattr(x, name, "nothing")
        if got != value:
            why = "What comes in is kept under its name; a new tensor requires no gradient, has none, and no history."
            raise WrongAnswer(f"x.{name} of a tensor of sizes (2, 3): expected {value!r}, got {got!r}", why)
    storage = mini.tensor.Storage(None, "float32")
    if not isinstance(storage.dtype, np.dtype) or storage.version != 0:
        why = "A dtype may come as a name; keep np.dtype(dtype), which knows its itemsize. Versions begin at 0."
        fact = f"Storage(None, 'float32'): expected dtype('float32') and version 0, got {storage.dtype!r}"
        raise WrongAnswer(f"{fact} and version {storage.version!r}", why)


@OWN_TENSOR.case("numpy() reads the cells that strides name", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "Our strides count elements, NumPy's count bytes: multiply each by the dtype's itemsize."
    judge(mini, LAYOUTS, why)


@OWN_TENSOR.case("numpy() begins at the offset", points=1, section="Views: arithmetic on four things")
def _(mini: Any) -> None:
    judge(mini, AT_OFFSETS, "A layout may begin in the middle: the buffer is storage.data from the offset on.")


@OWN_TENSOR.case("numpy() is the tensor's own memory", points=1, section="One line, many readers")
def _(mini: Any) -> None:
    x = made(mini, ((2, 2), (1, 2), 1))
    x.numpy()[0, 1] = 7
    if x.storage.data[3] != 7:
        why = "A copy was written to. Tensors share their storage, so the array must be a view of it."
        raise WrongAnswer("x.numpy()[0, 1] = 7: expected a 7 in the storage, it is as it was", why)


@OWN_TENSOR.case("a fake has no numbers to give", points=1, section=TENSOR)
def _(mini: Any) -> None:
    t = mini.tensor
    x = t.Tensor(t.Storage(None, np.float32), t.Layout((), (), 0))
    why = (
        "A fake is a tensor without data, for asking about shapes. Say so with a TypeError, before NumPy says anything."
    )
    try:
        got = x.numpy()
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except TypeError as error:
        if "NoneType" not in str(error):
            return
        raise WrongAnswer(f"numpy() of a fake raised NumPy's or Python's own error: {error}", why) from error
    except Exception as error:
        raise WrongAnswer(f"numpy() of a fake: expected a TypeError, it raised {error!r}", why) from error
    raise WrongAnswer(f"numpy() of a fake: expected a TypeError, got {got!r}", why)
