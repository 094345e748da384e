"""Convolutions on a GPU by cuDNN, whose stand-in checks what it is told; and by products, where it can't be asked."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.backends import cudnn
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.cudnn import Execution
from minitorch_compile.cuda_runtime.errors import CudaLibraryMissingError
from minitorch_compile.cuda_runtime.fake_cudnn import FakeCudnn
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.libraries import Libraries
from tests.cuda.test_convolutions import CONVOLUTIONS, F, Last, check, randn

QUICK, ANY_ORDER = frozenset({"TENSOR_CORE"}), frozenset({"TENSOR_CORE", "NONDETERMINISTIC"})
EXACT: frozenset[str] = frozenset()


def use(gpus: Runtime, **how: Any) -> FakeCudnn:
    assert isinstance(gpus.driver, FakeDriver)
    gpus.kernels, library = DeviceKernels(gpus), FakeCudnn(gpus.driver, **how)
    gpus.kernels.libraries = Libraries(gpus, {"cudnn": library}.__getitem__)
    return library


@pytest.fixture
def library(gpus: Runtime) -> Iterator[FakeCudnn]:
    library = use(gpus)
    with cudnn.flags(enabled=True):  # whatever other tests have left
        yield library
    assert not gpus.kernels.reasons


def test_the_binding_is_called_itself_from_the_second_call_on() -> None:
    """On a graph with the names that cudnn-frontend 1.32 has."""
    ran: list[Any] = []
    graph: Any = SimpleNamespace(
        execute=lambda *what: ran.append(("public", *what)),
        execute_plan_at_index=lambda *what: ran.append(("at index", *what)),
        selected_engine=None,
        _plan_index=2,
        _materialize_backend_plan=lambda index: SimpleNamespace(cpp_index=index + 5),
        _lowered_graph=SimpleNamespace(_execute_plan_at_index=lambda *what: ran.append(("binding", *what))),
    )
    handle, memory = SimpleNamespace(backend_handle=99), {1: 16}
    for execution in (Execution(graph), Execution(graph, 3)):
        for _ in range(2):
            execution(memory, 32, handle)
    usual = ("at index", memory, 32, 3, handle)
    assert ran == [("public", memory, 32, handle), ("binding", memory, 32, 7, 99, None, None, None), usual, usual]
    graph.selected_engine = object()
    ran.clear()
    execution = Execution(graph)
    for _ in range(2):
        execution(memory, 32, handle)
    assert [name for name, *_ in ran] == ["public", "public"]


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_and_their_gradients_are_the_cpus(name: str, library: FakeCudnn) -> None:
    function, sizes, options = CONVOLUTIONS[name]
    check(function, [randn(*size) for size in sizes], options, 3e-5)
    assert {call for call, _ in library.ran} == {"conv_fprop", "conv_dgrad", "conv_wgrad"}


@pytest.mark.parametrize(("element", "tolerance"), [("float16", 1e-2), ("bfloat16", 6e-2), ("float64", 1e-12)])
def test_all_floats_are_convolved(element: str, tolerance: float, library: FakeCudnn) -> None:
    function, sizes, options = CONVOLUTIONS["everything else"]
    check(function, [randn(*size).to(getattr(torch, element)) for size in sizes], options, tolerance)
    assert len(library.ran) == 3


def test_channels_stay_last_and_no_image_is_turned(library: FakeCudnn) -> None:
    x, w = randn(2, 3, 4, 5).to(memory_format=Last), randn(4, 3, 3, 3)
    check(F.conv2d, [x, w], {"padding": 1}, 3e-5)
    assert F.conv2d(x.cuda(), w.cuda()).is_contiguous(memory_format=Last)


def test_an_image_that_begins_anywhere_is_moved_to_where_cudnn_can_read_it(library: FakeCudnn) -> None:
    x, w = randn(1 + 2 * 3 * 16), randn(2, 3, 3, 3)
    images = [memory[1:].view(2, 3, 4, 4) for memory in (x, x.cuda())]
    expected, found = F.conv2d(images[0], w), F.conv2d(images[1], w.cuda())
    assert torch.allclose(found.cpu(), expected, 1e-4, 1e-4) and library.ran


def test_a_program_says_which_algorithms_may_be_used(library: FakeCudnn) -> None:
    x, w = randn(1, 2, 4, 4, device="cuda"), randn(2, 2, 3, 3, device="cuda", requires_grad=True)

    def notes(**switches: Any) -> list[frozenset[str]]:
        library.ran.clear()
        with cudnn.flags(enabled=True, **switches):
            F.conv2d(x, w).sum().backward()
        return [notes for _, notes in library.ran]

    assert notes() == [QUICK, ANY_ORDER]
    assert notes(allow_tf32=False) == [EXACT, EXACT]
    assert notes(deterministic=True) == [QUICK, QUICK]
    built = library.built
    assert notes() == [QUICK, ANY_ORDER] and library.built == built  # plans are kept
    torch.use_deterministic_algorithms(True)
    try:
        assert notes() == [QUICK, QUICK]
    finally:
        torch.use_deterministic_algorithms(False)


def test_with_benchmark_the_quickest_algorithm_is_kept(library: FakeCudnn) -> None:
    x, w = randn(1, 2, 4, 4, device="cuda"), randn(2, 2, 3, 3, device="cuda")
    with cudnn.flags(enabled=True, benchmark=True):
        F.conv2d(x, w)
        assert {notes for _, notes in library.ran} == {QUICK, EXACT}
        library.ran.clear()
        F.conv2d(x, w)
    assert library.ran == [("conv_fprop", QUICK)]


@pytest.mark.parametrize("off", [False, True])
def test_what_cudnn_refuses_or_may_not_do_is_a_product(off: bool, gpus: Runtime) -> None:
    library = use(gpus, refused=() if off else ("FLOAT",))
    function, sizes, options = CONVOLUTIONS["groups"]
    arguments = [randn(*size) for size in sizes]
    with cudnn.flags(enabled=not off):
        check(function, arguments, options, 3e-5)
    assert not library.ran and not gpus.kernels.reasons
    if off:
        check(function, arguments, options, 3e-5)
        assert len(library.ran) == 3  # and when it is switched on again, the next call asks it


def test_an_algorithm_that_the_switches_take_away_later_is_an_error(library: FakeCudnn) -> None:
    x, w = randn(1, 2, 4, 4, device="cuda"), randn(2, 2, 3, 3, device="cuda")
    F.conv2d(x, w)
    library.refused = ("FLOAT",)
    with pytest.raises(RuntimeError, match="no algorithm for this forward .*cudnn.enabled = False"):
        with cudnn.flags(enabled=True, allow_tf32=False):
            F.conv2d(x, w)


def test_what_is_missing_is_said_once(gpus: Runtime) -> None:
    use(gpus, version=0)
    x, w = torch.ones(1, 2, 4, 4, device="cuda"), torch.ones(2, 2, 3, 3, device="cuda")
    with pytest.warns(UserWarning, match="libcudnn.so.9 is not there: python -m pip install"):
        assert F.conv2d(x, w)[0, 0, 0, 0].item() == 18

    def missing(name: str) -> Any:
        if name == "cudnn":
            raise CudaLibraryMissingError("cudnn is not there: python -m pip install 'nvidia-cudnn-frontend'")
        raise KeyError(name)

    gpus.kernels = DeviceKernels(gpus)
    gpus.kernels.libraries = Libraries(gpus, missing)
    with pytest.warns(UserWarning, match="nvidia-cudnn-frontend'. Until then convolutions on cuda are products"):
        assert F.conv2d(x, w)[0, 0, 0, 0].item() == 18
