"""Classes and modes with __torch_function__."""

import torch

from tests.dynamo.counting import counts, matrix


class Kept(torch.Tensor):
    """Results are of this class."""


class Scaled(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.add:
            with torch._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {})) * 2
        return super().__torch_function__(func, types, args, kwargs)


HANDLED = {}


class Measured:
    """A tensor with a unit: no tensor itself."""

    def __init__(self, value, unit):
        self.value = value
        self.unit = unit

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED or not all(issubclass(t, (torch.Tensor, Measured)) for t in types):
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))


def _add(a, b):
    return Measured(a.value + (b.value if isinstance(b, Measured) else b), a.unit)


HANDLED[torch.add] = _add
HANDLED[torch.mean] = lambda a: Measured(torch.mean(a.value), a.unit)


class Turned(torch.overrides.TorchFunctionMode):
    """Additions are subtractions."""

    def __init__(self):
        super().__init__()
        self.turned = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.add:
            self.turned += 1
            func = torch.sub
        return func(*args, **(kwargs or {}))


def kept(torch):
    return (matrix(torch).as_subclass(Kept),)


def scaled(torch):
    return (matrix(torch).as_subclass(Scaled),)


@counts(lambda torch: kept(torch))
def a_subclass_is_kept(x):
    y = (x + 1).sin()
    return y, type(y) is Kept


@counts(lambda torch: scaled(torch))
def a_subclass_that_overrides(x):
    return torch.add(x, 1), torch.sin(x)


@counts
def a_subclass_made_inside(x):
    return torch.add(x.as_subclass(Scaled), 1)


@counts(lambda torch: scaled(torch))
def switched_off(x):
    with torch._C.DisableTorchFunctionSubclass():
        return torch.add(x, 1)


@counts
def an_object_that_overrides(x):
    y = torch.mean(torch.add(Measured(x, "m"), x))
    return y.value, y.unit


@counts
def a_mode(x):
    with Turned() as mode:
        y = torch.add(torch.add(x, 1), 2)
    return y, torch.add(x, 1), mode.turned


@counts(lambda torch: scaled(torch))
def a_subclass_in_a_mode(x):
    with Turned():
        return torch.add(x, 1)


@counts(lambda torch: scaled(torch))
def asked_whether_it_overrides(x):
    return torch.overrides.has_torch_function((x,)), torch.sin(x)
