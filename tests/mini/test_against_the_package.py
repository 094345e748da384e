"""Random programs: mini, compiled, gives the values and gradients of the package; what it has not, it refuses by"
" name."""

import re

import numpy as np
import pytest
from mini import ops
from mini.aot import aot
from mini.breaks import Region
from mini.front import compile
from mini.interpreter import Unsupported
from mini.program import Program
from mini.tensor import from_numpy

import minitorch_compile as torch

from .generated import program

T = type("T", (), {name: staticmethod(getattr(ops, name)) for name in ("cat", "where", "maximum")})
T.float32, T.float64 = "float32", "float64"


def arrays_of(text, seed):
    rng = np.random.default_rng(seed)
    return [
        rng.uniform(0.2, 1.4, eval(sizes)).astype(np.float32)
        for sizes in re.findall(r"\([\d, ]*\)", text.splitlines()[0].split("#")[1])
    ]


def results_of(f, module, tensors):
    outputs = f(module, *tensors)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    total = outputs[0].sum()
    for out in outputs[1:]:
        total = total + out.sum()
    total.backward()
    values = [out.detach().numpy() if module is torch else out.numpy() for out in outputs]
    return values + [x.grad.numpy() if x.grad is not None else np.zeros(x.shape) for x in tensors]


def judge(seed, compiler):
    """None if both agree, else what differs."""
    text, scope = program(seed), {}
    exec(compile_text(text, seed), scope)
    f, arrays = scope["f"], arrays_of(text, seed)
    wanted = results_of(f, torch, [torch.tensor(array).requires_grad_() for array in arrays])
    region = Region(f, aot(compiler))
    for _ in range(2):
        got = results_of(region, T, [from_numpy(array.copy(), requires_grad=True) for array in arrays])
        for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
            if a.shape != b.shape or not np.allclose(a, b, rtol=2e-3, atol=2e-4, equal_nan=True):
                return f"seed {seed}, result {i}:\n{text}\nmini {a}\npackage {b}"
    return None


def compile_text(text, seed):
    return __builtins__["compile"](text, f"<program {seed}>", "exec")


@pytest.mark.parametrize("first", range(0, 200, 10))
def test_ten_programs_on_the_prims(first):
    """All 200, without machine code: the same graphs, gradients and decompositions."""
    from mini.prims import decompose

    for seed in range(first, first + 10):
        assert (said := judge(seed, lambda graph: decompose(graph).run)) is None, said


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.heavy
def test_a_program_as_kernels(seed):
    assert (said := judge(seed, Program)) is None, said


@pytest.mark.parametrize(
    "f, name",
    [
        (lambda x: x.cumsum(0), "cumsum"),
        (lambda x: x**2.5, "2.5"),
        (lambda x: x.to("float16") + 1, "float16"),
    ],
)
def test_what_it_has_not_it_refuses_by_name(f, name):
    with pytest.raises((AttributeError, NotImplementedError), match=name):
        compile(f)(from_numpy(np.ones(3, np.float32)))


def test_a_handler_of_exceptions_is_refused_by_name():
    def f(x):
        try:
            return x + 1
        except ValueError:
            return x

    with pytest.raises(Unsupported, match="PUSH_EXC_INFO|exception"):
        compile(f)(from_numpy(np.ones(3, np.float32)))
