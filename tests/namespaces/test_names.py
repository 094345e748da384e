"""Small namespaces: versions, jit, hub, types, settings."""

from __future__ import annotations

from pathlib import Path

import pytest

import minitorch_compile as torch
from minitorch_compile.version import TorchVersion


@pytest.mark.parametrize("older", ["1.7", "2.2", "2.12.1", "1.10.0+cu113", (1, 8)])
def test_versions_compare_by_their_numbers(older: object) -> None:
    assert torch.__version__ > older
    assert torch.__version__ >= older
    assert not torch.__version__ < older
    assert TorchVersion("2.0.1") <= "2.0.1+cpu"
    assert torch.version.cuda is None
    assert torch.__version__.split(".")[0] == "2"


def test_scripted_functions_give_what_the_functions_give() -> None:
    @torch.jit.script
    def swish(x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)

    class Net(torch.nn.Module):
        @torch.jit.ignore
        def group_matcher(self) -> dict[str, str]:
            return {}

        @torch.jit.export
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if torch.jit.is_scripting() else swish(x)

    net = Net()
    assert torch.equal(net(torch.ones(2)), swish(torch.ones(2)))
    assert torch.equal(torch.jit.script(net)(torch.ones(2)), torch.ones(2))
    with pytest.raises(AttributeError, match="state_dict"):
        torch.jit.save(net, "net.pt")


def test_pretrained_weights_are_found_where_pytorch_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.save({"w": torch.ones(1)}, folder / "net-1234.pth")
    assert torch.hub.load_state_dict_from_url("https://example.org/a/net-1234.pth?x=1", progress=False)["w"] == 1
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        torch.utils.model_zoo.load_url("https://example.org/other.pth")
    with pytest.raises(NotImplementedError, match="not downloaded"):
        torch.hub.load("pytorch/vision", "resnet18")


def test_typename_and_default_types() -> None:
    assert torch.typename(torch.ones(1)) == "torch.FloatTensor"
    assert torch.typename(torch.nn.Linear) == "torch.nn.modules.linear.Linear"
    torch.set_default_tensor_type(torch.DoubleTensor)
    assert torch.ones(1).dtype is torch.float64
    torch.set_default_tensor_type("torch.FloatTensor")
    assert torch.ones(1).dtype is torch.float32
    with pytest.raises(RuntimeError, match="no GPU"):
        torch.set_default_tensor_type("torch.cuda.FloatTensor")


def test_names_that_pytorchs_own_modules_offer_are_where_programs_look() -> None:
    from minitorch_compile import as_torch

    with as_torch.installed():
        from torch.nn.common_types import _size_2_t
        from torch.nn.modules.utils import _ntuple, _pair
        from torch.nn.parallel import DataParallel
        from torch.types import Number

    assert (_pair(1), _ntuple(3)(2)) == ((1, 1), (2, 2, 2))
    assert isinstance(1, _size_2_t.__args__[0])
    assert isinstance(1.5, Number)
    assert DataParallel is torch.nn.DataParallel


def add_one(rank: int, queue: object) -> None:
    """What the spawned process runs."""
    queue.get().add_(1 + rank)  # type: ignore[attr-defined]


def test_spawn_runs_a_function_in_processes_and_tells_of_a_failure() -> None:
    queue = torch.multiprocessing.get_context("spawn").Queue()
    x = torch.tensor([1.0, 2.0])
    queue.put(x)
    torch.multiprocessing.spawn(add_one, args=(queue,), nprocs=1)
    assert x.tolist() == [2, 3]  # both look at the same memory
    with pytest.raises(torch.multiprocessing.ProcessRaisedException, match="process 0 failed"):
        torch.multiprocessing.spawn(add_one, args=(None,), nprocs=1)
    with pytest.raises(ValueError, match="file_system"):
        torch.multiprocessing.set_sharing_strategy("telepathy")


def test_sync_batch_norm_of_one_process_is_batch_norm() -> None:
    model = torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Sequential(torch.nn.BatchNorm1d(2)))
    again = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert [type(m).__name__ for m in again.modules() if not list(m.children())] == ["SyncBatchNorm"] * 2
    x = torch.rand(2, 3, 4, 4)
    assert torch.equal(again[0](x), torch.nn.BatchNorm2d(3)(x))
