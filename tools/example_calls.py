"""Writes minitorch_compile/prims/example_calls.txt: one call of each public op, taken from the call sheets.

    python tools/example_calls.py            write the file
    python tools/example_calls.py --check    fail if it is out of date, or if an op has no example

`prims.closure()` runs them to see which prims each op comes down to. Of the lines of the sheets whose outermost call is
of an op, the shortest is its example; lines on tensors without dimensions or elements only where there is no other.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import minitorch_compile  # noqa: E402
from minitorch_compile.tensor import ops  # noqa: E402
from minitorch_compile.tensor.dispatch.op import Op  # noqa: E402
from tests.battery.arguments import Arguments  # noqa: E402
from tests.battery.outcome import evaluate  # noqa: E402
from tests.battery.sheet import calls, expand  # noqa: E402

FILE = ROOT / "minitorch_compile" / "prims" / "example_calls.txt"

OWNERS = (minitorch_compile, minitorch_compile.Tensor)
NAMESPACES = ("F.", "linalg_", "fft_", "special_")

# Ops that no line of a sheet calls outermost.
WRITTEN_HERE = """
    torch.empty(2, 3)
    torch.empty_strided((2, 3), (1, 2))
    torch.empty_permuted((2, 3), (1, 0))
    torch.empty_like(f(2, 3))
    f(2, 3).new_empty((4,))
    f(2, 3).new_empty_strided((2, 3), (1, 2))
    f(2, 6).view_as(f(3, 4))
    c(3).conj_physical()
    torch.qr(square(3))
    torch.geqrf(f(4, 3))
    torch.svd(square(3))
    torch.gcd(i(4), i(4))
    torch.lcm(i(4), i(4))
    torch.igamma(pos(3), pos(3))
    torch.igammac(pos(3), pos(3))
    torch.bitwise_and(i(3, 4), 3)
    torch.bitwise_or(i(3, 4), 3)
    torch.bitwise_xor(i(3, 4), 3)
    torch.bitwise_not(i(3, 4))
    torch.bitwise_left_shift(i(3, 4), 2)
    torch.bitwise_right_shift(i(3, 4), 2)
    torch.fill(f(3, 4), 1.5)
    torch.linalg.{cholesky_ex|eigh}(definite(3))
    torch.linalg.{qr|svd|eig|eigvals|inv_ex}(square(3))
    torch.linalg.lstsq(f(5, 3), f(5, 2))
    torch.linalg.vander(f(3))
    torch.linalg.householder_product(f(4, 3), f(3))
    torch.special.{chebyshev|shifted_chebyshev}_polynomial_{t|u|v|w}(unit(3), 4)
    torch.special.{hermite_polynomial_h|hermite_polynomial_he|laguerre_polynomial_l|legendre_polynomial_p}(unit(3), 4)
    torch.special.{erfcx|bessel_j0|bessel_j1|bessel_y0|bessel_y1|spherical_bessel_j0|airy_ai}(pos(3))
    torch.special.{modified_bessel|scaled_modified_bessel}_{k0|k1}(pos(3))
    torch.max_pool1d(f(2, 3, 8), 2)
    torch.max_pool2d(f(2, 3, 6, 6), 2)
    torch.max_pool3d(f(1, 2, 4, 4, 4), 2)
    torch.adaptive_max_pool1d(f(2, 3, 8), 3)
    torch.dropout(f(3, 4), 0.5, True)
    torch.alpha_dropout(f(3, 4), 0.5, True)
    torch.feature_alpha_dropout(f(3, 4), 0.5, True)
"""


def public(op: Op) -> bool:
    """Whether people call it under its own name; in-place forms are those of the op that they store."""
    if op.kind in ("random", "inplace") or op.name.startswith("_") or op.name.endswith("_"):
        return False
    only_functional = "functional" in op.namespaces and f"F.{op.name}" not in ops.table
    return only_functional or op.name.startswith(NAMESPACES) or any(hasattr(owner, op.name) for owner in OWNERS)


def examples() -> dict[str, str]:
    """The example of each public op that has one, by the op's name."""
    found: dict[str, str] = {}
    written_here = (text for line in WRITTEN_HERE.strip().splitlines() for text in expand(line.strip()))
    for text in [*(call.text for call in calls()), *written_here]:
        name = outermost_op(text)
        if name and public(ops.table[name]) and (name not in found or rank(text) < rank(found[name])) and works(text):
            found[name] = text
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def outermost_op(text: str) -> str | None:
    """The name in the op table of what the expression calls last.

    >>> outermost_op("torch.linalg.inv(square(3))"), outermost_op("F.relu(f(3))"), outermost_op("f(3).exp()")
    ('linalg_inv', 'F.relu', 'exp')
    """
    tree = ast.parse(text, mode="eval").body
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute)):
        return None
    owner, name = ast.unparse(tree.func.value), tree.func.attr
    full = f"F.{name}" if owner == "F" else f"{owner.removeprefix('torch.')}_{name}"
    return next((known for known in (full, name) if known in ops.table), None)


def works(text: str) -> bool:
    """Whether it is no line that shows an error."""
    return evaluate(text, Arguments(minitorch_compile)).error is None


def rank(text: str) -> tuple[bool, int, str]:
    """The lower, the better an example."""
    shows_little = re.search(r"\b(f|pos|unit|distinct|i|b|c)\(\)|\b0\b[,)]|special\(\)", text) is not None
    return shows_little, len(text), text


def missing() -> list[str]:
    known = examples()
    return [op.name for op in ops.table.values() if public(op) and op.name not in known]


def page() -> str:
    return "".join(f"{name}: {text}\n" for name, text in examples().items())


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes minitorch_compile/prims/example_calls.txt.")
    parser.add_argument("--check", action="store_true", help="fail if the file is out of date")
    for name in missing():
        print(f"{FILE.name}: {name} has no example; add a line to a sheet or to WRITTEN_HERE")
    if parser.parse_args().check:
        if FILE.read_text(encoding="utf-8") != page():
            print(f"{FILE.name} is out of date; run python tools/example_calls.py")
            return 1
    else:
        FILE.write_text(page(), encoding="utf-8")
    return bool(missing())


if __name__ == "__main__":
    sys.exit(main())
