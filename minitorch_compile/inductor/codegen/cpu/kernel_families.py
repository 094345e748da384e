"""Kernels that differ only in where they begin to read or write become one kernel, which is told where.

Step five of an unrolled recurrence does what step four did, one slice further: `in0[2048 * i0 + 640]` instead of
`in0[2048 * i0 + 512]`. Compiled one by one, 32 steps take 32 times as long as one. So the numbers in which the members
of such a family differ are passed like sizes. A kernel without a family keeps its numbers, which LLVM likes to know.

>>> texts = ["out0[i0] = in0[i0] + in1[8 * i0 + 3]", "out0[i0] = in0[i0] + in1[8 * i0 + 5]"]
>>> kernels = [KernelSource("fused_add", [], ["in0", "in1", "out0"], text, 4) for text in texts]
>>> for kernel in share(kernels):
...     print(kernel.body, kernel.sizes)
out0[i0] = in0[i0] + in1[8 * i0 + begin0] {'begin0': 3}
out0[i0] = in0[i0] + in1[8 * i0 + begin0] {'begin0': 5}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from minitorch_compile.inductor.codegen.shared.kernel_source import KernelSource

COMMENT = re.compile(r"^\s*#.*$\n?", re.MULTILINE)
ADDRESS = re.compile(r"\[([^\[\]]*)\]")
ENDS_IN_NUMBER = re.compile(r"(.*) ([+-]) (\d+)")  # what is in parentheses can't match: it would end with one
MOST_BEGINNINGS = 32  # numbers that a kernel is passed at most; members of a family that differ in more stay apart


def share(kernels: Sequence[KernelSource | None]) -> list[KernelSource | None]:
    """The same kernels, with the numbers that tell apart members of a family passed instead of written."""
    families: dict[str, list[int]] = {}
    for position, kernel in enumerate(kernels):
        if kernel is not None:
            families.setdefault(family_of(kernel), []).append(position)
    result = list(kernels)
    for positions in families.values():
        members = [kernel for position in positions if (kernel := kernels[position]) is not None]
        for position, kernel in zip(positions, with_beginnings(members)):
            result[position] = kernel
    return result


def family_of(kernel: KernelSource) -> str:
    """What members of a family have in common: everything but the numbers that end addresses, and the comments."""
    text = ADDRESS.sub(lambda found: f"[{split(found[1])[0]}]", COMMENT.sub("", kernel.body + "\n"))
    return f"{kernel.parameters} {kernel.element_dtypes}\n{text}"


def beginnings(kernel: KernelSource) -> list[int]:
    """The number at the end of each address, in the order of the text; 0 where none is written."""
    return [split(address)[1] for address in ADDRESS.findall(COMMENT.sub("", kernel.body + "\n"))]


def split(address: str) -> tuple[str, int]:
    """An address as the terms that depend on variables, and the number behind them.

    >>> split("2048 * r0 + i0 - 384"), split("i0"), split("3 * (i0 + 4)"), split("7")
    (('2048 * r0 + i0', -384), ('i0', 0), ('3 * (i0 + 4)', 0), ('', 7))
    """
    if address.isdigit():
        return "", int(address)
    found = ENDS_IN_NUMBER.fullmatch(address)
    return (found[1], int(found[2] + found[3])) if found else (address, 0)


def with_beginnings(members: Sequence[KernelSource]) -> Iterable[KernelSource]:
    """The members of one family as one kernel with different `sizes`."""
    columns = list(zip(*map(beginnings, members)))  # for each address, its number in every member
    names: dict[tuple[int, ...], str] = {}
    for column in columns:
        if len(set(column)) > 1:
            names.setdefault(column, f"begin{len(names)}")
    if not 0 < len(names) <= MOST_BEGINNINGS:
        return members
    chosen = [names.get(column) for column in columns]
    return [
        replace(
            kernel,
            body=_rewritten(kernel.body, chosen),
            sizes={**kernel.sizes, **{name: column[number] for column, name in names.items()}},
        )
        for number, kernel in enumerate(members)
    ]


def _rewritten(body: str, names: Sequence[str | None]) -> str:
    """The body with names where numbers ended addresses. Comments, which may quote brackets, stay as they are."""
    left = iter(names)

    def named(match: re.Match[str]) -> str:
        name = next(left)
        if name is None:
            return match[0]
        terms, _ = split(match[1])
        return f"[{terms} + {name}]" if terms else f"[{name}]"

    lines = body.split("\n")
    return "\n".join(line if line.lstrip().startswith("#") else ADDRESS.sub(named, line) for line in lines)
