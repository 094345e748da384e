"""How libraries of models are written: configurations that look at their own attributes, decorators that look at code.

PyTorch makes one graph of each of these.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo.explaining.explain import explain

pytestmark = pytest.mark.filterwarnings("error")


class Config:
    """Attributes have second names; both `__getattribute__` and `__setattr__` know them."""

    names = {"n": "size"}
    size = 1

    def __init__(self, size: int, by: float = 2.0) -> None:
        self.size, self.by, self.parts = size, by, ["a", {"b": size}]

    def __getattribute__(self, key: str) -> Any:
        if key != "names" and key in super().__getattribute__("names"):
            key = super().__getattribute__("names")[key]
        return super().__getattribute__(key)

    def __setattr__(self, key: str, value: Any) -> None:
        super().__setattr__(super().__getattribute__("names").get(key, key), value)


def graphs(function: Any, *args: Any) -> int:
    found = explain(function)(*args)
    assert found.graph_break_count == 0, found
    return found.graph_count


def test_attributes_behind_a_getattribute_of_its_own_are_read_and_guarded() -> None:
    def scaled(x: torch.Tensor, config: Config) -> torch.Tensor:
        return x * config.n * config.by if hasattr(config, "by") else x

    config, x = Config(3), torch.ones(2)
    assert graphs(scaled, x, config) == 1
    compiled = torch.compile(scaled, backend="eager")
    assert compiled(x, config).tolist() == [6.0, 6.0]
    config.n = 5
    assert compiled(x, config).tolist() == [10.0, 10.0]
    del config.size  # the class's answers
    assert compiled(x, config).tolist() == [2.0, 2.0]
    del config.by
    assert compiled(x, config).tolist() == [1.0, 1.0]


def test_a_getattribute_that_answers_otherwise_is_asked() -> None:
    class Doubled:
        def __init__(self) -> None:
            self.value = 2

        def __getattribute__(self, key: str) -> Any:
            return 2 * super().__getattribute__(key)

    def f(x: torch.Tensor, holder: Doubled) -> torch.Tensor:
        return x * holder.value

    holder = Doubled()
    compiled = torch.compile(f, backend="eager")
    assert compiled(torch.ones(1), holder).tolist() == [4.0]
    holder.value = 3
    assert compiled(torch.ones(1), holder).tolist() == [6.0]


def test_a_configuration_is_copied_and_its_copy_changed() -> None:
    def f(x: torch.Tensor, config: Config) -> tuple[torch.Tensor, Config]:
        made = copy.deepcopy(config)
        made.n = made.size + 1
        made.parts[1]["b"] = 0
        return x * made.n + len(copy.deepcopy(made.__dict__)), made

    config = Config(3)
    assert graphs(f, torch.ones(1), config) == 1
    result, made = torch.compile(f, backend="eager")(torch.ones(1), config)
    assert (result.item(), config.size, config.parts) == (7.0, 3, ["a", {"b": 3}])
    assert (type(made), vars(made)) == (Config, {"size": 4, "by": 2.0, "parts": ["a", {"b": 0}]})


def test_a_class_that_says_how_it_is_copied_is_not_copied_otherwise() -> None:
    class Shared:
        def __deepcopy__(self, memo: dict[int, Any]) -> Shared:
            return self

    shared = Shared()
    assert torch.compile(lambda x: (x + 1, copy.deepcopy(shared)), backend="eager")(torch.ones(1))[1] is shared


def test_what_the_code_of_a_function_says() -> None:
    def layer(x: torch.Tensor, use_cache: bool = True) -> torch.Tensor:
        return x + 1

    def f(x: torch.Tensor) -> torch.Tensor:
        code = layer.__code__
        known = "use_cache" in code.co_varnames and code.co_argcount == 2
        return layer(x) if known and code.co_name == "layer" else x

    assert graphs(f, torch.ones(1)) == 1
    assert torch.compile(f, backend="eager")(torch.ones(1)).item() == 2.0


def test_the_signature_of_a_bound_method_lacks_its_first_parameter() -> None:
    class Layer:
        def forward(self, x: torch.Tensor, scale: int = 3) -> torch.Tensor:
            return x * scale

    def f(x: torch.Tensor, layer: Layer) -> torch.Tensor:
        return x * len(inspect.signature(layer.forward).parameters)

    assert graphs(f, torch.ones(1), Layer()) == 1
    compiled = torch.compile(f, backend="eager")
    assert compiled(torch.ones(1), Layer()).item() == 2.0


class Numbers(Sequence[int]):
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Any:
        return (5, 6, 7)[index]


def test_a_sequence_that_is_left_before_its_end() -> None:
    # Sequence.__iter__ waits in `except IndexError:`, which has nothing to do when the generator goes.
    def f(x: torch.Tensor) -> torch.Tensor:
        for number in Numbers():
            if number > 5:
                break
        return x * number * (6 in Numbers())

    assert graphs(f, torch.ones(1)) == 1
    assert torch.compile(f, backend="eager")(torch.ones(1)).item() == 6.0


@pytest.mark.parametrize("caught", [GeneratorExit, BaseException])
def test_a_generator_that_catches_its_end_is_no_part_of_a_graph(caught: type[BaseException]) -> None:
    log: list[str] = []

    def f(x: torch.Tensor) -> torch.Tensor:
        def numbers() -> Any:
            try:
                yield x + 1
            except caught:
                log.append("left")

        return next(numbers())

    assert explain(f)(torch.ones(1)).graph_break_count == 1
    log.clear()
    assert torch.compile(f, backend="eager")(torch.ones(1)).item() == 2.0
    assert log == ["left"]


def test_a_tensor_in_a_graph_is_not_fake() -> None:
    from minitorch_compile._subclasses import FakeTensor

    assert graphs(lambda x: x + isinstance(x, FakeTensor) + isinstance(x + 1, FakeTensor), torch.ones(1)) == 1
