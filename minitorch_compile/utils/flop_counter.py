"""FlopCounterMode: how many floating point operations a program takes, counted from the sizes.

Matrix products, convolutions and attention are counted, each multiplication and each addition, as in PyTorch; all else
is free.

>>> from minitorch_compile import nn, ones
>>> with FlopCounterMode(display=False) as counter:
...     _ = nn.Linear(4, 8)(ones(3, 4))
>>> counter.get_total_flops()
192
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.dispatch import enter, leave, stacks
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.tensor_base import TensorBase

Formula = Callable[..., int]
flop_registry: dict[Any, Formula] = {}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Declares how many operations an op, or each of several, takes: a function of the shapes of its arguments, and of
    `out_shape`; with `get_raw`, of the arguments themselves and `out_val`."""

    def register(formula: Formula) -> Formula:
        counted = formula if get_raw else _of_shapes(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            flop_registry[target] = counted
        return formula

    return register


def _of_shapes(formula: Formula) -> Formula:
    @functools.wraps(formula)
    def counted(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        return formula(*map(_shape, args), out_shape=_shape(out_val), **{k: _shape(v) for k, v in kwargs.items()})

    return counted


def _shape(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return tuple(value.sizes)
    return type(value)(map(_shape, value)) if type(value) in (list, tuple) else value


@register_flop_formula([ops.mm, ops.bmm])
def product_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """A multiplication and an addition for each of rows, columns and what is summed over."""
    return 2 * math.prod(a_shape) * b_shape[-1]


@register_flop_formula([ops.addmm, ops.baddbmm])
def sum_and_product_flop(input_shape: Any, a_shape: Any, b_shape: Any, *args: Any, **kwargs: Any) -> int:
    """The product; that something is added to it is not counted."""
    return product_flop(a_shape, b_shape)


@register_flop_formula([ops.convolution])
def convolution_flop(x_shape: Any, w_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """For each element of the result, a window of the weight."""
    return 2 * math.prod(out_shape) * math.prod(w_shape[1:])


@register_flop_formula([ops.flash_attention])
def attention_flop(query_shape: Any, key_shape: Any, value_shape: Any, *args: Any, **kwargs: Any) -> int:
    """The scores, and what is done with them."""
    *batch, rows, width = query_shape
    return 2 * math.prod(batch) * rows * key_shape[-2] * (width + value_shape[-1])


class FlopCounterMode:
    """A context manager that counts: forward for each module, backward as a whole.

    custom_mapping: formulas for other ops; one with `_get_raw` gets the arguments themselves. display: prints a table
    at the end, modules down to `depth`. mods: not needed any more, as in PyTorch.
    """

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None
    ) -> None:
        self.depth = depth
        self.display = display
        custom = {op: f if getattr(f, "_get_raw", False) else _of_shapes(f) for op, f in (custom_mapping or {}).items()}
        self.flop_registry = {**flop_registry, **custom}
        self.flop_counts: dict[str, dict[Any, int]] = {}
        self._inside: list[str] = ["Global"]

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """As a mode of the dispatcher: counts, and goes on."""
        result = op(*args, **kwargs)
        formula = self.flop_registry.get(op)
        if formula is not None:
            count = formula(*args, **kwargs, out_val=result)
            for name in dict.fromkeys(self._inside):
                counts = self.flop_counts.setdefault(name, {})
                counts[op] = counts.get(op, 0) + count
        return result

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        enter(stacks.modes, self)
        self._called, mode = Module.__call__, self
        called = self._called

        def counted(module: Any, *args: Any, **kwargs: Any) -> Any:
            mode._inside.append(mode._name_of(module))
            try:
                return called(module, *args, **kwargs)
            finally:
                mode._inside.pop()

        Module.__call__ = counted  # type: ignore[method-assign, assignment]
        self._names: dict[int, str] = {}
        return self

    def __exit__(self, *error: Any) -> None:
        Module.__call__ = self._called  # type: ignore[method-assign]
        leave(stacks.modes, self)
        if self.display:
            print(self.get_table(self.depth))

    def _name_of(self, module: Any) -> str:
        """By the path from the outermost module that is being called."""
        if len(self._inside) == 1:
            self._names = {id(m): f"{type(module).__name__}.{path}".rstrip(".") for path, m in module.named_modules()}
        return self._names.get(id(module), type(module).__name__)

    def get_total_flops(self) -> int:
        """All of them."""
        return sum(self.flop_counts.get("Global", {}).values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """{the module's name, or "Global": {op: how many}}. Those of a module count for all around it."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text, a line for each module and op."""
        total = max(self.get_total_flops(), 1)
        rows = [("Module", "FLOP", "% Total")]
        for name, counts in sorted(self.flop_counts.items(), key=lambda item: item[0] != "Global"):
            level = 0 if name == "Global" else name.count(".") + 1
            if level > (self.depth if depth is None else depth):
                continue
            entries = [(name, sum(counts.values())), *((f" - {op.name}", n) for op, n in counts.items())]
            rows += [(" " * level + text, f"{n:,}", f"{n / total:.2%}") for text, n in entries]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows]
        return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])
