"""Files that PyTorch wrote (tools/record_torch_files.py) are read, and no code in them is run."""

import io
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.serialization import add_safe_globals, clear_safe_globals, safe_globals

WRITTEN = Path(__file__).resolve().parent / "written_by_torch"


def counting(*sizes: int) -> torch.Tensor:
    """What the recorded files hold."""
    return torch.arange(torch.Size(sizes).numel(), dtype=torch.float32).reshape(sizes)


def test_a_state_dict_fits_our_modules() -> None:
    state = torch.load(WRITTEN / "state_dict.pt")
    model = nn.Sequential(OrderedDict(a=nn.Linear(3, 2), b=nn.BatchNorm1d(2)))
    assert list(state) == list(model.state_dict())
    model.load_state_dict(state)
    assert torch.equal(model.a.weight, counting(2, 3))
    assert model.b.num_batches_tracked.dtype is torch.int64


def test_a_checkpoint_with_an_optimizer_is_read() -> None:
    checkpoint = torch.load(WRITTEN / "checkpoint.pt", map_location="cpu")
    assert (checkpoint["epoch"], checkpoint["history"], checkpoint["name"]) == (3, [0.5, (1, None)], "best")
    model = nn.Sequential(OrderedDict(a=nn.Linear(3, 2), b=nn.BatchNorm1d(2)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    optimizer.load_state_dict(checkpoint["optimizer"])
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert optimizer.state[model.a.weight]["exp_avg"].shape == (2, 3)


@pytest.mark.parametrize("name", ["views", "views_legacy"])
def test_views_share_their_storage_again(name: str) -> None:
    views = torch.load(WRITTEN / f"{name}.pt")
    base = counting(4, 5)
    assert torch.equal(views["column"], base[:, 1])
    assert torch.equal(views["transposed"], base.t())
    assert views["transposed"].stride() == (1, 5)
    assert isinstance(views["parameter"], nn.Parameter)
    views["base"][0, 1] = 50
    assert (views["column"][0], views["transposed"][1, 0], views["parameter"][1]) == (50, 50, 50)


def test_every_dtype_is_read() -> None:
    for name, value in torch.load(WRITTEN / "dtypes.pt").items():
        if isinstance(value, torch.Tensor) and name != "empty":
            assert str(value.dtype) == f"torch.{name}"
            assert value.tolist() == ([True, False] if name == "bool" else [0, 1, 2])
    rest = torch.load(WRITTEN / "dtypes.pt")
    assert (rest["size"], rest["dtype"], rest["empty"].shape) == (torch.Size([2, 3]), torch.float16, (0, 5))


@pytest.mark.parametrize(("name", "words"), [("code", "print"), ("module", "torch.nn.modules.linear.Linear")])
@pytest.mark.parametrize("weights_only", [True, False])
def test_a_file_that_would_run_code_is_refused(name: str, words: str, weights_only: bool, capsys: Any) -> None:
    with pytest.raises(pickle.UnpicklingError, match=words):
        torch.load(WRITTEN / f"{name}.pt", weights_only=weights_only)
    assert capsys.readouterr().out == ""


class Setting:
    """A class of the user's own."""


def written(value: Any, change: Any = lambda data: data) -> io.BytesIO:
    """A zip file as torch.save lays it out, with a pickle of our choice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", change(pickle.dumps(value, protocol=2)))
    file.seek(0)
    return file


def test_a_class_is_read_after_the_user_allowed_it() -> None:
    setting = Setting()
    setting.lr = 0.5
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        torch.load(written(setting))
    add_safe_globals([Setting])
    try:
        assert torch.load(written(setting)).lr == 0.5
    finally:
        clear_safe_globals()


def test_a_numpy_array_is_read_with_the_names_that_pytorch_wants_for_it() -> None:
    array = np.arange(6.0).reshape(2, 3)
    names = [np._core.multiarray._reconstruct, np.ndarray, np.dtype, type(array.dtype)]
    with pytest.raises(pickle.UnpicklingError, match="_reconstruct.*add_safe_globals"):
        torch.load(written(array))
    with safe_globals(names):
        assert np.array_equal(torch.load(written(array)), array)


def test_a_tensor_that_reaches_outside_its_storage_is_refused(tmp_path: Path) -> None:
    """The recorded pickle, its sizes (4, 5) made (4, 9)."""
    with zipfile.ZipFile(WRITTEN / "views.pt") as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in contents if name.endswith("data.pkl"))
    contents[name] = contents[name].replace(b"K\x04K\x05\x86", b"K\x04K\x09\x86", 1)
    with zipfile.ZipFile(tmp_path / "bad.pt", "w") as archive:
        for entry, data in contents.items():
            archive.writestr(entry, data)
    with pytest.raises(pickle.UnpicklingError, match="outside its storage"):
        torch.load(tmp_path / "bad.pt")


def test_other_zip_files_are_told_apart(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(RuntimeError, match="not written by torch.save"):
        torch.load(tmp_path / "x.zip")
    script = written({})
    with zipfile.ZipFile(script, "a") as archive:
        archive.writestr("archive/constants.pkl", b"")
    script.seek(0)
    with pytest.raises(RuntimeError, match="TorchScript"):
        torch.load(script)


def test_its_records_are_read_by_name() -> None:
    reader = torch.PyTorchFileReader(str(WRITTEN / "state_dict.pt"))
    assert {"data.pkl", "data/0", "version"} <= set(reader.get_all_records())
    assert (reader.has_record("data/0"), reader.has_record("nothing")) == (True, False)
    assert reader.get_record("version") == b"3\n"
    with pytest.raises(RuntimeError, match="failed locating file nothing"):
        reader.get_record("nothing")
    with pytest.raises(RuntimeError, match="failed reading zip archive"):
        torch.PyTorchFileReader(io.BytesIO(b"no zip"))
