"""The bytes of a file from where it stands: how many there are, pieces of them, and arrays over them.

Nothing is read that the file does not have, and no memory is taken for it.

>>> import io
>>> content = FileBytes(io.BytesIO(bytes(range(8))))
>>> content.size, content.read(2, 3), content.array(4, 4, np.dtype(np.int16)).tolist()
(8, b'\\x02\\x03\\x04', [1284, 1798])
>>> content.read(6, 3)
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: bytes 6 to 9 of a file of 8 ...
"""

from __future__ import annotations

import io
import os
from typing import BinaryIO

import numpy as np

from minitorch_compile.serialization.skipped_data import skips_data
from minitorch_compile.serialization.unreadable_file import refuse

PIECE = 1 << 20  # of a file that can't read into memory of ours


class FileBytes:
    """A file's bytes. `mapped`: arrays are read from the disk where they are looked at, and writes stay in memory, or
    go to the file if it is `shared`."""

    def __init__(self, file: BinaryIO, mapped: bool = False, shared: bool = False) -> None:
        self.file = file
        self.start = file.tell()
        self.size = max(file.seek(0, os.SEEK_END) - self.start, 0)
        file.seek(self.start)
        self.map: np.ndarray | None = None
        if mapped and self.size:
            self.map = np.memmap(file, np.uint8, "r+" if shared else "c", 0, (self.start + self.size,))

    def check(self, offset: int, length: int) -> None:
        """UnreadableFileError unless the file has these bytes."""
        if not 0 <= offset <= offset + length <= self.size:
            raise refuse(f"bytes {offset} to {offset + length} of a file of {self.size} bytes; it is damaged")

    def read(self, offset: int, length: int) -> bytes:
        """A copy of some bytes."""
        self.check(offset, length)
        self.file.seek(self.start + offset)
        data = self.file.read(length)
        if len(data) != length:
            raise refuse(f"the file ends at byte {offset + len(data)}, before its end at {self.size}")
        return data

    def array(self, offset: int, length: int, element: np.dtype) -> np.ndarray:
        """Some bytes as the elements of a flat array that can be written to."""
        self.check(offset, length)
        if length % element.itemsize:
            raise refuse(f"{length} bytes are no whole number of elements of {element}")
        if skips_data():
            return np.zeros(length // element.itemsize, element)
        if self.map is not None:
            piece: np.ndarray = self.map[self.start + offset :][:length].view(np.ndarray)
            aligned = piece if piece.ctypes.data % element.alignment == 0 else piece.copy()
            return check_elements(aligned.view(element))
        array = np.empty(length // element.itemsize, element)
        self.file.seek(self.start + offset)
        fill(self.file, memoryview(array.view(np.uint8)))  # type: ignore[arg-type]
        return check_elements(array)


def fill(file: BinaryIO, memory: memoryview) -> None:
    """Reads as many bytes as the memory has. UnreadableFileError if the file ends before."""
    done = 0
    while done < len(memory):
        if isinstance(file, io.BufferedIOBase):
            count = file.readinto(memory[done:])
        else:
            piece = file.read(min(len(memory) - done, PIECE))
            count = len(piece)
            memory[done : done + count] = piece
        if not count:
            raise refuse(f"the file ends where {len(memory) - done} more bytes should be")
        done += count


def check_elements(array: np.ndarray) -> np.ndarray:
    """The array, if its bytes are elements: those of a bool are 0 and 1, and compiled code counts on it."""
    if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
        raise refuse("a tensor of bools has a byte that is neither 0 nor 1; the file is damaged")
    return array
