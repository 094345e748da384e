"""Compiled functions, transforms and saved files of tensors on a GPU."""

from __future__ import annotations

import io
import math
import pickle
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import logs
from minitorch_compile.compiler import device_graphs
from minitorch_compile.cuda.device_block import DeviceBlock
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.codegen.cuda.strategies import choose
from minitorch_compile.inductor.device_calls.device_call import DeviceCall


@pytest.fixture(autouse=True)
def nothing_compiled_yet() -> None:
    """What was compiled for the GPUs of another test knows their memory."""
    torch.compiler.reset()


def program(x: Any, w: Any) -> Any:
    return (x @ w).relu().softmax(1).sum(0) + torch.zeros(3, device=x.device)


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


@pytest.mark.parametrize("made_in", ["cpu", "cuda"])
def test_what_no_kernel_makes_is_made_where_the_program_says(made_in: str) -> None:
    def function(x: Any) -> Any:
        made = torch.zeros(2, 3, dtype=x.dtype, device=x.device)
        return made, made + x

    x = torch.ones(2, 3, dtype=torch.complex64, device=made_in)
    with torch.device("cpu" if made_in == "cuda" else "cuda"):
        made, total = torch.compile(function)(x)
    assert made.device == total.device == x.device
    assert torch.equal(total, x)


class Launches:
    """How many kernels were launched since it was made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        plain = DeviceCall.results_of

        def counted(call: DeviceCall, *arguments: Any) -> Any:
            self.count += len(call.launches)
            return plain(call, *arguments)

        monkeypatch.setattr(DeviceCall, "results_of", counted)


def test_what_is_compiled_is_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(4, 5, device="cuda")
    function = lambda x: (torch.softmax(x * 2, 1) + torch.ones(5, device="cuda")).tanh().sum(1)
    compiled, expected = torch.compile(function), function(x)
    compiled(x)
    launches = Launches(monkeypatch)
    found = compiled(x)
    assert launches.count == 1 and torch.equal(found, expected)


def test_another_size_of_a_compiled_function_compiles_no_kernel(gpus: Runtime) -> None:
    compiled = torch.compile(lambda x: torch.softmax(x, -1) * 2, dynamic=True)
    compiled(torch.randn(3, 4, device="cuda"))
    known = len(gpus.kernels.compiled)
    for rows in (5, 7):
        x = torch.randn(rows, 4)
        assert torch.allclose(compiled(x.cuda()).cpu(), torch.softmax(x, -1) * 2)
    assert len(gpus.kernels.compiled) == known


def trained(device: str, compiled: bool) -> list[float]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Dropout(0.25), torch.nn.Linear(8, 2)
    )
    x, y = torch.randn(6, 4).to(device), torch.tensor([0, 1, 0, 1, 1, 0]).to(device)
    model.to(device)
    optimizer, run = torch.optim.AdamW(model.parameters(), lr=0.05), torch.compile(model) if compiled else model
    losses = []
    for step in range(3):
        torch.manual_seed(step)
        loss = torch.nn.functional.cross_entropy(run(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_compiled_model_trains_there_as_a_plain_one_on_the_cpu() -> None:
    assert trained("cuda", compiled=True) == pytest.approx(trained("cpu", compiled=False), rel=1e-5)


def test_nothing_of_a_compiled_step_goes_over_main_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    w, x = torch.randn(3, 3, device="cuda", requires_grad=True), torch.randn(2, 3, device="cuda")
    compiled = torch.compile(program)
    compiled(x, w).backward(torch.ones(3, device="cuda"))
    w.grad = None
    monkeypatch.setattr(DeviceBlock, "read", None)
    monkeypatch.setattr(DeviceBlock, "write", None)
    compiled(x, w).backward(x[0])
    monkeypatch.undo()
    assert w.grad.isfinite().all()


def test_what_is_written_in_place_is_written_there() -> None:
    def program(x: Any) -> Any:
        x.mul_(2)
        x[0] = 1
        return x + 1

    x, y = (torch.arange(6.0, device="cuda").view(3, 2) for _ in range(2))
    assert torch.equal(torch.compile(program)(x), program(y)) and torch.equal(x, y) and x.is_cuda


@pytest.mark.filterwarnings("ignore:argsort on cuda is computed in main memory")
def test_what_has_no_kernel_runs_between_those_that_have() -> None:
    x = torch.tensor([3.0, 1.0, 2.0], device="cuda")
    found = torch.compile(lambda x: (x.exp() * 2).sort().values.log() / 2)(x)
    assert found.is_cuda and torch.allclose(found, x.sort().values / 2 + math.log(2) / 2)


def test_a_graph_that_comes_back_to_main_memory_says_that_it_is_not_fused() -> None:
    device_graphs._told.clear()
    with pytest.warns(UserWarning, match="tensors on several devices, one of them cuda, isn't fused"):
        assert torch.compile(lambda x: x.cpu() + 1)(torch.ones(2, device="cuda")).tolist() == [2, 2]


def test_numbers_and_indices_in_main_memory_may_join() -> None:
    x, two = torch.arange(3.0, device="cuda"), torch.tensor(2.0)
    found = torch.compile(lambda x, two: x[torch.arange(2)] * two)(x, two)
    assert found.is_cuda and found.tolist() == [0, 2]


def test_a_gradient_that_lies_otherwise_is_laid_out_there() -> None:
    w = torch.ones(2, 3, device="cuda", requires_grad=True)
    compiled = torch.compile(lambda w: (w * 2).exp())
    compiled(w).sum().backward()
    first = w.grad.clone()
    w.grad = None
    compiled(w).backward(torch.ones(3, 2, device="cuda").t())
    assert torch.equal(w.grad, first)


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


def test_a_float_that_changes_is_an_argument_of_the_kernels() -> None:
    def function(x: Any, a: float) -> Any:
        return (x * a + 1 / a).sin().lerp(x, a)

    compiled = torch.compile(function, dynamic=True)
    x = torch.arange(4.0, device="cuda").requires_grad_()
    with logs.capture("dynamic") as records:
        for a in (0.5, 0.25, 1.5):
            got, want = compiled(x, a), function(x, a)
            assert got.is_cuda and torch.allclose(got, want, atol=1e-6)
            first, second = (torch.autograd.grad(y.sum(), x)[0] for y in (got, want))
            assert torch.allclose(first, second, atol=1e-6)
    assert sum(record.text.startswith("version") for record in records) == 1


def test_what_is_made_of_numbers_goes_to_its_device() -> None:
    def scaled(x: Any) -> Any:
        return x * torch.tensor([1.0, 2.0], device=x.device) + torch.as_tensor([3], device=x.device)

    compiled: Any = torch.compile(scaled, fullgraph=True)
    for where in ("cuda", "cpu"):
        x = torch.ones(2, device=where)
        assert compiled(x).tolist() == scaled(x).tolist() == [4, 5] and compiled(x).device == x.device


def test_what_a_graph_wrote_before_it_failed_is_put_back() -> None:
    def program(x: Any, index: Any) -> Any:
        x.add_(1)
        return x[index] * 2

    compiled: Any = torch.compile(program)
    x = torch.zeros(3, device="cuda")
    assert compiled(x, torch.tensor([2], device="cuda")).tolist() == [2]
    with pytest.raises(IndexError, match="5 is out of bounds"):
        compiled(x, torch.tensor([5], device="cuda"))
    assert x.tolist() == [2, 2, 2]  # as plain code, which had added before it failed


def test_constants_stay_on_the_device(gpus: Runtime) -> None:
    table, scale, copied = torch.arange(3.0, device="cuda"), torch.tensor(2.0, device="cuda"), []
    compiled: Any = torch.compile(lambda x: x * table + scale + torch.arange(3, device="cuda"), fullgraph=True)
    x = torch.ones(2, 3, device="cuda")
    assert isinstance(gpus.driver, FakeDriver)
    gpus.driver.copy_host_to_device = lambda *span: copied.append(span)  # type: ignore[method-assign]
    came = [compiled(x) for _ in range(2)]
    assert not copied and came[1].tolist() == [[2, 4, 6]] * 2


def test_two_sums_over_columns_that_are_left_over_are_two(monkeypatch: Any) -> None:
    monkeypatch.setattr(choose, "MANY_COLUMNS", 1)
    x = torch.linspace(-1, 1, 40 * 13).view(40, 13)
    found = torch.compile(lambda x: (x.sum(0), (x * x).sum(0)))(x.cuda())
    assert torch.allclose(found[0].cpu(), x.sum(0), atol=1e-5) and torch.allclose(found[1].cpu(), (x * x).sum(0))


def test_what_is_stored_at_every_point_is_not_summed_over_columns_in_the_same_kernel() -> None:
    def program(x: Any) -> Any:
        y = (x * 2).exp()
        return y, y.sum(0)

    x = torch.linspace(-1, 1, 64 * 48).view(64, 48)
    with logs.capture("fusion") as records:
        found = torch.compile(program)(x.cuda())
    assert all(torch.allclose(a.cpu(), b) for a, b in zip(found, program(x)))
    assert "columns are gone down for sums alone" in records[-1].text
