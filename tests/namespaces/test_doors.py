"""Small modules that programs import on their way: windows, futures, checks, hub, jit, functional, __config__."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import minitorch_compile as torch

# What PyTorch 2.13 gives for five points with sym=True.
WINDOWS = {
    "bartlett": [0, 0.5, 1, 0.5, 0],
    "blackman": [0, 0.34, 1, 0.34, 0],
    "cosine": [0.30901699, 0.80901699, 1, 0.80901699, 0.30901699],
    "exponential": [0.13533528, 0.36787944, 1, 0.36787944, 0.13533528],
    "gaussian": [0.13533528, 0.60653066, 1, 0.60653066, 0.13533528],
    "hamming": [0.08, 0.54, 1, 0.54, 0.08],
    "hann": [0, 0.5, 1, 0.5, 0],
    "nuttall": [0.0003628, 0.2269824, 1, 0.2269824, 0.0003628],
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_pytorchs(name: str) -> None:
    window = getattr(torch.signal.windows, name)
    assert torch.allclose(window(5), torch.tensor(WINDOWS[name]), atol=1e-6)
    # A periodic window is the symmetric one of a point more, without that point.
    assert torch.allclose(window(5, sym=False), window(6)[:-1], atol=1e-6)
    assert (window(0).shape, window(1).tolist()) == ((0,), [1.0])


def test_windows_and_torchs_own_functions_agree() -> None:
    assert torch.allclose(torch.signal.windows.kaiser(7, beta=5.0), torch.kaiser_window(7, False, 5.0), atol=1e-6)
    assert torch.signal.windows.hann(3, dtype=torch.float64, requires_grad=True).requires_grad
    with pytest.raises(ValueError, match="floating point"):
        torch.signal.windows.hann(3, dtype=torch.int64)
    with pytest.raises(ValueError, match="non-negative"):
        torch.signal.windows.hann(-1)


def test_a_future_is_set_by_another_thread() -> None:
    future: torch.futures.Future[int] = torch.futures.Future()
    later = future.then(lambda done: done.value() + 1)
    threading.Thread(target=future.set_result, args=(1,)).start()
    assert torch.futures.wait_all([future, later]) == [1, 2]
    assert torch.futures.collect_all([future, later]).wait() == [future, later]
    with pytest.raises(RuntimeError, match="once"):
        future.set_result(2)


def test_what_a_callback_raises_is_raised_where_its_future_is_waited_for() -> None:
    future: torch.futures.Future[int] = torch.futures.Future()
    failing = future.then(lambda done: 1 // done.value())
    future.set_result(0)
    with pytest.raises(ZeroDivisionError):
        failing.wait()


def test_checks_raise_their_class_and_make_the_message_only_then() -> None:
    torch._check(True, lambda: pytest.fail("the message was made"))
    for check, error in (
        (torch._check, RuntimeError),
        (torch._check_index, IndexError),
        (torch._check_value, ValueError),
        (torch._check_type, TypeError),
        (torch._check_not_implemented, NotImplementedError),
    ):
        with pytest.raises(error, match="too small"):
            check(False, lambda: "too small")
    with pytest.raises(TypeError, match="_check_tensor_all"):
        torch._check(torch.tensor(True))
    with pytest.raises(RuntimeError):
        torch._check_tensor_all(torch.tensor([True, False]))


def test_a_check_is_traced_as_a_guard() -> None:
    def halves(x: torch.Tensor) -> torch.Tensor:
        torch._check(x.shape[0] % 2 == 0, lambda: f"odd: {x.shape[0]}")
        return x[: x.shape[0] // 2] * 2

    compiled = torch.compile(halves, backend="eager", fullgraph=True)
    assert compiled(torch.ones(4)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="odd: 3"):
        halves(torch.ones(3))


def test_an_assertion_is_traced_like_a_check() -> None:
    def twice(x: torch.Tensor) -> torch.Tensor:
        torch._assert(x.shape[0] == 2, f"sizes {list(x.shape)}")
        torch._C._log_api_usage_once("tests.twice")
        return x * 2

    compiled = torch.compile(twice, backend="eager", fullgraph=True)
    assert compiled(torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(AssertionError, match=r"sizes \[3\]"):
        compiled(torch.ones(3))


def test_questions_about_devices_and_processes_are_traced() -> None:
    def twice(x: torch.Tensor) -> torch.Tensor:
        alone = not (torch.distributed.is_initialized() or torch.accelerator.is_available())
        return x * 2 if alone and torch.cpu.device_count() == 1 else x

    assert torch.compile(twice, backend="eager", fullgraph=True)(torch.ones(1)).item() == 2


def test_a_hub_folder_is_loaded_from_this_machine(tmp_path: Path) -> None:
    (tmp_path / "hubconf.py").write_text(
        "import torch_free_neighbour\ndef double(x):\n    'Twice x.'\n    return torch_free_neighbour.TWO * x\n",
        encoding="utf-8",
    )
    (tmp_path / "torch_free_neighbour.py").write_text("TWO = 2\n", encoding="utf-8")
    assert torch.hub.load(str(tmp_path), "double", 21, source="local") == 42
    assert torch.hub.list(str(tmp_path), source="local") == ["double"]
    assert torch.hub.help(str(tmp_path), "double", source="local") == "Twice x."
    with pytest.raises(RuntimeError, match="Cannot find callable"):
        torch.hub.load(str(tmp_path), "treble", source="local")
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        torch.hub.download_url_to_file("https://example.org/a", str(tmp_path / "a"))


def test_what_torchscript_asked_of_programs_changes_nothing() -> None:
    from minitorch_compile import as_torch

    with as_torch.installed():
        from torch._jit_internal import _overload_method
        from torch.jit.annotations import BroadcastingList2

    class Net(torch.nn.Module):
        @_overload_method
        def forward(self, x: list[torch.Tensor]) -> torch.Tensor: ...

        @torch.jit._overload_method
        def forward(self, x: torch.Tensor) -> torch.Tensor: ...  # noqa: F811

        def forward(self, x: torch.Tensor) -> torch.Tensor:  # noqa: F811
            return x

    assert Net()(torch.ones(1)).item() == 1
    assert isinstance(1, BroadcastingList2[int].__args__[1])
    assert torch.jit.wait(torch.jit.fork(lambda x: x + 1, 1)) == 2
    assert torch.jit.Attribute(3, int).value == 3


def test_the_places_of_a_quantised_model_are_identities() -> None:
    linear = torch.nn.Linear(2, 2).eval()
    wrapped = torch.ao.quantization.QuantWrapper(linear)
    assert not wrapped.training and list(wrapped._modules) == ["quant", "dequant", "module"]
    assert torch.equal(wrapped(torch.ones(2)), linear(torch.ones(2)))


def test_how_an_op_is_exported_may_be_said() -> None:
    torch.onnx.register_custom_op_symbolic("tests::op", torch.onnx.symbolic_helper.parse_args("v")(len), 11)
    with pytest.raises(ValueError, match="domain::name"):
        torch.onnx.register_custom_op_symbolic("op", len, 11)


def test_a_download_shows_the_progress_bar_that_there_is() -> None:
    from minitorch_compile.utils import model_zoo

    assert model_zoo.HASH_REGEX.search("resnet18-f37072fd.pth")[1] == "f37072fd"  # type: ignore[index]
    for bar in (model_zoo.tqdm, torch.hub._QuietProgress):
        with bar(range(2), disable=True) as numbers:
            assert list(numbers) == [0, 1]
            numbers.update(1)


def test_dispatch_keys_are_sets() -> None:
    cpu, cuda = torch._C.DispatchKey.AutocastCPU, torch._C.DispatchKey.AutocastCUDA
    both = torch._C.DispatchKeySet(cpu) | torch._C.DispatchKeySet(cuda)
    assert both.has(cuda) and not both.remove(cuda).has(cuda) and both - both == torch._C.DispatchKeySet()
    with pytest.raises(NotImplementedError, match="AutogradCPU"):
        torch._C._ExcludeDispatchKeyGuard(both.add(torch._C.DispatchKey.AutogradCPU))


def test_names_that_are_the_same_functions() -> None:
    assert torch.functional.einsum is torch.einsum
    assert torch.OutOfMemoryError is torch.cuda.OutOfMemoryError
    assert "NumPy" in torch.__config__.show() and "threads" in torch.__config__.parallel_info()


def test_old_names_of_dtypes_stand_in_annotations() -> None:
    def embed(ids: torch.LongTensor | None, mask: None | torch.BoolTensor) -> torch.FloatTensor | None:
        return None

    assert embed(None, None) is None
