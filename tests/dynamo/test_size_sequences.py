"""Functions called with one size or float after another: results as without compiling, compiled as often as by PyTorch
2.13.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.pytree import tree_leaves
from tests.dynamo.size_sequences.floats import PROGRAMS, SETTINGS

COUNTS = json.loads((Path(__file__).parent / "size_sequences" / "counts.json").read_text())["counts"]

# Where we compile less often: a text made of a size is made again at each call, and so is a number that meets no
# tensor; what an operation asks of a float is guarded, not the float.
FEWER = {
    "size_in_a_text": [1, 2, 2, 2],
    "float_text": [1, 1, 1, 1],
    "float_computed_and_returned": [1, 1, 1, 1],
    "float_epsilon": [1, 2, 2, 2],
    "float_probability": [1, 2, 2, 2],
}


def same(a, b) -> bool:
    if isinstance(a, torch.Tensor):
        equal = np.array_equal(a.detach().numpy(), b.detach().numpy(), equal_nan=True)
        return equal and (a.dtype, a.stride()) == (b.dtype, b.stride())
    return type(a) is type(b) and a == b


def test_the_record_has_every_program():
    assert COUNTS.keys() == PROGRAMS.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_many_graphs_as_pytorch_and_the_same_results(name):
    counter = CompileCounter()
    function, calls = PROGRAMS[name](torch)
    compiled = torch.compile(function, backend=counter, **SETTINGS[name])
    graphs = []
    for arguments in calls:
        got, expected = tree_leaves(compiled(*arguments)), tree_leaves(function(*arguments))
        assert all(same(a, b) for a, b in zip(got, expected, strict=True))
        graphs.append(counter.frame_count)
    assert graphs == FEWER.get(name, COUNTS[name])
