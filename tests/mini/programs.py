"""Functions of tensors, each with arguments in float64 at which it is smooth."""

import numpy as np
from mini import ops
from mini.tensor import from_numpy

rng = np.random.default_rng(0)


def r(*s):
    return from_numpy(rng.uniform(0.3, 1.7, s))


CASES = [
    (lambda x, y: (x + y * 2) / (x * y) - y, r(3, 4), r(4)),
    (
        lambda x: x.exp() + x.log() + x.sqrt() + x.tanh() + x.sin() * x.cos() + x.sigmoid() + (x - 1).relu() + x**3,
        r(2, 3),
    ),
    (lambda x, y: ops.maximum(x, y) + ops.where(x < y, x * 2, y * x), r(3, 1), r(2)),
    (lambda x: x.softmax(1) * x.log_softmax(0), r(3, 4)),
    (lambda x, y: (x @ y).sum(-1), r(2, 3, 4), r(4, 5)),
    (lambda x: x.amax(1) + x.mean(1, keepdim=True).reshape(3), r(3, 4)),
    (lambda x: x.transpose(0, 1).reshape(12)[2:11:3], r(3, 4)),
    (lambda x: x[1, None, :, 1:3] + x.sum((0, 2)).expand(2, 3).t()[..., 0, None], r(2, 3, 4)),
    (lambda x, y: ops.cat([x, y, x], 1) ** 2, r(2, 1), r(2, 3)),
    (lambda x: ops.gelu(x) + ops.slice_backward(x, 0, 9, 2, 2)[2:8:2], r(3)),
]
