"""Context managers, exceptions, grad modes, autocast, autograd functions."""

import contextlib

import torch
from torch import nn

from tests.dynamo.counting import counts, matrix


@counts
def no_grad_as_a_context(x):
    with torch.no_grad():
        y = x * 2
    return y + 1


@counts
def nested_grad_modes(x):
    with torch.no_grad():
        a = x * 2
        with torch.enable_grad():
            b = x * 3
    with torch.set_grad_enabled(False):
        c = x * 4
    return a + b + c, torch.is_grad_enabled()


@torch.no_grad()
def _without_grad(x):
    return x * 3


@counts
def no_grad_as_a_decorator(x):
    return _without_grad(x) + 1


@counts
def grad_mode_switched(x):
    torch.set_grad_enabled(False)
    y = x * 2
    torch.set_grad_enabled(True)
    return y


@counts
def inference_mode(x):
    with torch.inference_mode():
        return x * 2


@counts
def autocast_switched_off(x):
    with torch.amp.autocast("cpu", enabled=False):
        return x @ x.T


@counts
def nested_autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = x @ x.T
        with torch.autocast("cpu", enabled=False):
            b = x @ x.T
        with torch.amp.autocast("cpu", dtype=torch.float16):
            c = x @ x.T
    return a, b, c, x @ x.T


@torch.autocast("cpu", dtype=torch.bfloat16)
def _cast_product(x):
    return x @ x.T


@counts
def autocast_as_a_decorator(x):
    return _cast_product(x), x @ x.T


@counts
def autocast_that_is_asked_for(x):
    with torch.autocast("cpu"):
        inside = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
        y = x @ x.T
    return y, inside, torch.is_autocast_enabled("cpu")


@counts
def autocast_left_by_an_error(x):
    try:
        with torch.autocast("cpu"):
            y = x @ x.T
            raise KeyError
    except KeyError:
        return y, x @ x.T


@counts
def autocast_around_a_break(x):
    with torch.autocast("cpu"):
        y = x @ x.T
        print("cast")
        return y, x @ x.T


@contextlib.contextmanager
def _scaled(holder, by):
    before = holder["k"]
    holder["k"] = by
    try:
        yield holder
    finally:
        holder["k"] = before


@counts
def a_context_written_as_a_generator(x):
    holder = {"k": 1}
    with _scaled(holder, 5) as inside:
        x = x * inside["k"]
    return x + holder["k"]


class Managed:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, traceback):
        self.log.append("out")
        return kind is ValueError


@counts
def a_context_written_as_a_class(x):
    log = []
    with Managed(log) as managed:
        x = x + len(managed.log)
    return x + len(log)


@counts
def a_context_that_suppresses(x):
    log = []
    with Managed(log):
        x = x + 1
        raise ValueError("no")
    return x + len(log)


@counts
def null_contexts(x):
    context = contextlib.nullcontext(3)
    with context as k:
        return x * k


@counts
def suppressed_exceptions(x):
    with contextlib.suppress(KeyError):
        x = x + 1
        x = x + {}["nothing"]
    return x * 2


@counts
def exit_stacks(x):
    with contextlib.ExitStack() as stack:
        holder = stack.enter_context(_scaled({"k": 1}, 4))
        stack.callback(holder.update, done=1)
        x = x * holder["k"]
    return x + holder["done"]


@counts
def several_contexts(x):
    with torch.no_grad(), contextlib.nullcontext(), _scaled({"k": 2}, 3) as holder:
        return x * holder["k"]


@counts
def exceptions_caught(x):
    try:
        x = x + 1
        raise ValueError("a", 2)
    except (KeyError, ValueError) as error:
        x = x * error.args[1]
    else:
        x = x * 100
    finally:
        x = x - 1
    return x


class Refused(Exception):
    def __init__(self, amount):
        super().__init__(f"refused {amount}")
        self.amount = amount


def _refuses(x, amount):
    if amount > 2:
        raise Refused(amount)
    return x * amount


@counts
def exceptions_of_a_class_in_a_callee(x):
    total = x
    for amount in (1, 2, 3):
        try:
            total = total + _refuses(x, amount)
        except Refused as error:
            total = total * error.amount + len(str(error))
    return total


@counts
def exceptions_of_python(x):
    try:
        return x * [1, 2][5]
    except IndexError:
        pass
    try:
        x.nothing
    except AttributeError:
        x = x + 1
    try:
        return x + int("a")
    except ValueError:
        return x * 2


@counts
def exceptions_raised_again(x):
    try:
        try:
            raise KeyError("k")
        except KeyError as error:
            raise RuntimeError("outer") from error
    except RuntimeError as error:
        return x * (2 if isinstance(error.__cause__, KeyError) else 3)


@counts
def finally_with_return(x):
    log = []

    def inner():
        try:
            return x * 2
        finally:
            log.append(1)

    return inner() + len(log)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


@counts
def an_autograd_function(x):
    return Cube.apply(x) + 1


@counts(lambda torch: (matrix(torch).requires_grad_(),))
def an_autograd_function_with_gradients(x):
    return Cube.apply(x * 2).sum()


@counts(lambda torch: (matrix(torch).requires_grad_(),))
def detached_parts(x):
    y = x * 2
    return (y.detach() + x).sum(), y.requires_grad


@counts
def dispatching_on_grad_mode(x):
    if torch.is_grad_enabled():
        x = x + 1
    return x


@counts
def compiling_is_known(x):
    return x * 2 if torch.compiler.is_compiling() else x + x


@counts(lambda torch: (matrix(torch), torch.randn(4, 3)))
def functional_calls(x, w):
    layer = nn.functional.linear
    return torch.nn.functional.normalize(layer(x, w), dim=-1)


@counts
def checkpointed(x):
    return torch.utils.checkpoint.checkpoint(lambda y: torch.sin(y) * 2, x, use_reentrant=False)


@counts
def default_dtype_is_read(x):
    return x.to(torch.get_default_dtype()) + torch.finfo(x.dtype).max * 0 + torch.iinfo(torch.int32).max


@counts
def promoted_types(x):
    return x.to(torch.promote_types(x.dtype, torch.float64)) + torch.result_type(x, 1).itemsize
