"""A few hundred damaged files for every reader; `make fuzz` reads 200,000."""

from random import Random

import pytest

import minitorch_compile as torch
from tests.serialization.fuzz.outcome import mistake_of, unsound
from tests.serialization.fuzz.readers import READERS, Reader, file_of


@pytest.mark.parametrize("name", sorted(READERS))
def test_damaged_files_are_one_error_or_a_sound_value(name: str) -> None:
    reader = READERS[name]
    whole = reader.whole()
    for seed in range(150):
        assert mistake_of(reader, file_of(reader, whole, Random(seed))) is None, f"{name}, seed {seed}"


@pytest.mark.parametrize("name", sorted(READERS))
def test_whole_files_are_read(name: str) -> None:
    """Or else the fuzzer would only see that everything is refused."""
    reader = READERS[name]
    read = 0
    for data in reader.whole():
        try:
            read += reader.read(data) is not None
        except reader.error:
            pass  # those that hold code
    assert read >= 1


def test_another_error_is_a_mistake() -> None:
    def wrong(data: bytes) -> None:
        raise KeyError(data[0])

    assert "KeyError" in str(mistake_of(Reader(list, wrong, lambda data, random: data, ValueError), b"x"))


def test_a_tensor_outside_of_its_storage_is_a_mistake() -> None:
    x = torch.arange(4.0)
    x.sizes = torch.Size([5])
    assert "lies over 4 elements" in str(unsound({"a": [x]}))
