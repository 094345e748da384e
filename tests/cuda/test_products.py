"""Matrix products on a GPU: by tiles, and by cuBLASLt, whose stand-in checks what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.errors import CudaLibraryMissingError
from minitorch_compile.cuda_runtime.fake_cublas_lt import FakeCublasLt
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.libraries import Libraries

randn = torch.randn
PRODUCTS: dict[str, tuple[Callable[..., Any], Callable[[torch.dtype], list[Any]]]] = {
    "plain": (torch.mm, lambda d: [randn(5, 7, dtype=d), randn(7, 9, dtype=d)]),
    "transposed": (torch.mm, lambda d: [randn(7, 5, dtype=d).t(), randn(9, 7, dtype=d).t()]),
    "parts": (torch.mm, lambda d: [randn(17, 33, dtype=d)[::2, 1:6], randn(9, 8, dtype=d)[:, 3:].t()]),
    "strides that BLAS can't": (torch.mm, lambda d: [randn(6, 8, dtype=d)[:, ::2], randn(4, 3, dtype=d)]),
    "row": (torch.mm, lambda d: [randn(1, 33, dtype=d), randn(33, 3, dtype=d)]),
    "column": (torch.mm, lambda d: [randn(4, 1, dtype=d), randn(1, 3, dtype=d)]),
    "nothing to add": (torch.mm, lambda d: [randn(4, 0, dtype=d), randn(0, 3, dtype=d)]),
    "several tiles": (torch.mm, lambda d: [randn(9, 10, dtype=d), randn(10, 17, dtype=d)]),
    "batch": (torch.bmm, lambda d: [randn(3, 4, 5, dtype=d), randn(3, 5, 6, dtype=d)]),
    "batch in the middle": (torch.bmm, lambda d: [randn(4, 3, 5, dtype=d).transpose(0, 1), randn(3, 5, 6, dtype=d)]),
    "the same for all": (torch.bmm, lambda d: [randn(4, 5, dtype=d).expand(3, 4, 5), randn(3, 5, 6, dtype=d)]),
    "bias": (torch.nn.functional.linear, lambda d: [randn(2, 3, 5, dtype=d), randn(4, 5, dtype=d), randn(4, dtype=d)]),
    "vector": (torch.mv, lambda d: [randn(4, 5, dtype=d), randn(5, dtype=d)]),
    "attention": (
        torch.nn.functional.scaled_dot_product_attention,
        lambda d: [randn(1, 2, 3, 4, dtype=d), randn(1, 2, 5, 4, dtype=d), randn(1, 2, 5, 4, dtype=d)],
    ),
}


@pytest.fixture
def library(gpus: Runtime) -> Iterator[FakeCublasLt]:
    assert isinstance(gpus.driver, FakeDriver)
    kernels, stand_in = DeviceKernels(gpus), FakeCublasLt(gpus.driver)
    kernels.libraries = Libraries(gpus, {"cublasLt": stand_in}.__getitem__)
    gpus.kernels = kernels
    yield stand_in


@pytest.fixture
def switches() -> Iterator[Any]:
    """torch.backends.cuda.matmul; afterwards nobody has said anything."""
    yield torch.backends.cuda.matmul
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.fp32_precision = "none"
    torch.backends.cudnn.allow_tf32 = True


def check(name: str, element: torch.dtype, tolerance: float) -> None:
    function, make = PRODUCTS[name]
    arguments = make(element)
    expected, found = function(*arguments), function(*(x.cuda() for x in arguments))
    assert found.is_cuda and found.dtype == expected.dtype and found.stride() == expected.stride()
    assert np.allclose(found.cpu().double().numpy(), expected.double().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PRODUCTS)
def test_tiles_give_what_the_cpu_gives(name: str, gpus: Runtime) -> None:
    check(name, torch.float32, 1e-5)
    assert not gpus.kernels.reasons  # nothing ran in main memory


@pytest.mark.parametrize("element", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", PRODUCTS)
def test_cublas_is_told_where_matrices_lie(name: str, element: torch.dtype, library: FakeCublasLt) -> None:
    check(name, element, 1e-5)
    assert library.asked > 0 or name == "nothing to add"


@pytest.mark.parametrize("element", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["plain", "transposed", "parts", "batch"])
def test_numbers_of_two_bytes_are_multiplied_as_they_are(
    name: str, element: torch.dtype, library: FakeCublasLt
) -> None:
    check(name, element, 2e-2)
    assert library.asked == 1


functional = torch.nn.functional
FOLLOWED: dict[str, tuple[Callable[..., Any], bool]] = {  # and whether cuBLASLt does all of it
    "bias": (functional.linear, True),
    "relu": (lambda x, w, b: functional.relu(functional.linear(x, w, b)), False),
    "gelu with tanh": (lambda x, w, b: functional.gelu(functional.linear(x, w, b), approximate="tanh"), True),
    "gelu with erf": (lambda x, w, b: functional.gelu(functional.linear(x, w, b)), False),
    "twice the bias": (lambda x, w, b: x @ w.t() + 2 * b, False),
    "read again": (lambda x, w, b: (p := x @ w.t()) + b + p.sum(), False),
}


@pytest.mark.parametrize("element", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", FOLLOWED)
def test_a_product_is_stored_once_with_what_cublas_can_do_behind_it(
    name: str, element: torch.dtype, library: FakeCublasLt, gpus: Runtime
) -> None:
    program, is_one_call = FOLLOWED[name]
    compiled, x, w = torch.compile(program), randn(2, 3, 16).to(element), randn(24, 16).to(element)
    for bias in (randn(24).to(element), randn(25)[1:].to(element)):
        found = compiled(x.cuda(), w.cuda(), bias.cuda())
        expected = program(x.float(), w.float(), bias.float())
        assert np.allclose(found.cpu().float().numpy(), expected.numpy(), rtol=2e-2, atol=1e-1)
    is_one_call = is_one_call and (name == "bias" or element is torch.bfloat16)
    assert (not any("def fused" in text for text in gpus.kernels.compiled)) == is_one_call and library.asked > 0


def test_an_eager_layer_is_one_call_wherever_its_bias_is(library: FakeCublasLt, gpus: Runtime) -> None:
    x, w, biases = (randn(*sizes).cuda() for sizes in ((3, 8), (16, 8), (33,)))
    for bias in (biases[:16], biases[16:32], biases[17:]):
        found, expected = functional.linear(x, w, bias), x.cpu() @ w.cpu().t() + bias.cpu()
        assert np.allclose(found.cpu().numpy(), expected.numpy(), atol=1e-5)
    assert library.asked == 3  # once for each alignment
    assert not any("def fused" in text for text in gpus.kernels.compiled)


def test_complex_numbers_are_multiplied_there(library: FakeCublasLt) -> None:
    x = torch.tensor([[1 + 2j, 3j], [2, 1 - 1j]])
    assert (x.cuda() @ x.cuda()).cpu().tolist() == (x @ x).tolist() and library.asked == 1


def test_an_algorithm_is_looked_for_once_for_each_alignment_and_precision(library: FakeCublasLt, switches: Any) -> None:
    memory = randn(65, device="cuda")
    for start in (0, 0, 1, 1):
        x = memory[start : start + 64].view(8, 8)
        x @ x
    assert library.asked == 2  # a view is as well aligned as where it begins
    switches.allow_tf32 = True
    x @ x
    assert library.asked == 3
    switches.allow_tf32 = False
    x @ x
    assert library.asked == 3


def test_each_stream_has_a_workspace(library: FakeCublasLt, gpus: Runtime) -> None:
    x = randn(2, 2, device="cuda")
    x @ x
    with torch.cuda.stream(torch.cuda.Stream()):
        x @ x
    blocks = gpus.kernels.libraries.workspaces.blocks
    assert len(blocks) == 2 == len(set(blocks.values()))


def test_a_missing_library_is_named_once(gpus: Runtime) -> None:
    def missing(name: str) -> Any:
        raise CudaLibraryMissingError(f"{name} is not there")

    gpus.kernels = kernels = DeviceKernels(gpus)
    kernels.libraries = Libraries(gpus, missing)
    with pytest.warns(UserWarning, match="cublasLt is not there. Until then a simple kernel multiplies") as told:
        x = torch.ones(2, 2, device="cuda")
        assert (x @ x).tolist() == [[2, 2], [2, 2]]
        x.unsqueeze(0) @ x.unsqueeze(0)
    assert len(told) == 1


def test_a_wrong_description_is_refused() -> None:
    library = FakeCublasLt(FakeDriver())
    with pytest.raises(ValueError, match="scale type 1 isn't among"):
        library.matmul_desc_create(68, 1)
    with pytest.raises(ValueError, match="a column of 8 elements doesn't fit into a step of 4"):
        library.matrix_layout_create(0, 8, 4, 4)
    handle, product, wanted = library.create(), library.matmul_desc_create(68, 0), library.matmul_preference_create()
    a, b = library.matrix_layout_create(0, 4, 8, 4), library.matrix_layout_create(0, 4, 8, 4)
    with pytest.raises(ValueError, match="the sizes don't go together"):
        library.matmul_algo_get_heuristic(handle, product, a, b, a, a, wanted, 1, 0, 0)


def test_precisions_are_said_in_several_places(switches: Any) -> None:
    assert not switches.allow_tf32 and torch.backends.cudnn.conv.fp32_precision == "tf32"
    switches.fp32_precision = "tf32"
    assert switches.allow_tf32 and torch.get_float32_matmul_precision() == "highest"
    torch.set_float32_matmul_precision("medium")
    assert switches.fp32_precision == "tf32"
    torch.set_float32_matmul_precision("highest")
    assert switches.fp32_precision == "ieee"
    with pytest.raises(RuntimeError, match="backend 'cuda' does not support precision 'bf16'"):
        switches.fp32_precision = "bf16"
    torch.backends.cudnn.allow_tf32 = False
    assert torch.backends.cudnn.conv.fp32_precision == "none"
