"""Fake tensors for whole programs: inside the mode, everything that is made has sizes, strides, dtype and no data.

>>> from minitorch_compile.tensor import ones, rand, tensor
>>> with FakeTensorMode() as mode:
...     x = rand(10**6, 10**6)                  # would be four terabytes
...     y = (x @ x).sum(0)
>>> x, y.shape
(FakeTensor(sizes=[1000000, 1000000], strides=[1000000, 1], dtype=torch.float32), torch.Size([1000000]))
>>> y[0].item()
Traceback (most recent call last):
minitorch_compile.tensor.tensor_base.FakeDataError: a fake tensor has no data (sizes [], torch.float32): it stands ...

Real tensors come in with `from_tensor`; what shares memory outside shares its (absent) memory inside.

>>> whole = ones(2, 3)
>>> fake, row = mode.from_tensor(whole), mode.from_tensor(whole[1])
>>> row.storage is fake.storage, row.stride(), row.storage_offset()
(True, (1,), 3)
>>> fake + whole
Traceback (most recent call last):
AssertionError: Please convert all Tensors to FakeTensors first (mode.from_tensor) or instantiate ...

Source: `torch/_subclasses/fake_tensor.py` of PyTorch.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from minitorch_compile.symbolic import ShapeEnv
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.tensor_options import making_on
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.modes.symbolic_layout import symbolic_like
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like

MAKES_DATA = ("creation", "random")


class ShapesOnly:
    """A dispatch mode in which nothing is made that has data: factories and random ops only follow their shape rules.

    >>> from minitorch_compile.tensor import rand
    >>> with dispatch.mode(ShapesOnly()):
    ...     x = rand(10**12)                # nothing is drawn from the random stream
    >>> x.is_fake
    True
    """

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The shape rule, unless all tensors are real."""
        if op.kind in MAKES_DATA or any(x.is_fake for x in tensors_in((args, kwargs))):
            return op.meta(*args, **kwargs)
        return op.run(args, kwargs)


def drawing_like(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """For the body of an op that draws random numbers beside its first argument: if that has no data, none are drawn.

    >>> from minitorch_compile.tensor import empty
    >>> empty(10**6, 10**6, device="meta").uniform_().shape
    torch.Size([1000000, 1000000])
    """

    @functools.wraps(kernel)
    def body(input: Any, *args: Any, **kwargs: Any) -> Any:
        if dispatch.contexts or not isinstance(input, TensorBase):
            return kernel(input, *args, **kwargs)
        with dispatch.mode(ShapesOnly()) if input.is_fake else making_on(input.device):
            return kernel(input, *args, **kwargs)

    return body


class FakeTensorMode(ShapesOnly):
    """The context manager. All tensors made inside are fake, also those from numbers and arrays.

    `allow_non_fake_inputs`: operations take real tensors beside fake ones; otherwise they are an AssertionError.
    `shape_env`: `from_tensor` makes the sizes symbols of it.
    """

    def __init__(self, *, allow_non_fake_inputs: bool = False, shape_env: ShapeEnv | None = None) -> None:
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.shape_env = shape_env
        # By the tensor's id, with a look at whether it is still that tensor: tensors compare elementwise.
        self._fakes: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self._storages: weakref.WeakKeyDictionary[Storage, Storage] = weakref.WeakKeyDictionary()
        self._entered: list[AbstractContextManager[Any]] = []

    def __enter__(self) -> FakeTensorMode:
        entered = dispatch.mode(self)
        entered.__enter__()
        self._entered.append(entered)
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)

    def from_tensor(self, tensor: Any, static_shapes: bool = False) -> Any:
        """A fake tensor that looks like a real one, the same one each time; with symbols for its sizes if the mode has
        a `shape_env`, unless `static_shapes`. AssertionError for a fake tensor of another mode."""
        reference, known = self._fakes.get(id(tensor), (None, None))
        if reference is None or reference() is not tensor:
            known = self.convert(tensor) if tensor.is_fake else self._like(tensor, static_shapes)
            self._fakes[id(tensor)] = weakref.ref(tensor), known
        return known

    def _like(self, tensor: Any, static_shapes: bool) -> Any:
        if self.shape_env is None or static_shapes:
            fake = fake_like(tensor)
        else:
            fake = symbolic_like(tensor, self.shape_env)
        fake.storage = self._storages.setdefault(tensor.storage, fake.storage)
        if tensor.base is not None:
            fake.base = self.from_tensor(tensor.base, static_shapes)
        fake.__class__ = tensor.__class__  # a Parameter stays one
        return self.convert(fake)

    def convert(self, tensor: Any) -> Any:
        """What the mode makes of a tensor that was made of data: a fake one. AssertionError for one of another mode."""
        fake = tensor if tensor.is_fake else fake_like(tensor)
        if fake.fake_mode not in (None, self):
            raise AssertionError("Mixing fake modes: a fake tensor of one mode was given to another")
        fake.fake_mode = self
        return fake

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The shape rule; the result is of this mode. AssertionError for real tensors, unless they are allowed."""
        self.check(op, (args, kwargs))
        result = op.meta(*args, **kwargs)
        for x in tensors_in(result):
            self.convert(x)
        return result

    def check(self, op: Op, arguments: Any) -> None:
        """AssertionError for a tensor that has no business here."""
        for x in tensors_in(arguments):
            if x.fake_mode not in (None, self):
                raise AssertionError(f"Mixing fake modes: {op!r} was given fake tensors of two modes")
            if not (x.is_fake or self.allow_non_fake_inputs):
                raise AssertionError(
                    "Please convert all Tensors to FakeTensors first (mode.from_tensor) or instantiate FakeTensorMode"
                    f" with 'allow_non_fake_inputs'. Found in {op!r}: a real tensor of sizes {list(x.sizes)}"
                )


def tensors_in(value: Any) -> Iterator[Any]:
    """All tensors in nested lists, tuples and dicts."""
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_in(item)
