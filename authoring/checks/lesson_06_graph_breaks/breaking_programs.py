"""Small functions that break, or do not; exercise 06.1 asks how many graphs each becomes.

>>> shape_branch(torch.ones(2), [])
tensor([2., 2.])
"""

from __future__ import annotations

import minitorch_compile as torch

Tensor = torch.Tensor


def appending(x: Tensor, log: list[Tensor]) -> Tensor:
    y = x * 2
    log.append(y)
    return y + len(log)


def printing(x: Tensor, log: list[Tensor]) -> Tensor:
    y = x * 2
    print("halfway")
    return y + 1


def printing_first(x: Tensor, log: list[Tensor]) -> Tensor:
    print("start")
    return x * 2 + 1


def shape_branch(x: Tensor, log: list[Tensor]) -> Tensor:
    if x.shape[0] > 1:
        return x * 2
    return x * 3


def data_branch(x: Tensor, log: list[Tensor]) -> Tensor:
    if x.sum() > 0:
        return x * 2
    return x * 3


def number(x: Tensor, log: list[Tensor]) -> Tensor:
    return x * x.max().item()


def number_returned(x: Tensor, log: list[Tensor]) -> float:
    return (x * 2).max().item()


def calling(x: Tensor, log: list[Tensor]) -> Tensor:
    y = printing(x + 1, log)
    return y * 3
