"""Eager operations on kernels of the library: what their formulas mean in float64, where a call fits them."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import config
from minitorch_compile.compiler import eager_kernels_cpu
from minitorch_compile.inductor.library_writer.open_program import NotOpenError, open_program
from minitorch_compile.kernel_library import library, replaced
from minitorch_compile.kernel_library.programs import PROGRAMS, ProgramSource
from minitorch_compile.kernel_library.recipe import Program
from minitorch_compile.own_process import start_module
from minitorch_compile.tensor import ops
from tests.kernel_library.used_library import results, used_library

QUICK = ("layer_norm", "layer_norm_by_input", "layer_norm_by_parameters", "gelu", "softmax")

# A call, and the sizes of its tensors.
CALLS: dict[str, tuple[Any, tuple[tuple[int, ...], ...]]] = {
    "layer_norm": (lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), ((9, 700), (700,), (700,))),
    "layer_norm of long rows": (lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), ((2, 9001), (9001,), (9001,))),
    "layer_norm with a whole eps": (lambda x, w, b: F.layer_norm(x, x.shape[1:], w, b, 1), ((8, 700), (700,), (700,))),
    "layer_norm of two dimensions": (lambda x, w, b: F.layer_norm(x, (5, 7), w, b), ((130, 5, 7), (5, 7), (5, 7))),
    "layer_norm of one column": (lambda x, w, b: F.layer_norm(x, (1,), w, b), ((5000, 1), (1,), (1,))),
    "gelu": (F.gelu, ((5, 1001),)),
    "softmax": (lambda x: F.softmax(x, -1), ((3, 17, 101),)),
}
MORE_CALLS: dict[str, tuple[Any, tuple[tuple[int, ...], ...]]] = {
    "batch_norm": (lambda x, w, b: batch_norm(x, w, b), ((3, 5, 17, 19), (5,), (5,))),
    "batch_norm of sequences": (lambda x, w, b: batch_norm(x, w, b), ((2, 130, 23), (130,), (130,))),
    "batch_norm of samples": (lambda x, w, b: batch_norm(x, w, b), ((700, 9), (9,), (9,))),
    "batch_norm channels last": (lambda x, w, b: batch_norm(turned(x), w, b).cos(), ((6, 17, 9, 9), (9,), (9,))),
    "batch_norm of one pixel": (lambda x, w, b: batch_norm(x, w, b), ((70, 80, 1, 1), (80,), (80,))),
    "relu": (F.relu, ((71, 71),)),
    "layer_norm of a view": (lambda x, w, b: F.layer_norm(x, (40,), w, b).t().cos(), ((150, 40), (40,), (40,))),
    "group_norm": (lambda x: F.group_norm(x, 2), ((6, 4, 13, 17),)),
    "group_norm with weights": (lambda x, w, b: F.group_norm(x, 3, w, b), ((5, 6, 13, 17), (6,), (6,))),
    "instance_norm": (F.instance_norm, ((6, 4, 13, 17),)),
    "instance_norm with weights": (lambda x, w, b: F.instance_norm(x, None, None, w, b), ((3, 9, 211), (9,), (9,))),
    "batch_norm by running statistics": (lambda x, w, b: by_running(x, w, b), ((3, 5, 17, 19), (5,), (5,))),
    "batch_norm by running statistics channels last": (
        lambda x, w, b: by_running(turned(x), w, b).tanh(),
        ((6, 17, 9, 9), (9,), (9,)),
    ),
    "log_softmax": (lambda x: F.log_softmax(x, 1), ((60, 101),)),
    "log_softmax of one row": (lambda x: F.log_softmax(x, 0), ((9001,),)),
    "gelu of tanh": (lambda x: F.gelu(x, approximate="tanh"), ((71, 71),)),
    "silu": (F.silu, ((71, 71),)),
    "sigmoid": (torch.sigmoid, ((4097,),)),
    "tanh": (torch.tanh, ((71, 71),)),
    "hardtanh": (lambda x: F.hardtanh(x, -0.3, 2), ((71, 71),)),
    "relu6": (F.relu6, ((71, 72),)),
    "hardsigmoid": (F.hardsigmoid, ((71, 71),)),
    "hardswish": (lambda x: F.hardswish(x * 4), ((71, 71),)),
    "leaky_relu": (lambda x: F.leaky_relu(x, -0.2), ((71, 71),)),
    "logsigmoid": (F.logsigmoid, ((71, 71),)),
    "softplus": (lambda x: F.softplus(x, 3.0, 2.0), ((71, 71),)),
    "softshrink": (lambda x: F.softshrink(x, 0.4), ((71, 71),)),
    "hardshrink": (lambda x: F.hardshrink(x, 0.4), ((71, 71),)),
    "threshold": (lambda x: F.threshold(x, -0.2, -3), ((71, 71),)),
    "mish": (F.mish, ((71, 71),)),
    "smooth_l1_loss": (lambda x: F.smooth_l1_loss(x, x.detach().flip(0), beta=0.3), ((71, 71),)),
    "mse_loss": (lambda x: F.mse_loss(x, x.detach().flip(0)), ((71, 71),)),
    "prelu": (F.prelu, ((5, 7, 11, 13), (7,))),
    "erf": (torch.erf, ((71, 71),)),
    "huber_loss": (lambda x: F.huber_loss(x, x.detach().flip(0), "sum", 0.7), ((71, 71),)),
    "softplus without its numbers": (ops.softplus, ((71, 73),)),
    "hardtanh without its numbers": (ops.hardtanh, ((73, 71),)),
    "elu without its numbers": (ops.elu, ((71, 74),)),
    "leaky_relu without its slope": (ops.leaky_relu, ((71, 75),)),
    "elu": (lambda x: F.elu(x, 0.7), ((71, 71),)),
    "selu": (F.selu, ((71, 72),)),
    "celu": (lambda x: F.celu(x, 0.6), ((71, 73),)),
    "layer_norm without bias": (lambda x, w: F.layer_norm(x, (40,), w), ((151, 40), (40,))),
    "sum of rows": (lambda x: x.sum(-1), ((3, 17, 101),)),
    "sum of rows that stays a column": (lambda x: x.sum(1, keepdim=True) * x, ((43, 101),)),
    "mean of one row": (lambda x: x.mean(0), ((9001,),)),
    "mean of rows": (lambda x: x.mean((2,)), ((3, 19, 101),)),
    "cumsum of rows": (lambda x: x.cumsum(-1), ((3, 17, 101),)),
    "cumsum of columns": (lambda x: x.cumsum(0), ((71, 3, 41),)),
}


def batch_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.batch_norm(x, None, None, weight, bias, training=True)


def by_running(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    mean = torch.linspace(-1, 1, x.shape[1]).to(x.dtype)
    return F.batch_norm(x, mean, mean.abs() + 0.5, weight, bias)


@pytest.fixture
def few() -> Iterator[library.Library]:
    yield from used_library(QUICK)


@pytest.fixture
def all_programs() -> Iterator[library.Library]:
    yield from used_library(PROGRAMS)


def turned(x: torch.Tensor) -> torch.Tensor:
    """Images from how they lie channels last."""
    return x.permute(0, 3, 1, 2)


def arrays_of(sizes: tuple[tuple[int, ...], ...], special: bool = False) -> list[np.ndarray]:
    rng = np.random.default_rng(len(sizes))
    arrays = [rng.normal(size=size).astype(np.float32) for size in sizes]
    if special:
        every = arrays[0].reshape(-1)[::997]
        every[:] = np.resize([np.nan, 0.0, -0.0, np.inf, 80.0, -80.0, -np.inf, 1e-30], every.size)
    return arrays


def check(call: Any, sizes: tuple[tuple[int, ...], ...], special: bool) -> None:
    arrays = arrays_of(sizes, special)
    calls: list[Any] = []
    run = Program.list_for
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "list_for", lambda self, sizes: calls.append(sizes) or run(self, sizes))
        found, meant = results(call, arrays, np.float32), results(call, arrays, np.float64)
    assert calls or special, "no kernel was used for sizes that are new"
    with config.patch(eager_kernels="off"):
        by_formula = results(call, arrays, np.float32)
    for value, exact, formula in zip(found, meant, by_formula):
        largest = np.abs(exact[np.isfinite(exact)]).max(initial=1e-30)
        np.testing.assert_array_equal(np.isnan(value), np.isnan(formula))
        np.testing.assert_allclose(value / largest, exact / largest, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("special", [False, True], ids=["finite", "special"])
@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_computes_what_the_formula_means(few: library.Library, name: str, special: bool) -> None:
    check(*CALLS[name], special)


@pytest.mark.slow
@pytest.mark.parametrize("special", [False, True], ids=["finite", "special"])
@pytest.mark.parametrize("name", MORE_CALLS)
def test_every_kernel_does(all_programs: library.Library, name: str, special: bool) -> None:
    check(*MORE_CALLS[name], special)


UNFIT = {
    "small": lambda x: F.gelu(x[:4, :4]),
    "empty": lambda x: F.gelu(x[:0]),
    "0-d": lambda x: F.gelu(x[0, 0]),
    "every second": lambda x: F.gelu(x[:, ::2]),
    "float64": lambda x: F.gelu(x.double()),
    "softmax along columns": lambda x: F.softmax(x, 0),
    "softmax in float64": lambda x: F.softmax(x, 1, dtype=torch.float64),
    "layer_norm without weight": lambda x: F.layer_norm(x, (120,), None, torch.ones(120)),
    "sum of two dimensions": lambda x: x.reshape(10, 10, 120).sum((1, 2)),
    "sum in float64": lambda x: x.sum(1, dtype=torch.float64),
    "cumsum in the middle": lambda x: x.reshape(10, 10, 120).cumsum(1),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_is_computed_by_the_formula(few: library.Library, name: str) -> None:
    x = torch.tensor(arrays_of(((100, 120),))[0])
    found = UNFIT[name](x)
    with config.patch(eager_kernels="off"):
        assert torch.equal(found, UNFIT[name](x))


@pytest.mark.parametrize("softmax", [F.softmax, F.log_softmax])
def test_the_gradient_of_one_number_by_itself(few: library.Library, softmax: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    softmax(x, -1).backward()
    assert x.grad.item() == 0.0


def test_what_is_no_number_is_refused_by_the_formula(few: library.Library) -> None:
    x = torch.ones(100, 120)
    with pytest.raises(TypeError, match="eps"):
        F.layer_norm(x, (120,), x[0], x[1], "small")  # type: ignore[arg-type]


@pytest.mark.slow
def test_rms_norm_has_a_kernel_where_nothing_is_recorded(all_programs: library.Library) -> None:
    arrays = arrays_of(((60, 8, 16), (8, 16)))
    x, w = (torch.tensor(array) for array in arrays)
    exact = F.rms_norm(x.double(), (8, 16), w.double())
    for eps in (None, 0.5):
        exact = F.rms_norm(x.double(), (8, 16), w.double(), 2.0**-23 if eps is None else eps)
        assert torch.allclose(F.rms_norm(x, (8, 16), w, eps).double(), exact, atol=1e-6)
    with config.patch(eager_kernels="off"):
        by_ops = F.rms_norm(x, (8, 16), w)
    assert not torch.equal(F.rms_norm(x, (8, 16), w), by_ops)
    assert torch.equal(F.rms_norm(x.requires_grad_(), (8, 16), w), by_ops)


@pytest.mark.parametrize("name", ["layer_norm", "batch_norm", "softmax", "log_softmax", "gelu", "silu", "relu"])
def test_small_calls_do_not_ask_for_a_library(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(replaced, "_library", lambda: pytest.fail("it was asked for"))
    call, sizes = {**CALLS, **MORE_CALLS}[name]
    width = 5 if name == "batch_norm" else 9
    small = [(2, width, 17) if size is sizes[0] else (width,) for size in sizes]
    if name == "layer_norm":
        small[0] = (2, width)
    with config.patch(eager_kernels="on"):
        results(call, arrays_of(tuple(small)), np.float32)


def test_the_number_of_threads_changes_no_bit(few: library.Library) -> None:
    arrays, threads = arrays_of(((400, 700), (700,), (700,))), torch.get_num_threads()
    found = []
    for number in (1, 3):
        torch.set_num_threads(number)
        found.append(results(CALLS["layer_norm"][0], arrays, np.float32))
    torch.set_num_threads(threads)
    for one, three in zip(*found):
        np.testing.assert_array_equal(one, three)


def test_second_derivatives_go_through_the_formula(few: library.Library) -> None:
    x = torch.tensor(arrays_of(((70, 70),))[0], requires_grad=True)
    (slope,) = torch.autograd.grad(F.gelu(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(slope.sum(), x)
    density = torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    assert torch.allclose(second, (2 - x * x) * density, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mish", "group_norm with weights", "batch_norm by running statistics"])
def test_second_derivatives_of_a_fused_function_are_those_of_its_formula(
    all_programs: library.Library, name: str
) -> None:
    def second() -> list[torch.Tensor]:
        call, sizes = MORE_CALLS[name]
        tensors = [torch.tensor(array, requires_grad=True) for array in arrays_of(sizes)]
        slopes = torch.autograd.grad(call(*tensors).sin().sum(), tensors, create_graph=True)
        return [*torch.autograd.grad(sum((slope * slope).sum() for slope in slopes), tensors)]

    found = second()
    with config.patch(eager_kernels="off"):
        meant = second()
    for value, exact in zip(found, meant):
        assert torch.allclose(value, exact, atol=1e-4 * float(exact.abs().max()))


@pytest.mark.slow
def test_a_loss_whose_target_has_a_gradient_is_computed_by_its_formula(all_programs: library.Library) -> None:
    x, y = (torch.tensor(arrays_of(((71, 71),))[0], requires_grad=True) for _ in range(2))
    F.huber_loss(x, y * 2).backward()
    assert torch.equal(y.grad, -2 * x.grad)


def test_transforms_and_tracers_see_the_operation(few: library.Library) -> None:
    x = torch.tensor(arrays_of(((80, 80),))[0])
    assert torch.allclose(torch.vmap(F.gelu)(x), F.gelu(x), atol=1e-6)
    tangent = torch.func.jvp(F.gelu, (x,), (torch.ones_like(x),))[1]
    assert torch.allclose(tangent, ops.gelu_slope(x), atol=1e-5)


def test_a_process_runs_kernels_without_numba(few: library.Library) -> None:
    path = library.library_path()
    program = (
        "import pathlib, sys, minitorch_compile as torch\n"
        "from minitorch_compile.kernel_library import library\n"
        f"library.library_path = lambda: pathlib.Path({str(path)!r})\n"
        "x = torch.linspace(-3, 3, 500_000)\n"
        "y = torch.nn.functional.gelu(x)\n"
        "from minitorch_compile.kernel_library.replaced import program\n"
        "print(program('gelu') is not None, 'numba' in sys.modules, float(y[-1]))\n"
        "print(torch.compile(lambda x: x + 1)(x)[0].item(), torch.nn.functional.gelu(x).equal(y))\n"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded, imported, last, first, same = made.stdout.split()
    assert (loaded, imported, first, same) == ("True", "False", "-2.0", "True")
    assert abs(float(last) - 2.99595) < 1e-5


def test_a_damaged_library_is_none(few: library.Library, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = library.library_path().read_bytes()
    monkeypatch.setattr(library, "read_own", lambda path: whole[:-1])
    assert library.read_library() is None


def test_a_library_whose_code_was_removed_is_written_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The cache folder is kept below its limit, and may have moved."""
    monkeypatch.setattr(library, "library_path", lambda: tmp_path / "library")
    (tmp_path / "library").write_text("")
    recipe = {"steps": [], "tensors": 1, "outputs": [], "temporaries": []}
    step = {"function": "kernel", "points": (1, (), 1, ""), "extent": (1, (), 1, ""), "nanoseconds": 1.0}
    recipe["steps"] = [{**step, "sizes": [], "buffers": [], "scratch": []}]
    monkeypatch.setattr(library.Library, "_native_loop", lambda self: (None, 0))
    functions = {"kernel": ["key", str(tmp_path / "gone")]}
    kernels = {"recipes": {"gelu": recipe}, "planned": {"max_pool2d": "kernel"}, "tiles": (16, 8, 3, 4, 6)}
    found = library.Library({"functions": functions, **kernels})
    with config.patch(eager_kernels="on_disk"):
        assert found.program("gelu") is None and (tmp_path / "library").exists()
    found.programs.clear()
    with config.patch(eager_kernels="on"):
        assert found.program("gelu") is None and not (tmp_path / "library").exists()


def started(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """What is started, twice, to write a library into this folder."""
    names: list[str] = []
    monkeypatch.setattr(eager_kernels_cpu, "start_module", lambda name, settings: names.append(name) or Mock())
    monkeypatch.setenv("MTC_CACHE_DIR", str(folder))
    for _ in range(2):
        eager_kernels_cpu.write_in_background()
    return names


def test_one_process_writes_a_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert len(started(monkeypatch, tmp_path)) == 1


def test_none_is_written_where_no_later_process_would_find_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.warns(UserWarning, match="not kept"):
        assert not started(monkeypatch, tmp_path)


@pytest.mark.parametrize("error", [OSError("too many"), RuntimeError("can't start new thread at interpreter shutdown")])
def test_no_call_fails_because_nothing_can_be_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    monkeypatch.setattr(eager_kernels_cpu, "start_module", Mock(side_effect=error))
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path))
    eager_kernels_cpu.write_in_background()


def test_what_is_started_imports_nothing_of_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    assert start_module("minitorch_compile.version", {}).wait(60) == 0


def test_a_program_that_is_not_open_is_refused() -> None:
    """The mean's divisor is a size; its reciprocal isn't anything that a parameter stands for."""
    source = ProgramSource(lambda x: x * (1 / x.sizes[0]), ("elements",), {"x": ("elements",)}, ())
    with pytest.raises(NotOpenError, match="depends on a size in an unknown way"):
        open_program("scaled", source)
