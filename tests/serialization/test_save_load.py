"""What save() writes, load() and the safetensors library read; what is no data is refused."""

import argparse
import io
from collections import OrderedDict, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import minitorch_compile as torch
from minitorch_compile import nn


def round_trip(value: Any) -> Any:
    """The value after save() and load()."""
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file)


DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
    torch.complex128,
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", [(), (0,), (3,), (2, 0, 3), (2, 3)], ids=str)
def test_a_tensor_comes_back_with_its_dtype_and_sizes(dtype: torch.dtype, sizes: tuple[int, ...]) -> None:
    x = (torch.rand(sizes) * 4).to(dtype)
    y = round_trip(x)
    assert (y.dtype, y.shape) == (dtype, x.shape)
    assert torch.equal(y, x)


def test_a_view_is_saved_as_it_looks() -> None:
    x = torch.arange(12).view(3, 4)
    for view in (x.t(), x[:, 1], x[1:, ::2], x[0].expand(2, 4)):
        assert torch.equal(round_trip(view), view)


def test_containers_keep_their_types_order_and_keys() -> None:
    value = {"b": [1, 2.5, None, True], 3: ("x", {"a"}), "a": OrderedDict(z=torch.Size([2]), y=torch.float16)}
    again = round_trip(value)
    assert again == value
    assert list(again) == ["b", 3, "a"]
    assert (type(again["a"]), type(again["a"]["z"]), type(again[3])) == (OrderedDict, torch.Size, tuple)
    assert np.isnan(round_trip(float("nan")))


def test_a_training_state_goes_on_where_it_was() -> None:
    def trained(model: nn.Module, optimizer: Any) -> torch.Tensor:
        loss = model(torch.ones(3, 2)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    model = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    trained(model, optimizer)
    checkpoint = round_trip({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1})
    again = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    again.load_state_dict(checkpoint["model"])
    again_optimizer = torch.optim.Adam(again.parameters(), lr=0.1)
    again_optimizer.load_state_dict(checkpoint["optimizer"])
    for _ in range(2):
        assert torch.equal(trained(model, optimizer), trained(again, again_optimizer))


def test_a_tensor_in_two_places_is_stored_once_and_shared_again() -> None:
    x = torch.zeros(1000)
    file = io.BytesIO()
    torch.save({"a": x, "b": [x]}, file)
    assert len(file.getvalue()) < 5000
    file.seek(0)
    again = torch.load(file)
    again["a"][0] = 5
    assert again["b"][0][0] == 5


def test_different_tensors_with_one_path_are_kept_apart() -> None:
    again = round_trip({"a.b": torch.zeros(1), "a": {"b": torch.ones(1)}, 1: torch.ones(2), "1": torch.zeros(2)})
    assert (again["a.b"].item(), again["a"]["b"].item()) == (0, 1)
    assert (again[1].sum().item(), again["1"].sum().item()) == (2, 0)


def test_parameters_and_requires_grad_come_back() -> None:
    parameter, leaf = round_trip([nn.Parameter(torch.ones(2), requires_grad=False), torch.ones(2, requires_grad=True)])
    assert isinstance(parameter, nn.Parameter)
    assert (parameter.requires_grad, leaf.requires_grad) == (False, True)


def test_the_safetensors_library_reads_what_we_write(tmp_path: Path) -> None:
    state = nn.Linear(3, 2).state_dict()
    torch.save(state, tmp_path / "model.safetensors")
    theirs = safetensors.numpy.load_file(tmp_path / "model.safetensors")
    assert {name: x.tolist() for name, x in theirs.items()} == {name: x.tolist() for name, x in state.items()}


def test_we_read_what_the_safetensors_library_writes(tmp_path: Path) -> None:
    arrays = {"w": np.arange(6.0, dtype=np.float32).reshape(2, 3), "n": np.array(7), "flag": np.array([True])}
    safetensors.numpy.save_file(arrays, tmp_path / "x.safetensors", metadata={"by": "them"})
    ours = torch.load(str(tmp_path / "x.safetensors"), map_location="cpu")
    assert {name: x.numpy().tolist() for name, x in ours.items()} == {name: x.tolist() for name, x in arrays.items()}
    ours["w"] += 1  # loaded memory is ours to write


def test_a_mapped_file_is_not_written_to(tmp_path: Path) -> None:
    torch.save({"x": torch.ones(3), "none": torch.ones(0)}, tmp_path / "x.st")
    mapped = torch.load(tmp_path / "x.st", mmap=True)
    mapped["x"] += 1
    assert mapped["x"].tolist() == [2, 2, 2]
    assert torch.load(tmp_path / "x.st")["x"].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="file path"):
        torch.load(io.BytesIO(), mmap=True)


@pytest.mark.parametrize(
    "where", ["cpu", torch.device("cpu"), lambda storage, location: storage, {"cuda:0": "cpu"}, None]
)
def test_map_location_may_say_cpu_in_any_way(where: Any) -> None:
    file = io.BytesIO()
    torch.save(torch.ones(1), file)
    file.seek(0)
    assert torch.load(file, map_location=where, weights_only=True).item() == 1


def test_map_location_to_a_gpu_is_refused() -> None:
    file = io.BytesIO()
    torch.save(torch.ones(1), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="no tensors on cuda"):
        torch.load(file, map_location="cuda:0")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1, {"f": print}], "checkpoint\\[1\\]\\['f'\\] is a function, print"),
        ({"x": {1: {2}, "g": (lambda: 1)}}, "checkpoint\\['x'\\]\\['g'\\] is a function"),
        ({print: 1}, "checkpoint: its key <built-in function print> is a function"),
        (defaultdict(lambda: 1), "checkpoint has the factory"),
        ({"o": torch.optim.SGD([torch.ones(1)], lr=1)}, "checkpoint\\['o'\\] is a SGD; save its state_dict"),
        ([np.array([print])], "checkpoint\\[0\\] is a ndarray"),
        (argparse.Namespace(f=open), "checkpoint.f is a function"),
    ],
)
def test_what_is_no_data_is_refused_with_its_place(value: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        torch.save(value, io.BytesIO())


@pytest.mark.parametrize("damage", [b"", b"hello, this is text", b"\x10" + bytes(7) + b"not json at all!"])
def test_a_file_that_is_none_is_refused(damage: bytes) -> None:
    with pytest.raises(ValueError, match="not a safetensors file"):
        torch.load(io.BytesIO(damage))


def test_a_header_that_lies_about_sizes_is_refused() -> None:
    file = io.BytesIO()
    torch.save({"x": torch.ones(4)}, file)
    data = file.getvalue().replace(b'"shape":[4]', b'"shape":[9]')
    with pytest.raises(ValueError, match="damaged"):
        torch.load(io.BytesIO(data))
    with pytest.raises(ValueError, match="damaged"):
        torch.load(io.BytesIO(file.getvalue()[:-4]))
