"""Three functions by hand, each of which is wrong for some arguments, and what each should give.

>>> import minitorch_compile as torch
>>> xs = torch.tensor([[1.0], [-2.0]])
>>> turned(xs), right_turned(xs)
(tensor([[-1.],
        [ 2.]]), tensor([[1.],
        [2.]]))
"""

from __future__ import annotations

import minitorch_compile as torch
from minitorch_compile.tensor import Tensor


def times(vectors: Tensor, numbers: Tensor) -> Tensor:
    return vectors * numbers.unsqueeze(1)


def right_times(vectors: Tensor, numbers: Tensor) -> Tensor:
    return torch.stack([vector * number for vector, number in zip(vectors, numbers)])


def turned(xs: Tensor) -> Tensor:
    return xs if xs.sum() > 0 else -xs


def right_turned(xs: Tensor) -> Tensor:
    return torch.stack([x if x.sum() > 0 else -x for x in xs])


def moved(x: Tensor, y: Tensor, v: Tensor, w: Tensor) -> Tensor:
    _, along_x = torch.func.jvp(lambda x: x.sin() * y, (x,), (v,))
    _, along_y = torch.func.jvp(lambda y: x.sin() * y, (y,), (v,))
    return along_x + along_y


def right_moved(x: Tensor, y: Tensor, v: Tensor, w: Tensor) -> Tensor:
    return torch.func.jvp(lambda x, y: x.sin() * y, (x, y), (v, w))[1]
