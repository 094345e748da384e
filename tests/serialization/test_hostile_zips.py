"""Zip files that say two things, or that are other than torch.save's."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

import minitorch_compile as torch
from minitorch_compile.serialization import (
    LoadEndianness,
    UnreadableFileError,
    get_default_load_endianness,
    load,
    set_default_load_endianness,
)

from .hostile import archive, number, numbers, storage, tensor

WHOLE = archive(tensor(number(0), numbers(2, 3), numbers(3, 1)))
MEMBER, ENTRY, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def changed(mark: bytes, place: int, raw: bytes, last: bool = True) -> bytes:
    """The file with other bytes behind one of its marks."""
    at = (WHOLE.rindex(mark) if last else WHOLE.index(mark)) + place
    return WHOLE[:at] + raw + WHOLE[at + len(raw) :]


def u4(value: int) -> bytes:
    return struct.pack("<I", value)


def rewritten(compression: int = zipfile.ZIP_STORED, *, twice: bool = False) -> bytes:
    """The same members in another zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as old, zipfile.ZipFile(file, "w", compression) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        if twice:
            with pytest.warns(UserWarning, match="Duplicate"):
                new.writestr("archive/data/0", bytes(24))
    return file.getvalue()


HOSTILE = {
    "compressed": rewritten(zipfile.ZIP_DEFLATED),
    "a name twice": rewritten(twice=True),
    "a larger size": changed(ENTRY, 24, u4(25)),
    "a huge size": changed(ENTRY, 20, u4(0xFFFFFFFE) * 2),
    "a size of 64 bits that is not there": changed(ENTRY, 20, u4(0xFFFFFFFF) * 2),
    "another method": changed(ENTRY, 10, b"\x08\0"),
    "encrypted": changed(ENTRY, 8, b"\x01\0"),
    "a wrong checksum": changed(ENTRY, 16, u4(12345)),
    "a changed byte": WHOLE.replace(bytes(24), bytes(23) + b"\1"),
    "a member at another place": changed(ENTRY, 42, u4(7)),
    "two members at one place": changed(ENTRY, 42, u4(0)),
    "a member behind the end": changed(ENTRY, 42, u4(0x7FFFFFFF)),
    "another name before the member": changed(MEMBER, 31, b"x"),
    "fewer entries": changed(END, 8, b"\1\0\1\0"),
    "more entries": changed(END, 8, b"\3\0\3\0"),
    "several parts": changed(END, 8, b"\1\0\2\0"),
    "a directory at another place": changed(END, 16, u4(0)),
    "a directory of another length": changed(END, 12, u4(1)),
    "a comment that is not there": changed(END, 20, b"\5\0"),
    "bytes behind the end": WHOLE + b"x",
    "bytes before the beginning": b"PK\x03\x04" + WHOLE,
    "no end": WHOLE[:-1],
    "half": WHOLE[: len(WHOLE) // 2],
    "bytes behind the pickle": WHOLE.replace(b"tR.", b"t.R"),
}


def test_the_file_that_is_changed_is_right() -> None:
    assert load(io.BytesIO(WHOLE)).shape == (2, 3)
    assert load(io.BytesIO(rewritten())).shape == (2, 3)


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("mmap", [False, True])
def test_it_is_refused(case: str, mmap: bool, tmp_path: Path) -> None:
    (tmp_path / "x.pt").write_bytes(HOSTILE[case])
    if mmap and case in ("a wrong checksum", "a changed byte"):
        assert load(tmp_path / "x.pt", mmap=mmap).shape == (2, 3)  # what is mapped is not read beforehand
        return
    with pytest.raises(UnreadableFileError):
        load(tmp_path / "x.pt", mmap=mmap)


def test_a_file_without_checksums_is_read() -> None:
    """torch.serialization.set_crc32_options(False) leaves them 0."""
    data = changed(ENTRY, 16, u4(0))
    assert zlib.crc32(bytes(24)) != 0
    assert load(io.BytesIO(data)).shape == (2, 3)


def test_a_bomb_is_refused_for_what_it_says() -> None:
    """A storage that is compressed, of 4 GiB."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr(
            "archive/data.pkl", b"\x80\x02" + tensor(number(0), numbers(1), numbers(1), storage(elements=2**24)) + b"."
        )
        new.writestr("archive/data/0", bytes(2**26))
    with pytest.raises(UnreadableFileError, match="compressed"):
        load(io.BytesIO(file.getvalue()))


def test_numbers_of_64_bits_are_read() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as new, zipfile.ZipFile(io.BytesIO(WHOLE)) as old:
        for name in old.namelist():
            with new.open(name, "w", force_zip64=True) as member:
                member.write(old.read(name))
    assert load(io.BytesIO(file.getvalue())).shape == (2, 3)


def test_other_orders_of_bytes_are_read_or_named() -> None:
    pickled = tensor(number(0), numbers(2), numbers(1), storage("torch.ShortStorage", elements=2))
    assert load(io.BytesIO(archive(pickled, {"data/0": b"\0\1\0\2", "byteorder": b"big"}))).tolist() == [1, 2]
    pickled = tensor(number(0), numbers(1), numbers(1), storage("torch.ComplexFloatStorage", elements=1))
    raw = struct.pack(">ff", 1, 2)
    assert load(io.BytesIO(archive(pickled, {"data/0": raw, "byteorder": b"big"}))).item() == 1 + 2j
    with pytest.raises(UnreadableFileError, match="order"):
        load(io.BytesIO(archive(pickled, {"data/0": raw, "byteorder": b"middle"})))


def test_an_order_of_bytes_for_files_that_do_not_say_theirs() -> None:
    pickled = tensor(number(0), numbers(2), numbers(1), storage("torch.ShortStorage", elements=2))
    unsaid, said = ({"data/0": b"\0\1\0\2", **more} for more in ({}, {"byteorder": b"little"}))
    found = []
    try:
        for order in (None, LoadEndianness.BIG, LoadEndianness.LITTLE, LoadEndianness.NATIVE):
            set_default_load_endianness(order)
            assert get_default_load_endianness() is order
            found.append([load(io.BytesIO(archive(pickled, files))).tolist() for files in (unsaid, said)])
    finally:
        set_default_load_endianness(None)
    turned = [[256, 512], [256, 512]]
    assert found == [turned, [[1, 2], [256, 512]], turned, turned]
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        set_default_load_endianness("big")  # type: ignore[arg-type]


def test_tensors_of_a_zip_file_can_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "x.pt").write_bytes(WHOLE)
    x = torch.load(tmp_path / "x.pt", mmap=True)
    x += 1
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert (tmp_path / "x.pt").read_bytes() == WHOLE
