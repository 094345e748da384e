"""einsum: products of tensors whose dimensions are named by letters.

Every operand is brought to the same dimensions: first those of the result, then those that are summed over, of size 1
where it has none. Then the operands are multiplied from left to right, two at a time, and each product is one batched
matrix product: `einsum("bhid,bhjd->bhij", q, k)` is a bmm over b and h.

>>> from minitorch_compile.tensor import arange, tensor
>>> x = arange(6).view(2, 3)
>>> einsum("ij,kj->ik", x, x), einsum("ij->j", x), einsum("ii", x[:, :2])
(tensor([[ 5, 14],
        [14, 50]]), tensor([3, 5, 7]), tensor(4))
>>> parse("...i,ij", 2, [3, 2])
([['...0', '...1', 'i'], ['i', 'j']], ['...0', '...1', 'j'])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.ops.contraction import bmm
from minitorch_compile.tensor.ops.pointwise import mul
from minitorch_compile.tensor.ops.reduction import sum
from minitorch_compile.tensor.ops.reshaping import reshape
from minitorch_compile.tensor.ops.view import diagonal, permute, unsqueeze, view_op
from minitorch_compile.tensor.tensor_base import TensorBase

Labels = list[str]


@composite()
def einsum(*args: Any) -> Any:
    """einsum("ij,jk->ik", x, y), or einsum(x, [0, 1], y, [1, 2], [0, 2]): sums of products, over the letters that the
    result lacks. `args`: the equation and its operands, or each operand and its dimensions.

    RuntimeError for an equation that can't be read, or that doesn't fit the operands.

    >>> x = torch.tensor([[1, 2], [3, 4]])
    >>> torch.einsum("ij,jk->ik", x, x), torch.einsum("ii", x)
    (tensor([[ 7, 10],
            [15, 22]]), tensor(5))
    """
    equation, operands = _arguments(args)
    inputs, output = parse(equation, len(operands), [len(x.sizes) for x in operands])
    summed = sorted({label for labels in inputs for label in labels} - set(output))
    order = [*output, *summed]
    _check_sizes(operands, inputs)
    aligned = [_aligned(x, labels, order) for x, labels in zip(operands, inputs, strict=True)]
    return _contracted(aligned, len(output))


def _arguments(args: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The equation and the operands, from either way to write the call."""
    if not args:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or operands and lists")
    if isinstance(args[0], str):
        rest = args[1:]
        operands = list(rest[0]) if len(rest) == 1 and isinstance(rest[0], (list, tuple)) else list(rest)
        return args[0], operands
    pairs, last = (args, None) if len(args) % 2 == 0 else (args[:-1], args[-1])
    inputs = ",".join(_letters(labels) for labels in pairs[1::2])
    return inputs + ("" if last is None else f"->{_letters(last)}"), list(pairs[::2])


def _letters(labels: Sequence[Any]) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    for label in labels:
        if label is not Ellipsis and not 0 <= label < len(letters):
            raise ValueError(f"einsum: not within the valid range [0, 52): {label}")
    return "".join("..." if label is Ellipsis else letters[label] for label in labels)


# ------------------------------------------------------------------------------------------ the equation


def parse(equation: str, count: int, ndims: Sequence[int]) -> tuple[list[Labels], Labels]:
    """The label of each dimension of each operand, and those of the result. `...` becomes '...0', '...1', ...

    Without "->" the result has the labels that come once, in alphabetical order.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != count:
        which = "fewer operands were provided than specified" if len(terms) > count else "more operands were provided"
        raise RuntimeError(f"einsum(): {which} in the equation {equation!r}: {count} for {len(terms)}")
    dots = [ndim - len(term.replace("...", "")) for term, ndim in zip(terms, ndims, strict=True) if "..." in term]
    widest = max(dots, default=0)
    inputs = [_labels(term, ndim, widest, place) for place, (term, ndim) in enumerate(zip(terms, ndims, strict=True))]
    ellipsis = [f"...{i}" for i in range(widest)]
    every = [label for labels in inputs for label in labels]
    if not arrow:
        return inputs, [*ellipsis, *sorted(x for x in set(every) if every.count(x) == 1 and x not in ellipsis)]
    output = [*(ellipsis if "..." in right else []), *_checked(right.replace("...", ""))]
    if "..." in right:
        at = right.index("...")
        output = [*right[:at], *ellipsis, *right[at + 3 :]]
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label not in every:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
    return inputs, output


def _labels(term: str, ndim: int, widest: int, place: int) -> Labels:
    """The labels of one operand; a narrower `...` stands for the last of the dimensions of the widest one."""
    before, dots, after = term.partition("...")
    named = [*_checked(before), *_checked(after)]
    missing = ndim - len(named)
    if missing < 0 or (missing and not dots):
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(named)}) does not match the number of dimensions"
            f" ({ndim}) for operand {place}" + ("" if dots else " and no ellipsis was given")
        )
    return [*before, *(f"...{i}" for i in range(widest - missing, widest)), *after]


def _checked(letters: str) -> str:
    for at, letter in enumerate(letters):
        if not (letter.isascii() and letter.isalpha()):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must be in"
                f" [a-zA-Z], got {letter!r}"
            )
    return letters


def _check_sizes(operands: Sequence[TensorBase], inputs: Sequence[Labels]) -> None:
    sizes: dict[str, int] = {}
    for place, (x, labels) in enumerate(zip(operands, inputs, strict=True)):
        if not isinstance(x, TensorBase):
            raise TypeError(f"einsum(): operand {place} must be Tensor, not {type(x).__name__}")
        own: dict[str, int] = {}
        for n, label in zip(x.sizes, labels, strict=True):
            if own.setdefault(label, n) != n:
                raise RuntimeError(f"einsum(): subscript {label} is repeated for operand {place} but the sizes differ")
            known = sizes.setdefault(label, n)
            if n not in (known, 1) and known != 1:
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {n} for operand {place} which does not broadcast with"
                    f" previously seen size {known}"
                )
            sizes[label] = max(known, n) if n else n


# ------------------------------------------------------------------------------------------ the computation


def _aligned(x: Any, labels: Labels, order: Labels) -> Any:
    """The operand with a dimension for each label in `order`; a label that comes twice is a diagonal."""
    labels = list(labels)
    for label in list(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = diagonal(x, 0, first, second)  # the diagonal becomes the last dimension
            labels = [name for d, name in enumerate(labels) if d not in (first, second)] + [label]
    x = permute(x, tuple(labels.index(label) for label in order if label in labels))
    for d, label in enumerate(order):
        if label not in labels:
            x = unsqueeze(x, d)
    return x


def _contracted(operands: list[Any], kept: int) -> Any:
    """The product of aligned operands, summed over all dimensions from `kept` on."""
    ndim = len(operands[0].sizes)
    if len(operands) == 1:
        return sum(operands[0], tuple(range(kept, ndim))) if kept < ndim else operands[0]
    result = operands[0]
    for place, x in enumerate(operands[1:], 2):
        later = operands[place:]
        done = [d for d in range(kept, ndim) if all(y.sizes[d] == 1 for y in later)]
        result = _pair(result, x, done)
    return view_op(result, tuple(result.sizes[:kept]))


def _pair(a: Any, b: Any, done: list[int]) -> Any:
    """The product of two operands, summed over the dimensions `done`, which are kept with size 1."""
    alone_a = [d for d in done if a.sizes[d] != 1 and b.sizes[d] == 1]
    alone_b = [d for d in done if b.sizes[d] != 1 and a.sizes[d] == 1]
    a = sum(a, tuple(alone_a), keepdim=True) if alone_a else a
    b = sum(b, tuple(alone_b), keepdim=True) if alone_b else b
    inside = [d for d in done if a.sizes[d] != 1 and b.sizes[d] != 1]
    return _as_batched_product(a, b, inside) if inside else mul(a, b)


def _as_batched_product(a: Any, b: Any, inside: list[int]) -> Any:
    """One bmm: dimensions that both have are the batch, those that one has its rows or columns."""
    rest = [d for d in range(len(a.sizes)) if d not in inside]
    batch = [d for d in rest if a.sizes[d] != 1 and b.sizes[d] != 1]
    rows = [d for d in rest if a.sizes[d] != 1 and b.sizes[d] == 1]
    columns = [d for d in rest if a.sizes[d] == 1]
    count, inner = numel(a.sizes[d] for d in batch), numel(a.sizes[d] for d in inside)
    height, width = numel(a.sizes[d] for d in rows), numel(b.sizes[d] for d in columns)
    left = reshape(permute(a, (*batch, *rows, *inside, *columns)), (count, height, inner))
    right = reshape(permute(b, (*batch, *inside, *columns, *rows)), (count, inner, width))
    order = [*batch, *rows, *inside, *columns]
    sizes = [1 if d in inside else (b if d in columns else a).sizes[d] for d in order]
    product = view_op(bmm(left, right), tuple(sizes))
    return permute(product, tuple(order.index(d) for d in range(len(order))))
