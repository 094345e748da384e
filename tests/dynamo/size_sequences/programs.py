"""The functions and the inputs that they are called with, one after the other, for PyTorch and for us alike.

A program is a function of the library; it returns the function to compile and a list of argument tuples. The name
says what is special about it. `settings` are passed to compile(), `MARKS` to mark_dynamic before each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Library = Any
Program = Callable[[Library], tuple[Callable[..., Any], list[tuple[Any, ...]]]]

PROGRAMS: dict[str, Program] = {}
SETTINGS: dict[str, dict[str, Any]] = {}


def program(**settings: Any) -> Callable[[Program], Program]:
    """Enters a program in the table."""

    def enter(made: Program) -> Program:
        PROGRAMS[made.__name__] = made
        SETTINGS[made.__name__] = settings
        return made

    return enter


def rows(torch: Library, *counts: int, columns: int = 4) -> list[tuple[Any, ...]]:
    """One argument each: matrices with so many rows."""
    return [(torch.ones(n, columns),) for n in counts]


@program()
def pointwise(torch: Library) -> Any:
    return lambda x: x * 2 + 1, rows(torch, 3, 4, 5, 6)


@program(dynamic=False)
def never_dynamic(torch: Library) -> Any:
    return lambda x: x * 2, rows(torch, 3, 4, 5, 3)


@program(dynamic=True)
def always_dynamic(torch: Library) -> Any:
    return lambda x: x * 2, rows(torch, 3, 4, 5, 6)


@program(dynamic=True)
def always_dynamic_with_one_and_zero(torch: Library) -> Any:
    return lambda x: x * 2, rows(torch, 3, 1, 0, 4)


@program()
def one_comes_last(torch: Library) -> Any:
    return lambda x: x.sum(0), rows(torch, 3, 4, 1, 5, 0)


@program()
def one_comes_first(torch: Library) -> Any:
    return lambda x: x.sum(0), rows(torch, 1, 3, 4, 5)


@program()
def both_dimensions_change(torch: Library) -> Any:
    return lambda x: x.sin(), [(torch.ones(a, b),) for a, b in ((3, 4), (5, 4), (5, 6), (7, 8), (9, 3))]


@program()
def both_dimensions_change_at_once(torch: Library) -> Any:
    return lambda x: x.sin(), [(torch.ones(a, b),) for a, b in ((3, 4), (5, 6), (7, 8), (9, 9))]


@program()
def equal_sizes_part_ways(torch: Library) -> Any:
    sizes = ((3, 3), (4, 4), (5, 5), (4, 6), (7, 9))
    return lambda x, y: (x + 1, y * 2), [(torch.ones(a), torch.ones(b)) for a, b in sizes]


@program()
def two_inputs_added(torch: Library) -> Any:
    return lambda x, y: x + y, [(torch.ones(n), torch.ones(n)) for n in (3, 4, 5, 6)]


@program()
def broadcast_with_a_row(torch: Library) -> Any:
    sizes = ((3, 3), (4, 4), (5, 1), (6, 6))
    return lambda x, y: x + y, [(torch.ones(a), torch.ones(b)) for a, b in sizes]


@program()
def size_in_arithmetic(torch: Library) -> Any:
    return lambda x: x.sum() / x.shape[0], rows(torch, 3, 4, 5, 6)


@program()
def length_in_arithmetic(torch: Library) -> Any:
    return lambda x: x * (len(x) + 1), rows(torch, 3, 4, 5, 6)


@program()
def size_returned(torch: Library) -> Any:
    return lambda x: (x + 1, x.shape[0] * 2), rows(torch, 3, 4, 5, 6)


@program()
def branch_on_a_size(torch: Library) -> Any:
    def f(x: Any) -> Any:
        return x * 2 if x.shape[0] > 4 else x - 1

    return f, rows(torch, 3, 4, 5, 6, 7)


@program()
def branch_on_parity(torch: Library) -> Any:
    def f(x: Any) -> Any:
        return x * 2 if x.shape[0] % 2 == 0 else x - 1

    return f, rows(torch, 4, 6, 8, 5, 7, 10)


@program()
def loop_over_a_size(torch: Library) -> Any:
    def f(x: Any) -> Any:
        for i in range(x.shape[0]):
            x = x + i
        return x

    return f, rows(torch, 3, 4, 5, 3)


@program()
def viewed_flat(torch: Library) -> Any:
    return lambda x: x.view(-1) + 1, rows(torch, 3, 4, 5, 6)


@program()
def viewed_in_halves(torch: Library) -> Any:
    return lambda x: x.view(2, -1) + 1, rows(torch, 4, 6, 8, 10)


@program()
def viewed_with_a_size(torch: Library) -> Any:
    return lambda x: x.view(x.shape[0] * 2, 2) + 1, rows(torch, 3, 4, 5, 6)


@program()
def sliced_from_the_front(torch: Library) -> Any:
    return lambda x: x[:3] + 1, rows(torch, 5, 6, 7, 4)


@program()
def sliced_to_half(torch: Library) -> Any:
    return lambda x: x[: x.shape[0] // 2] + 1, rows(torch, 4, 6, 8, 9)


@program()
def last_row(torch: Library) -> Any:
    return lambda x: x[-1] + 1, rows(torch, 3, 4, 5, 6)


@program()
def joined(torch: Library) -> Any:
    sizes = ((3, 4), (4, 5), (5, 6), (7, 2))
    return lambda x, y: torch.cat([x, y]), [(torch.ones(a, 2), torch.ones(b, 2)) for a, b in sizes]


@program()
def split_in_chunks(torch: Library) -> Any:
    return lambda x: x.chunk(2)[0] + 1, rows(torch, 4, 6, 8, 10)


@program()
def made_by_size(torch: Library) -> Any:
    return lambda x: x + torch.zeros(x.shape[0], 1) + torch.arange(x.shape[1]), rows(torch, 3, 4, 5, 6)


@program()
def multiplied(torch: Library) -> Any:
    w = torch.ones(4, 5)
    return lambda x: torch.relu(x @ w), rows(torch, 3, 4, 5, 6)


@program()
def multiplied_with_itself(torch: Library) -> Any:
    return lambda x: x @ x.T, rows(torch, 3, 4, 5, 6)


@program()
def softmax_of_scores(torch: Library) -> Any:
    sizes = ((2, 3), (2, 4), (3, 5), (4, 6))
    return lambda x: torch.softmax(x @ x.transpose(1, 2), -1), [(torch.ones(b, t, 8),) for b, t in sizes]


@program()
def number_that_changes(torch: Library) -> Any:
    x = torch.ones(4)
    return lambda x, n: x * n, [(x, n) for n in (3, 4, 5, 6)]


@program()
def number_as_a_size(torch: Library) -> Any:
    x = torch.ones(1)
    return lambda x, n: x.expand(n) + 1, [(x, n) for n in (3, 4, 5, 6)]


@program()
def number_that_becomes_one(torch: Library) -> Any:
    x = torch.ones(4)
    return lambda x, n: x * n, [(x, n) for n in (3, 4, 1, 5, 0)]


@program(dynamic=True)
def number_always_dynamic(torch: Library) -> Any:
    x = torch.ones(4)
    return lambda x, n: x * n, [(x, n) for n in (3, 4, 5)]


@program()
def the_greater_of_two_sizes(torch: Library) -> Any:
    sizes = ((3, 4), (4, 5), (6, 5), (7, 3))
    return lambda x, y: x.sum() * max(x.shape[0], y.shape[0]), [(torch.ones(a), torch.ones(b)) for a, b in sizes]


@program()
def size_compared_with_another(torch: Library) -> Any:
    def f(x: Any, y: Any) -> Any:
        return x.sum() if x.shape[0] == y.shape[0] else y.sum()

    sizes = ((3, 4), (4, 5), (6, 5), (5, 5), (6, 6))
    return f, [(torch.ones(a), torch.ones(b)) for a, b in sizes]


@program()
def another_number_of_dimensions(torch: Library) -> Any:
    return lambda x: x + 1, [(torch.ones(3),), (torch.ones(3, 4),), (torch.ones(4, 4),), (torch.ones(5, 4),)]


@program()
def transposed_later(torch: Library) -> Any:
    return lambda x: x + 1, [(torch.ones(3, 4),), (torch.ones(5, 4),), (torch.ones(4, 6).T,), (torch.ones(7, 4),)]


@program()
def size_in_a_text(torch: Library) -> Any:
    return lambda x: (x + 1, f"{x.shape[0]} rows"), rows(torch, 3, 4, 5, 6)


@program()
def breaks_in_between(torch: Library) -> Any:
    def f(x: Any) -> Any:
        y = x * 2
        torch._dynamo.graph_break()
        return y + x.shape[0]

    return f, rows(torch, 3, 4, 5, 6)


@program()
def linear_layer(torch: Library) -> Any:
    return torch.nn.Linear(4, 2), rows(torch, 3, 4, 5, 6)


@program()
def convolution(torch: Library) -> Any:
    conv = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)
    sizes = ((1, 8), (2, 8), (3, 9), (4, 12))
    return conv, [(torch.ones(b, 3, n, n),) for b, n in sizes]


@program()
def attention(torch: Library) -> Any:
    def f(q: Any) -> Any:
        b, t, c = q.shape
        heads = q.view(b, t, 2, c // 2).transpose(1, 2)
        return torch.nn.functional.scaled_dot_product_attention(heads, heads, heads).transpose(1, 2).reshape(b, t, c)

    return f, [(torch.ones(b, t, 8),) for b, t in ((2, 3), (2, 4), (3, 5), (4, 6))]
