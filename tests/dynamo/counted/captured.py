"""What programs do besides computing: they ask for types, identities, signatures, the environment, old constructors."""

import enum
import functools
import inspect
import itertools
import operator
import os
from typing import Any, Callable, Dict, Generic, List, Optional, Tuple, TypeVar, Union

import torch

from tests.dynamo.counting import counts, matrix

FUNCTIONS = {torch.sin, torch.cos}


def helper(x, a=1, *, b=2):
    return x + a + b


class Plugin:
    weight = 1


class FirstPlugin(Plugin):
    weight = 2


class SecondPlugin(Plugin):
    weight = 3


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factors):
        ctx.factors = factors
        return x * sum(factors)

    @staticmethod
    def backward(ctx, grad):
        return grad * sum(ctx.factors), None


T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, content):
        self.content = content


class Chunked(torch.nn.Module):
    def chunk(self, x, times=2):
        return x * times

    def forward(self, x):
        return self.chunk(x, len(inspect.signature(self.chunk).parameters))


@counts
def new_of_sizes(x):
    return x.new(2, 3).zero_() + 1


@counts
def new_of_numbers(x):
    return x.new([1.0, 2.0, 3.0]) + x


@counts
def legacy_constructors(x):
    return torch.FloatTensor([1, 2, 3]) + x + torch.LongTensor([1, 2, 3]) + torch.Tensor([[3]])


@counts
def legacy_types(x):
    return x.type(torch.DoubleTensor) if isinstance(x, torch.FloatTensor) else x


@counts
def the_name_of_a_type(x):
    return x + 1 if x.type() == "torch.FloatTensor" else x


@counts
def scripting_and_tracing(x):
    return x if torch.jit.is_scripting() or torch.jit.is_tracing() else x + 1


@counts
def devices(x):
    device = torch.device("cpu")
    return torch.zeros(3, device=device) + x if device == x.device and device.index is None else x


@counts
def is_there_a_gpu(x):
    return x.cuda() if torch.cuda.is_available() else x + 1


@counts(lambda torch: (torch.tensor(1.5),))
def the_greater_of_a_tensor_and_a_number(x):
    return max(x, 1) + min(x, 2.0)


@counts(lambda torch: (torch.tensor(1.5),))
def the_greater_of_two_tensors(x):
    return max(x, x * 2)


@counts
def masked_scatter(x):
    return x.masked_scatter(x > 0.3, torch.ones(6))


@counts
def operators_by_name(x):
    numbers = operator.iconcat(operator.concat([1], [2]), [3])
    return operator.mul(operator.sub(x, 1), operator.neg(x)) + operator.countOf(numbers, 2) + operator.truth(numbers)


@counts
def accumulate(x):
    return list(itertools.accumulate([x, x, x], operator.mul, initial=x))


@counts
def accumulate_numbers(x):
    return x * list(itertools.accumulate([1, 2, 3], func=lambda a, b: a * b))[-1]


@counts
def subclasses(x):
    return x + sum(plugin.weight for plugin in Plugin.__subclasses__())


@counts
def identities(x):
    ids = {id(Plugin), id(helper)}
    return x + 1 if id(helper) in ids and id(x) == id(x) else x


@counts
def functions_in_sets(x):
    return x + (torch.sin in FUNCTIONS) + (helper in {helper})


@counts
def signatures(x):
    parameters = inspect.signature(helper).parameters
    return helper(x, **{name: 3 for name, p in parameters.items() if p.kind == inspect.Parameter.KEYWORD_ONLY})


@counts
def bound_arguments(x):
    bound = inspect.signature(helper).bind(x, a=3)
    bound.apply_defaults()
    return helper(*bound.args, **bound.kwargs)


@counts
def what_inspect_says(x):
    return x + inspect.isfunction(helper) + inspect.isclass(Plugin) + inspect.ismethod(helper)


@counts
def the_environment(x):
    return x + int(os.environ.get("A_NAME_THAT_NOBODY_SETS", "3")) + ("ANOTHER" in os.environ) + len(os.getenv("X", ""))


@counts
def what_a_tensor_has(x):
    return x + hasattr(x, "grad_fn") + hasattr(x, "nothing")


@counts(lambda torch: (matrix(torch).requires_grad_(),))
def an_autograd_function_with_a_list(x):
    return Scaled.apply(x, [2, 3]).sum()


@counts
def members_as_numbers(x):
    return x.sum(dim=Level.LOW) * Level.HIGH


@counts(lambda torch: (matrix(torch), Level.HIGH))
def a_member_as_an_argument(x, level):
    return x * level if level == 2 and level is Level.HIGH else x


@counts
def read_only_dicts(x):
    from types import MappingProxyType

    proxy = MappingProxyType({"by": 2})
    return x * proxy["by"] + len(proxy)


@counts
def partial_methods(x):
    return functools.partial(helper, a=2)(x, b=1)


@counts
def annotations_of_an_inner_function(x):
    def inner(a: List[Plugin], b: Optional[int] = None, **more: Dict[str, Any]) -> Tuple[int, ...]:
        return x + 1

    return inner([])


@counts
def annotations_of_new_kinds(x):
    def inner(a: torch.Tensor | None, b: "int", c: Callable[[int], torch.Tensor], d: Union[T, int] = 1) -> list[int]:
        return x + d

    return inner(x, 1, None)


@counts
def an_object_of_a_generic_class(x):
    return Box[int](x).content * 2


@counts
def apply_of_an_object(x):
    return Scaled().apply(x, [2.0])


@counts
def the_signature_of_a_method(x):
    return Chunked()(x)


@counts
def whether_somebody_else_traces(x):
    return x if torch.fx._symbolic_trace.is_fx_tracing() or torch.onnx.is_in_onnx_export() else x * 2


@counts
def what_is_like_a_tensor(x):
    return x + torch.overrides.is_tensor_like(x) + torch.overrides.is_tensor_like(3)


@counts(lambda torch: (matrix(torch), iter((1.0, 2.0, 3.0))))
def an_iterator_over_a_tuple(x, items):
    return x * next(items) + next(items)


@counts(lambda torch: (matrix(torch), iter(range(3))))
def an_iterator_over_a_range(x, items):
    for item in items:
        x = x * item
    return x


@counts
def an_iterator_across_a_break(x):
    items = iter((1.0, 2.0, 3.0))
    x = x * next(items)
    torch._dynamo.graph_break()
    return x * next(items) + next(items)


@counts
def pairs_of_a_number(x):
    return x.repeat(torch.nn.modules.utils._pair(2))
