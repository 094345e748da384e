"""Options of save and load, and questions about files; what PyTorch 2.13 wrote is read, and answered as there."""

from __future__ import annotations

import io
import mmap
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import serialization
from minitorch_compile.as_torch.import_hook import installed
from minitorch_compile.serialization import UnreadableFileError, config, skip_data
from minitorch_compile.serialization.pickled_names import names_in


class Own:
    pass


def pytorch_file(main: bytes, storage: bytes | None = None) -> io.BytesIO:
    """As torch.save lays it out."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", main)
        archive.writestr("archive/byteorder", b"little")
        if storage is not None:
            archive.writestr("archive/data/0", storage)
    file.seek(0)
    return file


# torch.save(torch.arange(4.)), its data.pkl
FOUR_FLOATS = (
    b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x00((X\x07\x00\x00\x00storageq\x01ctorch\nFloatStorage\nq\x02X\x01\x00"
    b"\x00\x000q\x03X\x03\x00\x00\x00cpuq\x04K\x04tq\x05QK\x00K\x04\x85q\x06K\x01\x85q\x07\x89ccollections\nOrderedDict\n"
    b"q\x08)Rq\ttq\nRq\x0b."
)


def test_sizes_without_bytes(tmp_path):
    path = tmp_path / "model.safetensors"
    with skip_data():
        torch.save({"w": torch.ones(2, 3), "b": torch.ones(0), "n": 3}, path)
    read = torch.load(path)
    assert read["w"].tolist() == [[0.0] * 3] * 2 and read["b"].shape == (0,) and read["n"] == 3
    torch.save(torch.ones(2, dtype=torch.bool), path)
    with skip_data():
        assert torch.load(path).tolist() == [False, False]
        assert torch.load(path, mmap=True).tolist() == [False, False]
        file = pytorch_file(FOUR_FLOATS, np.arange(4, dtype=np.float32).tobytes())
        assert torch.load(file).tolist() == [0.0] * 4
    assert torch.load(path).tolist() == [True, True]


def test_mapped_files_are_written_to_only_if_they_are_shared(tmp_path):
    path = tmp_path / "x.safetensors"
    torch.save(torch.zeros(3), path)
    torch.load(path, mmap=True)[0] = 1
    assert torch.load(path).tolist() == [0, 0, 0]
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        torch.load(path, mmap=True)[0] = 1
    assert torch.load(path).tolist() == [1, 0, 0]
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with pytest.raises(ValueError, match=r"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 3"):
        serialization.set_default_mmap_options(3)


def test_what_holds_where_a_call_says_nothing(monkeypatch):
    with installed():
        from torch.utils.serialization import config as theirs
    assert theirs is config
    monkeypatch.setattr(config.load, "mmap", True)
    file = io.BytesIO()
    torch.save(1, file)
    with pytest.raises(ValueError, match="must be a file path"):
        torch.load(file)
    file.seek(0)
    assert torch.load(file, mmap=False) == 1
    assert serialization.get_crc32_options()
    serialization.set_crc32_options(False)
    assert not config.save.compute_crc32
    serialization.set_crc32_options(True)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_the_names_that_load_would_refuse(protocol):
    main = pickle.dumps([Own(), OrderedDict(a=Own), torch.nn.Linear], protocol)
    unsafe = [f"{__name__}.Own", "minitorch_compile.nn.modules.linear.Linear"]
    found = serialization.get_unsafe_globals_in_checkpoint(pytorch_file(main))
    assert set(unsafe) <= set(found) and "collections.OrderedDict" not in found
    with serialization.safe_globals([Own]):
        assert unsafe[0] not in serialization.get_unsafe_globals_in_checkpoint(pytorch_file(main))
    assert serialization.get_unsafe_globals_in_checkpoint(pytorch_file(FOUR_FLOATS, bytes(16))) == []


def test_what_is_no_checkpoint_has_no_names():
    script = pytorch_file(FOUR_FLOATS)
    with zipfile.ZipFile(script, "a") as archive:
        archive.writestr("archive/constants.pkl", b"")
    script.seek(0)
    for file in (io.BytesIO(b"something else"), io.BytesIO(), script):
        with pytest.raises(ValueError, match="get_unsafe_globals_in_checkpoint: expected a"):
            serialization.get_unsafe_globals_in_checkpoint(file)
    for damaged in (b"\x80\x04\x93.", FOUR_FLOATS[:-5], b"\x80\x04K\x01K\x02\x93."):
        with pytest.raises(UnreadableFileError):
            names_in(damaged)


def test_places_of_storages():
    storage = torch.ones(2).untyped_storage()
    assert serialization.location_tag(storage) == "cpu"
    assert serialization.default_restore_location(storage, "cpu") is storage
    with pytest.raises(RuntimeError, match="tagged with elsewhere"):
        serialization.default_restore_location(storage, "elsewhere")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="on a CUDA device but torch.cuda.is_available"):
            serialization.default_restore_location(storage, "cuda:0")
    before = list(serialization.locations._packages)
    try:
        to_there = lambda storage, place: "there" if place == "elsewhere" else None
        serialization.register_package(5, lambda storage: "elsewhere", to_there)
        assert serialization.location_tag(storage) == "elsewhere"
        assert serialization.default_restore_location(storage, "elsewhere") == "there"
        assert serialization.default_restore_location(storage, "cpu") is storage
    finally:
        serialization.locations._packages[:] = before
