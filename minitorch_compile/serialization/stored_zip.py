"""Where the members of a zip file lie, for zip files as torch.save writes them: stored side by side, not compressed.

What could make a reader take one file for another is refused: names that come twice, members that overlap or reach
outside of the file, sizes of which the file says two things, and compression, which lets a small file claim to be a
large one.

>>> import io, zipfile
>>> file = io.BytesIO()
>>> with zipfile.ZipFile(file, "w") as archive:
...     archive.writestr("folder/name", b"content")
>>> _ = file.seek(0)
>>> content = FileBytes(file)
>>> members = members_of(content, MemoryBudget(content.size))
>>> content.read(*members["folder/name"].place)
b'content'

Source: PKWARE's APPNOTE.TXT, sections 4.3 and 4.5.3 (zip64).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from minitorch_compile.serialization.file_bytes import FileBytes
from minitorch_compile.serialization.memory_budget import PER_ENTRY, MemoryBudget
from minitorch_compile.serialization.unreadable_file import refuse

LOCAL, CENTRAL, END, LOCATOR, END_64 = b"PK\3\4", b"PK\1\2", b"PK\5\6", b"PK\6\7", b"PK\6\6"
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
CENTRAL_HEADER = struct.Struct("<4s6H3I5H2I")
END_RECORD = struct.Struct("<4s4H2IH")
LOCATOR_RECORD = struct.Struct("<4sIQI")
END_64_RECORD = struct.Struct("<4sQ2H2I4Q")
LONGEST_COMMENT = 0xFFFF
ABSENT = 0xFFFFFFFF  # the number stands in the zip64 field instead
ENCRYPTED = 1


@dataclass(frozen=True)
class Member:
    """One member: its bytes, and where its entry begins. `checksum` is 0 if none was computed."""

    name: str
    begin: int
    start: int
    length: int
    checksum: int

    @property
    def place(self) -> tuple[int, int]:
        return self.start, self.length


def members_of(content: FileBytes, budget: MemoryBudget) -> dict[str, Member]:
    """The members by name. UnreadableFileError for a file that is no zip file, or not of the kind described above."""
    count, start, length = _directory(content)
    members: dict[str, Member] = {}
    for member in _entries(content, count, start, length):
        if member.name in members:
            raise refuse(f"the zip file has two members named {member.name!r}")
        budget.spend(2 * PER_ENTRY + len(member.name))
        members[member.name] = member
    end = 0
    for member in sorted(members.values(), key=lambda member: member.begin):
        if member.begin < end:
            raise refuse(f"the member {member.name!r} of the zip file overlaps another one")
        end = member.start + member.length
    if end > start:
        raise refuse("the members of the zip file overlap its directory")
    return members


def _directory(content: FileBytes) -> tuple[int, int, int]:
    """How many entries the directory at the end has, where it starts, and its length in bytes."""
    tail_length = min(content.size, END_RECORD.size + LONGEST_COMMENT)
    tail = content.read(content.size - tail_length, tail_length)
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < END_RECORD.size:
        raise refuse("the zip file has no directory at its end; it was cut off, or is damaged")
    *_, on_disk, count, length, start, comment = END_RECORD.unpack_from(tail, at)
    if len(tail) - at - END_RECORD.size != comment:
        raise refuse("the zip file's directory does not end where the file ends")
    end = content.size - tail_length + at
    if on_disk != count:
        raise refuse("the zip file is one of several parts")
    count, start, length, end = _directory_64(content, count, start, length, end)
    if start + length != end:
        raise refuse("the zip file's directory is not where the file says that it is")
    return count, start, length


def _directory_64(content: FileBytes, count: int, start: int, length: int, end: int) -> tuple[int, int, int, int]:
    """The same numbers as a record for large files has them, if there is one, and where the directory ends."""
    at = end - LOCATOR_RECORD.size
    mark, _, record, _ = LOCATOR_RECORD.unpack(content.read(at, LOCATOR_RECORD.size)) if at >= 0 else (b"", 0, 0, 0)
    if mark != LOCATOR:
        return count, start, length, end
    mark, size, *_, on_disk, wide_count, wide_length, wide_start = END_64_RECORD.unpack(
        content.read(record, END_64_RECORD.size)
    )
    known = ((count, wide_count, 0xFFFF), (start, wide_start, ABSENT), (length, wide_length, ABSENT))
    if mark != END_64 or record + 12 + size != at or any(short not in (wide, none) for short, wide, none in known):
        raise refuse("the zip file's directory is damaged")
    if on_disk != wide_count:
        raise refuse("the zip file is one of several parts")
    return wide_count, wide_start, wide_length, record


def _entries(content: FileBytes, count: int, start: int, length: int) -> Iterator[Member]:
    directory = content.read(start, length)
    at = 0
    for _ in range(count):
        if len(directory) - at < CENTRAL_HEADER.size:
            raise refuse(f"the zip file's directory has fewer than {count} entries")
        fields = CENTRAL_HEADER.unpack_from(directory, at)
        mark, _, _, flags, method, _, _, checksum, packed, size, name_length, extra_length, comment_length = fields[:13]
        at += CENTRAL_HEADER.size
        name = directory[at : at + name_length]
        extra = directory[at + name_length : at + name_length + extra_length]
        at += name_length + extra_length + comment_length
        if mark != CENTRAL or at > len(directory):
            raise refuse("the zip file's directory is damaged")
        size, packed, begin = _wide(extra, size, packed, fields[-1])
        if method != 0 or flags & ENCRYPTED or packed != size:
            raise refuse(f"the member {_text(name)!r} of the zip file is compressed or encrypted; torch.save stores it")
        yield Member(_text(name), begin, _start_of(content, begin, name), size, checksum)
    if at != length:
        raise refuse(f"the zip file's directory has more than {count} entries")


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise refuse(f"the zip file has a member named {name!r}, which is not UTF-8") from None


def _wide(extra: bytes, *numbers: int) -> list[int]:
    """The numbers, those that need 64 bits from the field of kind 1."""
    result, at = list(numbers), 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        field, at = extra[at + 4 : at + 4 + length], at + 4 + length
        if kind != 1:
            continue
        for i, number in enumerate(result):
            if number == ABSENT and len(field) >= 8:
                result[i], field = int.from_bytes(field[:8], "little"), field[8:]
    return result


def _start_of(content: FileBytes, begin: int, name: bytes) -> int:
    """Where a member's bytes start. The header before them must have the name that the directory has."""
    header = LOCAL_HEADER.unpack(content.read(begin, LOCAL_HEADER.size))
    name_at = begin + LOCAL_HEADER.size
    if header[0] != LOCAL or header[-2] != len(name) or content.read(name_at, len(name)) != name:
        raise refuse(f"the zip file's directory has a member {_text(name)!r} that is not where it should be")
    return name_at + len(name) + int(header[-1])


def check_sum(member: Member, data: memoryview) -> None:
    """UnreadableFileError if the bytes are not those that were written."""
    if member.checksum and zlib.crc32(data) != member.checksum:
        raise refuse(f"the member {member.name!r} of the zip file is damaged: its checksum is wrong")
