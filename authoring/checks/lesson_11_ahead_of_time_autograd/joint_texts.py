"""Three joint graphs as text, a line for each value, each with one wrong line.

>>> import minitorch_compile as torch
>>> values = run(JOINTS["twice"], {}, (torch.ones(1), torch.ones(1)))
>>> values["slope_x"]
tensor([0.5403])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import minitorch_compile as torch
from minitorch_compile.tensor import Tensor


@dataclass(frozen=True)
class JointText:
    """`program` is what it should be the joint graph of; `wrong` is the name on the wrong line.

    `text`: a line `name = expression` for each value. `inputs` are the names of the arguments, the tangent last.
    """

    program: Callable[..., Tensor]
    inputs: tuple[str, ...]
    text: str
    wrong: str

    @property
    def lines(self) -> dict[str, str]:
        pairs = [line.split(" = ", 1) for line in self.text.strip().splitlines()]
        return {name.strip(): expression.strip() for name, expression in pairs}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the result and of the slopes."""
        return ("result", *(f"slope_{name}" for name in self.inputs[:-1]))


def overwritten(x: Tensor) -> Tensor:
    """exp of the old x, times the new x."""
    y = x.exp()
    x = x * 2  # x.mul_(2), made functional
    return x * y


JOINTS = {
    "twice": JointText(
        lambda x: x.sin() * x,
        ("x", "t"),
        """
        a = torch.sin(x)
        result = a * x
        g = t * x
        slope_x = g * torch.cos(x)
        """,
        "slope_x",
    ),
    "stretched": JointText(
        lambda x, b: torch.tanh(x + b),
        ("x", "b", "t"),
        """
        a = x + b
        result = torch.tanh(a)
        g = t * (1 - result * result)
        slope_x = g
        slope_b = g
        """,
        "slope_b",
    ),
    "overwritten": JointText(
        overwritten,
        ("x", "t"),
        """
        y = torch.exp(x)
        x_1 = x * 2
        result = x_1 * y
        g_y = t * x
        g_x_1 = t * y
        slope_x = g_y * y + g_x_1 * 2
        """,
        "g_y",
    ),
}


def run(joint: JointText, changed: Mapping[str, str], inputs: Sequence[Tensor]) -> dict[str, Tensor]:
    """All values, with the lines in `changed` instead of the joint graph's own."""
    values: dict[str, Any] = dict(zip(joint.inputs, inputs, strict=True))
    for name, expression in {**joint.lines, **changed}.items():
        values[name] = eval(expression, {"torch": torch}, values)
    return values


def expected(joint: JointText, inputs: Sequence[Tensor]) -> dict[str, Tensor]:
    """The outputs, by the tape."""
    *arguments, tangent = (x.detach().requires_grad_() for x in inputs)
    result = joint.program(*arguments)
    return dict(zip(joint.outputs, (result, *torch.autograd.grad(result, arguments, tangent)), strict=True))
