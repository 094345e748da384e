"""Formats are told apart by more than a byte; what is of none is the one error, which is all that people catch."""

import io
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.serialization import UnreadableFileError, load, save

from .round_trip import saved


def test_files_with_headers_of_every_length_are_read() -> None:
    """0x80, the low byte of some lengths, is also the first byte of every pickle."""
    first_bytes = set()
    for length in range(0, 600, 8):
        data = saved({"w" * length: torch.ones(1)})
        first_bytes.add(data[0])
        assert list(load(io.BytesIO(data))) == ["w" * length]
    assert 0x80 in first_bytes
    assert len(first_bytes) == 32  # lengths are multiples of 8


@pytest.mark.parametrize("length", range(2**16 - 16, 2**16 + 16, 8))
def test_files_with_long_headers_are_read(length: int) -> None:
    assert load(io.BytesIO(saved({"w" * length: torch.ones(1)})))["w" * length].item() == 1


@pytest.mark.parametrize("first", range(256))
def test_plain_safetensors_files_with_headers_of_every_length_are_read(first: int) -> None:
    """Other writers don't pad their headers, or pad them otherwise."""
    text = b'{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    text = text.ljust(first + 256)
    assert len(text) % 256 == first
    data = len(text).to_bytes(8, "little") + text + bytes(4)
    assert load(io.BytesIO(data))["x"].item() == 0


def a_tar_file() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("storages"), io.BytesIO())
    return file.getvalue()


def an_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


OTHERS = {
    "nothing": b"",
    "a byte": b"\x80",
    "seven bytes": bytes(7),
    "eight bytes": (2).to_bytes(8, "little"),
    "text": b"hello, this is text, and of some length",
    "a web page": b"<!DOCTYPE html><html></html>",
    "a pickle": pickle.dumps({"a": 1}, protocol=2),
    "a pickled number": pickle.dumps(0x1950A86A20F9469CFC6D, protocol=2),
    "half a legacy file": b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
    "half a zip file": b"PK\x03\x04" + bytes(40),
    "an empty zip file": b"PK\x05\x06" + bytes(18),
    "a tar file": a_tar_file(),
    "an array": an_array(),
    "gzip": b"\x1f\x8b\x08" + bytes(20),
    "GGUF": b"GGUF" + bytes(20),
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
    "a length and no header": (100).to_bytes(8, "little") + b"{",
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("caught", [pickle.UnpicklingError, RuntimeError, ValueError, EOFError, UnreadableFileError])
def test_what_is_of_no_format_is_the_one_error(name: str, caught: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(caught, match=r"^load: "):
        load(io.BytesIO(OTHERS[name]))
    (tmp_path / "x").write_bytes(OTHERS[name])
    with pytest.raises(caught, match=r"^load: "):
        load(tmp_path / "x", mmap=True)


def test_a_file_is_read_from_where_it_stands() -> None:
    file = io.BytesIO(b"some" + saved([1, torch.ones(2)]))
    file.seek(4)
    assert load(file)[1].tolist() == [1, 1]


def test_files_that_read_only_in_pieces_are_read() -> None:
    """Such as those of a remote file system."""

    class Pieces:
        def __init__(self, data: bytes) -> None:
            self.file = io.BytesIO(data)

        def read(self, count: int = -1) -> bytes:
            return self.file.read(count)

        def seek(self, *where: Any) -> int:
            return self.file.seek(*where)

        def tell(self) -> int:
            return self.file.tell()

        def readline(self, limit: int = -1) -> bytes:
            return self.file.readline(limit)

    large = torch.arange(400_000.0)
    assert torch.equal(load(Pieces(saved(large))), large)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AttributeError, match="'read' attribute"):
        load(3)
    with pytest.raises(AttributeError, match="'write' attribute"):
        save(1, 3)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent")
    with pytest.raises(TypeError, match="'rb'"):
        load(io.StringIO("text"))
    with pytest.raises(RuntimeError, match="pickle_module"):
        load(io.BytesIO(saved(1)), pickle_module=pickle)
