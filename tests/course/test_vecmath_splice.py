"""A learner's native function in compiled kernels: called there, gone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numba import njit

import minitorch_compile as torch
from minitorch_compile.course.splicing.vecmath_splice import splice_vecmath

from .notebooks import ROOT


@njit
def negated(x):
    return -x


def exp_and_a_half(x):
    return x.exp() + 0.5


def test_kernels_compiled_in_the_block_call_it_and_later_ones_do_not():
    x = torch.ones(3)
    with splice_vecmath("exp_float32", negated):
        assert torch.compile(exp_and_a_half)(x).tolist() == [-0.5] * 3
    assert torch.compile(exp_and_a_half)(x).sub(x.exp() + 0.5).abs().max() < 1e-6


def test_two_functions_one_after_the_other_are_not_mixed_up():
    doubled = njit(lambda x: x + x)
    for function, expected in ((negated, -0.5), (doubled, 2.5)):
        with splice_vecmath("exp_float32", function):
            assert torch.compile(exp_and_a_half)(torch.ones(3)).tolist() == [expected] * 3


def test_an_unknown_name_lists_the_names():
    with pytest.raises(LookupError, match="no function 'exp'.*exp_float32"), splice_vecmath("exp", negated):
        pass


def test_a_plain_function_is_refused():
    with pytest.raises(TypeError, match="numba.njit, got function"), splice_vecmath("exp_float32", exp_and_a_half):
        pass


def test_kernels_that_were_found_on_disk_live_on_after_a_splice():
    # Any splice empties the caches of the whole package.
    program = (
        "import minitorch_compile as torch\n"
        "from minitorch_compile.course import original, splice\n"
        "x = torch.ones(512, 2048)\n"
        "torch.set_num_threads(2)\n"
        "compiled = torch.compile(lambda x: x.exp() + 0.5)\n"
        "before = compiled(x)\n"
        "with splice('tensor.is_contiguous', original('tensor.is_contiguous')):\n"
        "    pass\n"
        "print((compiled(x) - before).abs().max().item())\n"
    )
    for _ in range(2):  # the second process finds what the first one kept
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=os.environ, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout == "0.0\n", done.stderr
