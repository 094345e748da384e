"""Compiled functions, transforms and saved files of tensors on a GPU."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pytest

import minitorch_compile as torch


def program(x: Any, w: Any) -> Any:
    return (x @ w).relu().softmax(1).sum(0) + torch.zeros(3, device=x.device)


@pytest.mark.filterwarnings("ignore:torch.compile. graphs with tensors on cuda")
@pytest.mark.parametrize("backend", torch.compiler.list_backends(None))
def test_every_backend_gives_the_values_and_gradients_of_plain_code(backend: str) -> None:
    if backend == "cuda":
        pytest.skip("wants a GPU")
    x, w = torch.randn(2, 3, device="cuda"), torch.randn(3, 3, device="cuda", requires_grad=True)
    plain = program(x, w)
    expected = torch.autograd.grad(plain.sum(), w)[0]
    compiled = torch.compile(program, backend=backend)(x, w)
    assert compiled.is_cuda and torch.equal(compiled, plain)
    assert torch.equal(torch.autograd.grad(compiled.sum(), w)[0], expected)


def test_the_compiler_says_that_it_does_not_fuse_there_yet() -> None:
    from minitorch_compile.compiler import device_graphs

    device_graphs._told.clear()
    with pytest.warns(UserWarning, match="graphs with tensors on cuda aren't fused yet"):
        torch.compile(lambda x: x + 1)(torch.ones(2, device="cuda"))


def test_transforms_work_there() -> None:
    x = torch.tensor([1.0, 2.0], device="cuda")
    assert torch.func.grad(lambda v: (v**3).sum())(x).tolist() == [3, 12]
    assert torch.func.vmap(lambda v: v * 2)(x).tolist() == [2, 4]
    assert torch.func.jacrev(lambda v: v**2)(x).tolist() == [[2, 0], [0, 4]]


def test_saved_tensors_share_memory_as_they_did() -> None:
    x = torch.arange(6.0, device="cuda").view(2, 3)
    file = io.BytesIO()
    torch.save({"whole": x, "row": x[1]}, file)
    found = torch.load(io.BytesIO(file.getvalue()))
    assert found["whole"].device.type == "cpu" and found["whole"].tolist() == x.tolist()
    found["row"][0] = 7
    assert found["whole"][1, 0].item() == 7


def test_pickles_are_refused_with_advice() -> None:
    with pytest.raises(TypeError, match=r"a tensor on cuda:0 can't be pickled: take x.cpu\(\)"):
        pickle.dumps(torch.ones(2, device="cuda"))


def test_a_state_is_loaded_into_a_model_there() -> None:
    model, other = torch.nn.Linear(2, 2).cuda(), torch.nn.Linear(2, 2).cuda()
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    other.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
    assert torch.equal(model.weight, other.weight) and other.weight.is_cuda
    found = torch.load(io.BytesIO(file.getvalue()), map_location="cuda:1")
    assert type(found).__name__ == "OrderedDict" and {x.get_device() for x in found.values()} == {1}
    with pytest.raises(RuntimeError, match="no tensors on xpu here"):
        torch.load(io.BytesIO(file.getvalue()), map_location="xpu")
