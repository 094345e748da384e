"""Functions of a float that is another one at each call, entered in the table of programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.dynamo.size_sequences.programs import PROGRAMS, SETTINGS, Library, program

__all__ = ["PROGRAMS", "SETTINGS"]

RATES = 0.25, 0.5, 0.75, 1.5
OPERATIONS: dict[str, Callable[..., Any]] = {
    "operands": lambda torch, x, a: (x * a, a - x, x / a, x**a, a**x, x > a),
    "alpha": lambda torch, x, a: torch.add(x, x, alpha=a),
    "clamp": lambda torch, x, a: x.clamp(min=a),
    "slope": lambda torch, x, a: torch.nn.functional.leaky_relu(x - 2, a),
    "full": lambda torch, x, a: x + torch.full((3,), a),
    "fill": lambda torch, x, a: x.clone().fill_(a),
    "lerp": lambda torch, x, a: torch.lerp(x, x + 1, a),
    "value": lambda torch, x, a: torch.addcmul(x, x, x, value=a),
    "where": lambda torch, x, a: torch.where(x > 1, x, a),
    "masked_fill": lambda torch, x, a: x.masked_fill(x > 1, a),
    "in_place": lambda torch, x, a: x.clone().mul_(a).add_(a),
    "set_item": lambda torch, x, a: torch.ones(3).index_put_((torch.tensor([0]),), x[0] * a),
    "temperature": lambda torch, x, a: (x / a).softmax(0),
    "tensor": lambda torch, x, a: x * torch.tensor(a),
    "epsilon": lambda torch, x, a: torch.nn.functional.layer_norm(x, (3,), eps=a),
    "probability": lambda torch, x, a: torch.nn.functional.dropout(x, a / 2, training=False),
}
IN_PYTHON: dict[str, Callable[..., Any]] = {
    "arithmetic": lambda torch, x, a: x * (a * 2 + 1) - a / 3 + a**2 - 2**a + -a,
    "remainders": lambda torch, x, a: x * (a // 2 + a % 0.75),
    "functions": lambda torch, x, a: x * math.sqrt(a) + math.sin(a) - math.tanh(a) * abs(a),
    "extremes": lambda torch, x, a: x * max(a, 0.5) + min(a, 0.5),
    "rounded": lambda torch, x, a: x * round(a, 1),
    "compared": lambda torch, x, a: x * a if a > 0.6 else x - a,
    "truth": lambda torch, x, a: x * a if a else x,
    "in_a_list": lambda torch, x, a: x * [a, 2.0][0],
    "returned": lambda torch, x, a: (x + 1, a),
    "computed_and_returned": lambda torch, x, a: (x + 1, a * 2),
    "text": lambda torch, x, a: (x + 1, f"{a}"),
    "key": lambda torch, x, a: x * {a: 2.0}[a],
}


def _entered(name: str, function: Callable[..., Any], rates: tuple[Any, ...] = RATES) -> None:
    def float_program(torch: Library) -> Any:
        x = torch.arange(3.0) + 0.5
        return lambda x, a: function(torch, x, a), [(x, rate) for rate in rates]

    float_program.__name__ = f"float_{name}"
    program()(float_program)


for _name, _function in (OPERATIONS | IN_PYTHON).items():
    _entered(_name, _function)
_entered("whole", lambda torch, x, a: x * int(a) + math.floor(a), (2.5, 3.5, 3.75, 5.0))
_entered("not_finite", lambda torch, x, a: x * a, (0.5, math.nan, math.inf, 0.25, math.nan, -math.inf, 0.75))
_entered("small_and_negative", lambda torch, x, a: x * a, (0.0, 1.0, 2.0, -1.0))
_entered("of_two_kinds", lambda torch, x, a: x * a, (1.0, 2, 3.0, 4, 5.0, 6))
_entered("in_a_container", lambda torch, x, a: x * a["rate"], tuple({"rate": rate} for rate in RATES))


@program(dynamic=True)
def float_always(torch: Library) -> Any:
    return lambda x, a: x * a, [(torch.ones(3), rate) for rate in RATES]


@program(dynamic=False)
def float_never(torch: Library) -> Any:
    return lambda x, a: x * a, [(torch.ones(3), rate) for rate in RATES]


@program()
def float_with_whole_numbers(torch: Library) -> Any:
    return lambda x, a: x.long() * a, [(torch.ones(3), rate) for rate in RATES]


@program()
def float_times_a_size(torch: Library) -> Any:
    return lambda x, a: x * (a * x.shape[0]), [(torch.ones(n), a) for n, a in enumerate(RATES, 3)]


@program()
def float_of_a_size(torch: Library) -> Any:
    return lambda x: x / math.sqrt(x.shape[0]) + x.shape[0] * 0.5, [(torch.ones(n),) for n in (3, 4, 5, 6)]


@program()
def float_across_a_break(torch: Library) -> Any:
    def f(x: Any, a: float) -> Any:
        y = x * a
        torch._dynamo.graph_break()
        return y + a

    return f, [(torch.ones(3), rate) for rate in RATES]


@program()
def float_of_a_module(torch: Library) -> Any:
    class Scaled(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, rate: float) -> Any:
            return x * self.scale

        def __call__(self, x: Any, rate: float) -> Any:
            self.scale = rate
            return super().__call__(x, rate)

    return Scaled(), [(torch.ones(3), rate) for rate in RATES]
