"""Calls whose results PyTorch recorded: values, dtypes, sizes, strides, and the classes of errors.

`recorded/<family>.json` maps each call, a line of Python, to what PyTorch made of it. To add one, write the line with
the result null, and run `python -m tests.tensor.recorded_calls` in an environment that has torch and numpy: it fills in
all results anew. The tests only read the files.

In a line, `some(2, 3)` is a float32 tensor of fixed random numbers (`dtype=` for others), `places(4, high=3)` an int64
tensor of numbers below 3, `gradient(out, x)` that of a weighted sum of `out`, `weighed(x)` a weighted sum of squares.

>>> evaluate("x = some(2); x.shape", stand_in_torch())
['Size', [2]]
"""

from __future__ import annotations

import ast
import json
import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).with_name("recorded")


def families() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def calls(family: str) -> dict[str, Any]:
    """The lines of a family and their recorded results."""
    return json.loads((FOLDER / f"{family}.json").read_text())


def stand_in_torch() -> Any:
    import minitorch_compile

    return minitorch_compile


# ------------------------------------------------------------------------------------------ running a line


def namespace(torch: Any) -> dict[str, Any]:
    """What a line may name."""

    def some(*sizes: int, dtype: str = "float32", seed: int = 0, low: int = -9, high: int = 9) -> Any:
        rng = np.random.RandomState(seed + len(sizes))
        if dtype == "bool":
            values = rng.rand(*sizes) < 0.5
        elif dtype.startswith("float"):
            values = rng.randn(*sizes)
        else:
            values = rng.randint(max(low, 0) if dtype.startswith("uint") else low, high, sizes)
        return torch.from_numpy(np.array(values, dtype))

    def places(*sizes: int, low: int = 0, high: int = 3, seed: int = 0) -> Any:
        return some(*sizes, dtype="int64", low=low, high=high, seed=seed)

    def weights(x: Any) -> Any:
        return torch.arange(x.numel()).view(x.shape).float().cos()

    def gradient(out: Any, x: Any) -> Any:
        (out * weights(out)).sum().backward()
        return x.grad

    def weighed(x: Any) -> Any:
        return (x * x * weights(x)).sum()

    return {
        "gradient": gradient,
        "weighed": weighed,
        "torch": torch,
        "F": torch.nn.functional,
        "np": np,
        "some": some,
        "places": places,
        "i32": torch.int32,
        "i64": torch.int64,
        "f32": torch.float32,
        "f64": torch.float64,
        "inf": math.inf,
        "nan": math.nan,
    }


def evaluate(line: str, torch: Any) -> Any:
    """What the line makes, described: a list of plain values."""
    names = namespace(torch)
    tree = ast.parse(line)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr), f"a line ends in an expression: {line}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "<line>", "exec"), names)
            return described(eval(compile(ast.Expression(last.value), "<line>", "eval"), names), torch)
        except Exception as error:  # its class is what is recorded
            return ["error", type(error).__name__]


def described(value: Any, torch: Any) -> Any:
    """A result as plain values; a tensor as dtype, sizes, strides, requires_grad and elements."""
    if isinstance(value, torch.Tensor):
        elements = value.detach().reshape(-1).tolist() if value.device.type == "cpu" else None
        return ["tensor", str(value.dtype), list(value.shape), list(value.stride()), value.requires_grad, elements]
    if isinstance(value, torch.Size):
        return ["Size", list(value)]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, [described(item, torch) for item in value]]
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), list(value.shape), value.reshape(-1).tolist()]
    if isinstance(value, (bool, int, float, str, type(None))):
        return ["value", type(value).__name__, value]
    return ["object", repr(value)]


# ------------------------------------------------------------------------------------------ comparing


def differences(recorded: Any, ours: Any) -> Iterator[str]:
    """Where two descriptions differ. Floats may differ in the last digits; strides of no elements mean nothing."""
    if isinstance(recorded, list) and isinstance(ours, list) and len(recorded) == len(ours):
        empty = recorded[:1] == ["tensor"] and 0 in recorded[2]
        for place, (a, b) in enumerate(zip(recorded, ours, strict=True)):
            if not (empty and place == 3):
                yield from differences(a, b)
    elif isinstance(recorded, float) and isinstance(ours, float):
        if not (math.isclose(recorded, ours, rel_tol=1e-4, abs_tol=1e-5) or recorded != recorded != ours != ours):
            yield f"{recorded} in PyTorch, {ours} here"
    elif type(recorded) is not type(ours) or recorded != ours:
        yield f"{recorded} in PyTorch, {ours} here"


def record() -> None:
    """Fills in the results of every line. Needs PyTorch."""
    import torch  # only here: the tests never import it

    for family in families():
        lines = calls(family)
        results = ",\n".join(f"{json.dumps(line)}: {json.dumps(_rounded(evaluate(line, torch)))}" for line in lines)
        (FOLDER / f"{family}.json").write_text("{\n" + results + "\n}\n")
        print(f"{family}: {len(lines)} calls", file=sys.stderr)


def _rounded(value: Any) -> Any:
    """Floats with seven digits, enough for float32."""
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.7g}") if isinstance(value, float) and math.isfinite(value) else value


if __name__ == "__main__":
    record()
