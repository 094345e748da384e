"""Random programs about sizes: arithmetic on them, branches, views, slices and new tensors that depend on them.

>>> import random
>>> print(write_program(random.Random(7)), end="")  # doctest: +ELLIPSIS
def f(x, y, n):
    ...
"""

from __future__ import annotations

import random

SIZES = ("x.shape[0]", "x.size(1)", "len(y)", "y.numel()", "n", "x.numel()", "x.stride(0)", "a", "b")
TENSORS = ("x", "y", "t", "u")


def size(rng: random.Random, depth: int = 2) -> str:
    """A whole number made of sizes."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(SIZES)
    left, right = size(rng, depth - 1), size(rng, depth - 1)
    number = rng.randint(1, 4)
    return rng.choice(
        [
            f"({left} + {right})",
            f"({left} - {number})",
            f"({left} * {number})",
            f"({left} // {number})",
            f"({left} % {number + 1})",
            f"max({left}, {right})",
            f"min({left}, {number + 2})",
            f"abs({left} - {right})",
            f"({left} // {right})",
        ]
    )


def condition(rng: random.Random) -> str:
    operator = rng.choice(["==", "!=", "<", "<=", ">", ">="])
    return f"{size(rng, 1)} {operator} {rng.choice([size(rng, 1), str(rng.randint(0, 9))])}"


def tensor(rng: random.Random) -> str:
    """A tensor made of those at hand; some sizes make it an error."""
    t, u, s = rng.choice(TENSORS), rng.choice(TENSORS), size(rng)
    return rng.choice(
        [
            f"{t} * {s}",
            f"{t} + {s} / 2",
            f"{t}.sum() + {u}",
            f"{t}.reshape(-1)[: {s}]",
            f"{t}.reshape(-1)[{s} :]",
            f"{t}.reshape(-1, 1) + {u}.reshape(-1)[:3]",
            f"torch.cat([{t}.reshape(-1), {u}.reshape(-1)])",
            f"torch.zeros({size(rng, 1)}, 2) + {rng.randint(1, 3)}",
            f"torch.arange({s} % 7) * 1.5",
            f"{t}.reshape({rng.randint(1, 3)}, -1)",
            f"{t}.unsqueeze(0).expand({s} % 4 + 1, *{t}.shape)",
            f"{t}.reshape(-1).unsqueeze(1) @ {u}.reshape(1, -1)",
            f"torch.nn.functional.pad({t}, (0, {s} % 3))",
            f"{t}.mean(-1, keepdim=True) * {u}.shape[0]",
            f"({t} if {condition(rng)} else {u})",
            f"torch.stack([{t}, {t} + {s}])",
            f"{t}.transpose(0, -1).contiguous()",
            f"{t}.reshape(-1).split({rng.randint(1, 4)})[0]",
        ]
    )


def write_program(rng: random.Random) -> str:
    """The source of `f(x, y, n)`: x has two dimensions, y one, n is a number."""
    lines = ["def f(x, y, n):", "    a, b = x.shape[0], len(y)"]
    lines += ["    t, u = x + 1, y * 2"]
    for _ in range(rng.randint(2, 5)):
        kind = rng.random()
        if kind < 0.2:
            lines.append(f"    a = {size(rng)}")
        elif kind < 0.4:
            lines += [
                f"    if {condition(rng)}:",
                f"        t = {tensor(rng)}",
                "    else:",
                f"        b = {size(rng)}",
            ]
        elif kind < 0.5:
            lines += [f"    for i in range(min(2, abs({size(rng, 1)}))):", f"        u = u + i * {size(rng, 1)}"]
        else:
            lines.append(f"    {rng.choice('tu')} = {tensor(rng)}")
    lines.append(f"    return t, u, a, b, {size(rng)}, f'{{{size(rng, 1)}}}', ({condition(rng)})")
    return "\n".join(lines) + "\n"
