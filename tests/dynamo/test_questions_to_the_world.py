"""What a program asks the world while it is traced is asked again: environment, subclasses, signatures, identities."""

from __future__ import annotations

import copy
import inspect
import operator
import os
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import FloatTensor, LongTensor, ones, tensor
from minitorch_compile.autograd import Function
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.tensor import Tensor

NAME = "A_VARIABLE_OF_THESE_TESTS"


def whole(function: Callable[..., Any]) -> tuple[Callable[..., Any], CompileCounter]:
    """The function in one graph, and the counter of graphs."""
    counter = CompileCounter()
    return torch.compile(function, backend=counter, fullgraph=True), counter


def environment_by_get(x: Tensor) -> Tensor:
    return x * int(os.environ.get(NAME, "2"))


def environment_by_getenv(x: Tensor) -> Tensor:
    return x * int(os.getenv(NAME) or 2)


def environment_by_in(x: Tensor) -> Tensor:
    return x * int(os.environ[NAME]) if NAME in os.environ else x * 2


@pytest.mark.parametrize("function", [environment_by_get, environment_by_getenv, environment_by_in])
def test_a_variable_of_the_environment_that_changes_is_read_anew(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    compiled, counter = whole(function)
    seen = [compiled(ones(1)).item()]
    for value in ("3", "{4}"[1], "3"):
        monkeypatch.setenv(NAME, value)
        seen.append(compiled(ones(1)).item())
    assert seen == [2, 3, 4, 3]
    assert counter.frame_count == 3


def test_a_variable_with_braces_is_guarded_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "{0}")
    compiled, counter = whole(lambda x: x * len(os.environ[NAME]))
    assert [compiled(ones(1)).item() for _ in range(2)] == [3, 3]
    monkeypatch.setenv(NAME, "{1}!")
    assert compiled(ones(1)).item() == 4
    assert counter.frame_count == 2


def test_a_missing_variable_is_a_key_error() -> None:
    def f(x: Tensor) -> Tensor:
        try:
            return x * int(os.environ[NAME])
        except KeyError as error:
            return x * len(error.args[0])

    assert whole(f)[0](ones(1)).item() == len(NAME)


def test_the_environment_is_not_changed_while_tracing() -> None:
    def f(x: Tensor) -> Tensor:
        os.environ[NAME] = "1"
        return x

    with pytest.raises(Unsupported, match="outside state"):
        whole(f)[0](ones(1))
    assert NAME not in os.environ


def test_a_new_subclass_is_seen() -> None:
    class Base:
        weight = 1

    class First(Base):
        weight = 2

    compiled, _ = whole(lambda x: x * sum(cls.weight for cls in Base.__subclasses__()))
    assert compiled(ones(1)).item() == 2

    class Second(Base):
        weight = 5

    assert compiled(ones(1)).item() == 7
    assert {First, Second} == set(Base.__subclasses__())


def test_a_default_that_changes_is_seen_by_signature() -> None:
    def scale(x: Tensor, by: int = 2) -> Tensor:
        return x * by

    compiled, _ = whole(lambda x: x * inspect.signature(scale).parameters["by"].default)
    assert compiled(ones(1)).item() == 2
    scale.__defaults__ = (7,)
    assert compiled(ones(1)).item() == 7


def test_ids_tell_objects_apart() -> None:
    def f(x: Tensor, y: Tensor, owners: dict[int, int]) -> Tensor:
        return x * (2 if id(x) == id(y) else 3) + owners.get(id(x), 0)

    compiled, _ = whole(f)
    x, y = ones(1), ones(1)
    for args in ((x, x, {}), (x, y, {}), (x, y, {id(x): 5}), (x, y, {id(y): 5}), (y, y, {id(y): 5})):
        assert compiled(*args).item() == f(*args).item()


def test_ids_of_what_is_made_while_tracing() -> None:
    def f(x: Tensor) -> Any:
        first, second = [x], [x]
        seen = {id(first), id(second)}
        return x + len(seen), id(first) in seen, id(first) == id(second), id(x + 1) == id(x)

    assert whole(f)[0](ones(1))[1:] == (True, False, False)
    with pytest.raises(Unsupported, match="depends on the interpreter"):
        whole(lambda x: (x, id("text")))[0](ones(1))


def test_the_greater_of_a_tensor_of_several_elements_is_no_graph() -> None:
    with pytest.raises(Unsupported, match="data-dependent jump"):
        whole(lambda x: max(x, 1))[0](ones(2))


@pytest.mark.parametrize("numbers", [(3, 1), (1, 3), (2.5, 2.5), (-1, 0)])
def test_the_greater_and_the_smaller(numbers: tuple[float, float]) -> None:
    a, b = numbers
    compiled, _ = whole(lambda x, y: (max(x, y), min(x, y), max(x, 2), min(2.0, x), max([y, x, 0.5])))
    found = [value.item() for value in compiled(tensor(float(a)), tensor(float(b)))]
    assert found == [max(a, b), min(a, b), max(a, 2), min(2.0, a), max(b, a, 0.5)]


def test_old_constructors_refuse_what_they_refuse() -> None:
    compiled, _ = whole(lambda x: FloatTensor(x.long()))
    with pytest.raises(Unsupported):
        compiled(ones(2))
    kept, _ = whole(lambda x: LongTensor(x.shape) + LongTensor([[1, 2]]))
    assert kept(ones(1, 2)).tolist() == [[1, 2]]


def test_a_list_that_forward_writes_to_breaks_the_graph() -> None:
    class Counting(Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, seen: list[int]) -> Tensor:
            seen.append(1)
            return x * len(seen)

        @staticmethod
        def backward(ctx: Any, *grads: Tensor) -> Any:
            return grads[0], None

    def f(x: Tensor) -> Any:
        seen = [0]
        return Counting.apply(x, seen), seen

    x = ones(1, requires_grad=True)
    with pytest.raises(Unsupported, match="written to"):
        whole(f)[0](x)
    result, seen = torch.compile(f, backend="eager")(x)
    assert result.item() == 2 and seen == [0, 1]


def test_apply_itself_can_be_compiled() -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *grads: Tensor) -> Any:
            return grads[0] * 5

    x = ones(1, requires_grad=True)
    compiled, counter = whole(Double.apply)
    compiled(x).backward()
    assert x.grad is not None and x.grad.item() == 5
    assert counter.frame_count == 1


@pytest.mark.parametrize("count", [0, 3, 6])
def test_masked_scatter_takes_as_many_as_the_mask_chooses(count: int) -> None:
    x, mask = torch.arange(6.0), torch.arange(6) < count
    compiled, counter = whole(lambda x, mask, source: x.masked_scatter(mask, source))
    assert compiled(x, mask, x * 10).tolist() == x.masked_scatter(mask, x * 10).tolist()
    assert counter.frame_count == 1


def test_masked_scatter_is_told_of_too_few() -> None:
    with pytest.raises(RuntimeError, match="at least 3 elements"):
        torch.arange(3.0).masked_scatter(torch.ones(3, dtype=torch.bool), ones(2))
    with pytest.raises(RuntimeError, match="at least 1 elements"):
        torch.arange(3.0).masked_scatter(torch.arange(3) == 1, ones(0))
    nothing = torch.arange(3.0).masked_scatter(torch.arange(3) > 5, ones(0))
    assert nothing.tolist() == [0, 1, 2]


def test_functions_of_operator_on_sequences() -> None:
    def f(x: Tensor) -> Any:
        items = operator.iconcat(operator.concat([1], [2]), (2,))
        return x, items, operator.countOf(items, 2), operator.indexOf(items, 2), operator.length_hint(items)

    assert whole(f)[0](ones(1))[1:] == f(ones(1))[1:]
    with pytest.raises(TypeError, match="concatenated"):
        torch.compile(lambda x: operator.concat(1, 2), backend="eager")(ones(1))


def test_whether_jit_traces_is_asked_again() -> None:
    def f(x: Tensor) -> Tensor:
        return x * 5 if torch.jit.is_tracing() else x + 1

    compiled, counter = whole(f)
    assert compiled(ones(1)).item() == 2
    traced = torch.jit.trace(lambda x: compiled(x), ones(1), check_trace=False)
    assert traced(ones(1) * 2).item() == 10 and compiled(ones(1)).item() == 2
    assert counter.frame_count == 2


def test_deep_copies_are_new_containers_with_the_same_sharing() -> None:
    def f(x: Tensor, outside: dict[str, Any]) -> Any:
        shared = [1, "a"]
        made = copy.deepcopy({"a": shared, "b": shared, "c": (1, [2]), "d": (1, 2)})
        made["a"].append(x)
        taken = copy.deepcopy(outside)
        taken["items"].append(3)
        return made["a"] is made["b"], shared, made["c"], taken, outside, x + 1

    outside = {"items": [1, 2]}
    found, expected = whole(f)[0](ones(1), outside), f(ones(1), outside)
    assert found[:5] == expected[:5] and outside == {"items": [1, 2]}
    looped: list[Any] = []
    looped.append(looped)
    result = torch.compile(lambda x, items: (copy.deepcopy(items), x + 1), backend="eager")(ones(1), looped)[0]
    assert result[0] is result and result is not looped
    box = torch.compile(lambda x, box: (copy.deepcopy(box), x + 1), backend="eager")(ones(1), [ones(1)])[0]
    assert box[0].item() == 1


def test_shallow_copies_share_what_is_in_them() -> None:
    def f(x: Tensor, outside: list[Any]) -> Any:
        items = copy.copy(outside)
        items.append(x)
        table = copy.copy({"a": items})
        return table["a"] is items, items[0] is outside[0], len(outside), copy.copy((1, 2)), x + len(items)

    compiled, _ = whole(f)
    found, expected = compiled(ones(1), [[1]]), f(ones(1), [[1]])
    assert found[:4] == expected[:4] and found[4].item() == expected[4].item()
