"""Storages as programs look at them: bytes of files, parts of them, as tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import UntypedStorage


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(4, dtype=np.float32).tobytes())
    return path


def test_the_bytes_of_a_file_are_a_tensor(file: Path) -> None:
    storage = UntypedStorage.from_file(str(file), False, 16)
    assert (len(storage), storage.nbytes(), storage[2], storage[6]) == (16, 16, 0, 128)
    part = torch.asarray(storage[4:12], dtype=torch.uint8)
    assert part.view(torch.float32).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("shared", [False, True])
def test_writes_go_to_the_file_if_it_is_shared(file: Path, shared: bool) -> None:
    x = torch.asarray(UntypedStorage.from_file(str(file), shared, 16), dtype=torch.uint8).view(torch.float32)
    x += 1
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert np.fromfile(file, np.float32).tolist() == ([1.0, 2.0, 3.0, 4.0] if shared else [0.0, 1.0, 2.0, 3.0])


def test_a_part_of_a_storage_is_the_same_memory() -> None:
    x = torch.arange(4, dtype=torch.float32)
    torch.asarray(x.untyped_storage()[4:8], dtype=torch.uint8).zero_()
    assert x.tolist() == [0.0, 0.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "look",
    [
        lambda x: x[1:],
        lambda x: x.detach().view(2, 2).t(),
        lambda x: x.view(torch.float64),
        lambda x: torch.view_as_real(x),
        lambda x: x.conj()[2:],
        lambda x: x.imag,
    ],
    ids=["slice", "turned", "other dtype", "real", "conjugate", "imaginary"],
)
def test_a_view_sees_the_memory_that_its_storage_has_grown_into(look):
    x = torch.arange(4, dtype=torch.complex128)
    view = look(x)
    assert view.abs().sum() >= 0  # it has been looked through
    x.resize_(1000).fill_(2 + 3j)
    assert torch.equal(view, look(x[:4]))
    view.zero_()
    assert torch.equal(view, look(x[:4]))
