"""The sign of a NaN, where a program sees it: compiled code sets it as eager code does.

What a processor makes of two NaNs, or a library's function of one, is left open; these programs leave nothing open.
"""

import math

import numpy as np
import pytest

import minitorch_compile as torch

NAN, INF = math.nan, math.inf
X = [NAN, -NAN, 1.0, -1.0, 0.0, -0.0, INF, -INF]
Y = [1.0, -1.0, NAN, -NAN, 2.0, -2.0, 3.0, 0.5]

PROGRAMS = {
    "a NaN": lambda x, y: x,
    "turned": lambda x, y: -x,
    "turned, then added": lambda x, y: -x + y,
    "a product turned": lambda x, y: -(x * y),
    "times -1": lambda x, y: x * -1,
    "subtracted from a number": lambda x, y: 1 - x,
    "its magnitude": lambda x, y: x.abs(),
    "the sign of another": lambda x, y: torch.copysign(x, y),
    "an angle": lambda x, y: torch.atan2(x, y),
    "a constant turned": lambda x, y: -torch.full((8,), NAN),
    "chosen": lambda x, y: torch.where(x > 0, x, -NAN),
    "replaced": lambda x, y: torch.nan_to_num(x, nan=-NAN),
    "infinity times 0": lambda x, y: (x.isnan() * 0.0) * INF,
    "infinity less infinity": lambda x, y: (x.isnan() * 0.0 + INF) - INF,
    "the root of -1": lambda x, y: torch.sqrt(x.isnan() * 0.0 - 1),
    "through float16": lambda x, y: x.half().to(x.dtype),
    "through bfloat16": lambda x, y: x.bfloat16().to(x.dtype),
}


def signs(function, x, y):
    value = function(x, y)
    return value, torch.signbit(value), torch.copysign(torch.ones_like(value), value)


@pytest.mark.parametrize("element", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_code_sets_the_sign_as_eager_code_does(name, element):
    x, y = torch.tensor(X, dtype=element), torch.tensor(Y, dtype=element)
    found = torch.compile(lambda x, y: signs(PROGRAMS[name], x, y))(x, y)
    expected = signs(PROGRAMS[name], x, y)
    assert expected[0].isnan().any()
    for seen in (np.signbit(found[0].numpy()), found[1].numpy(), found[2].numpy() < 0):
        assert seen.tolist() == np.signbit(expected[0].numpy()).tolist()
