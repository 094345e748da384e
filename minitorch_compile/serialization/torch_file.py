"""Reading what torch.save wrote: a zip file with one pickle, `data.pkl`, and the bytes of each storage beside it.

Files from before PyTorch 1.6 are pickles one after the other, followed by the storages. In both, the main pickle refers
to storages by key and size, which must be those of the bytes that there are, and to functions by name, which
`allowed_names` looks up.

Source: torch/serialization.py, for the layout.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.serialization.allowed_names import Global, ReadStorage, is_allowed
from minitorch_compile.serialization.byte_order import is_big_unless_said
from minitorch_compile.serialization.checked_tensor import counts, shortened
from minitorch_compile.serialization.file_bytes import FileBytes, check_elements, fill
from minitorch_compile.serialization.memory_budget import MemoryBudget
from minitorch_compile.serialization.pickled_names import names_in
from minitorch_compile.serialization.plain_data import check_depth
from minitorch_compile.serialization.skipped_data import skips_data
from minitorch_compile.serialization.stored_zip import LOCAL, Member, check_sum, members_of
from minitorch_compile.serialization.unpickler import Unpickler
from minitorch_compile.serialization.unreadable_file import refuse
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY, dtype

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
LEGACY_PROTOCOL = 1001
LEGACY_PICKLED = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."  # the number, as a pickle has it
LEGACY_STARTS = (
    2,
    11,
)  # where it stands: after the number of the protocol, and from protocol 4 on after a frame's length

StorageLookup = Callable[[dtype, str, int], ReadStorage]


def is_legacy(start: bytes) -> bool:
    """Whether a file that starts so was written by torch.save before PyTorch 1.6: its first pickle is a number."""
    return start[:1] == b"\x80" and any(start[at:].startswith(LEGACY_PICKLED) for at in LEGACY_STARTS)


def reference_to(storage: StorageLookup) -> Callable[[Any], ReadStorage]:
    """What a pickle's references mean: all of them are to storages."""

    def find_storage(reference: Any) -> ReadStorage:
        if not isinstance(reference, tuple) or len(reference) not in (5, 6) or reference[0] != "storage":
            raise refuse(f"the file refers to {shortened(reference)}, which is no storage")
        _, kind, key, _, length, *view = reference
        if not isinstance(kind, Global) or kind.stored is None or type(key) is not str:
            raise refuse("the file refers to a storage of a type, or with a key, that no storage has")
        if view and view[0] is not None:
            raise refuse("the file is of a kind, before PyTorch 0.4, that is not read; save it anew with PyTorch")
        (elements,) = counts("storage's length", (length,))
        return storage(kind.stored, key, elements)

    return find_storage


class KnownStorages:
    """The storages that were met, by key. All references to one must say the same about it."""

    def __init__(self, make: StorageLookup) -> None:
        self.make = make
        self.storages: dict[str, ReadStorage] = {}

    def __call__(self, element: dtype, key: str, elements: int) -> ReadStorage:
        if key not in self.storages:
            self.storages[key] = self.make(element, key, elements)
        known = self.storages[key]
        if known.dtype is not element or len(known) != elements:
            raise refuse(f"the file says two things about its storage {key[:100]!r}")
        return known


# ------------------------------------------------------------------------------------------------ since 1.6


def read_zip(content: FileBytes, budget: MemoryBudget) -> Any:
    """What torch.save wrote, from PyTorch 1.6 on. UnreadableFileError for a TorchScript archive or a damaged file."""
    members = members_of(content, budget)
    pickles = [name for name in members if name.endswith("/data.pkl")]
    if len(pickles) != 1:
        raise refuse("this zip file was not written by torch.save: it has no data.pkl")
    folder = pickles[0].removesuffix("data.pkl")
    if f"{folder}constants.pkl" in members:
        raise refuse("this is a TorchScript archive, which is a program; save a state_dict instead")
    big_endian = _is_big_endian(content, members.get(f"{folder}byteorder"))

    def storage(element: dtype, key: str, elements: int) -> ReadStorage:
        member = members.get(f"{folder}data/{key}")
        if member is None:
            raise refuse(f"the file refers to a storage {key[:100]!r} that it does not have")
        if member.length != elements * element.itemsize:
            raise refuse(
                f"a storage of {elements} x {element} takes {elements * element.itemsize} bytes, but {member.length}"
                " are there; the file is damaged"
            )
        array = content.array(*member.place, element.numpy)
        if content.map is None:
            budget.spend(member.length)
            if not skips_data():
                check_sum(member, memoryview(array.view(np.uint8)))  # type: ignore[arg-type]
        return ReadStorage(_native(array) if big_endian else array, element)

    main = members[pickles[0]]
    budget.spend(main.length)
    pickled = content.read(*main.place)
    check_sum(main, memoryview(pickled))
    file = io.BytesIO(pickled)
    result = Unpickler(file, main.length, reference_to(KnownStorages(storage)), budget).load()
    if file.tell() != main.length:
        raise refuse("there are bytes after the end of the pickle; the file is damaged")
    return check_depth(result)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names, such as "package.module.Class", that a file of torch.save's calls and load() would refuse: those that
    are neither on its list nor added by add_safe_globals(). `f` is a path or an open file. The pickle is only looked
    at. ValueError for another file.

    >>> torch.serialization.get_unsafe_globals_in_checkpoint(__file__)
    Traceback (most recent call last):
    ValueError: get_unsafe_globals_in_checkpoint: expected a file of PyTorch's torch.save, a zip file
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return get_unsafe_globals_in_checkpoint(file)
    content = FileBytes(f)
    if content.read(0, min(content.size, 4)) != LOCAL:
        raise ValueError("get_unsafe_globals_in_checkpoint: expected a file of PyTorch's torch.save, a zip file")
    members = members_of(content, MemoryBudget(content.size))
    pickled = next((member for name, member in members.items() if name.endswith("/data.pkl")), None)
    if pickled is None or any(name.endswith("/constants.pkl") for name in members):
        raise ValueError("get_unsafe_globals_in_checkpoint: expected a checkpoint of torch.save, got another zip file")
    return sorted({".".join(name) for name in names_in(content.read(*pickled.place)) if not is_allowed(*name)})


def _is_big_endian(content: FileBytes, order: Member | None) -> bool:
    if order is None:
        return is_big_unless_said()
    name = content.read(order.start, min(order.length, 10))
    if name not in (b"little", b"big"):
        raise refuse(f"the file's bytes are in the order {name!r}; known are little and big")
    return name == b"big"


def _native(array: np.ndarray) -> np.ndarray:
    """The elements of an array whose bytes are turned around."""
    size = array.itemsize // 2 if FROM_NUMPY[array.dtype].is_complex else array.itemsize
    return array.view(f"u{size}").byteswap().view(array.dtype)


# ------------------------------------------------------------------------------------------------ before 1.6


def read_legacy(content: FileBytes, budget: MemoryBudget) -> Any:
    """What torch.save wrote before PyTorch 1.6: magic number, version, system, the object, keys, storages."""
    file = content.file
    file.seek(content.start)
    end = content.start + content.size
    room = content.size  # for storages that the pickle speaks of: their bytes come after it

    def no_storage(element: dtype, key: str, elements: int) -> ReadStorage:
        raise refuse("a storage where none can be; the file is damaged")

    def storage(element: dtype, key: str, elements: int) -> ReadStorage:
        nonlocal room
        room -= elements * element.itemsize
        if room < 0:
            raise refuse(f"storages of more bytes than the file has; {key[:100]!r} is one of {elements} x {element}")
        budget.spend(elements * element.itemsize)
        return ReadStorage(np.empty(elements, element.numpy), element)

    def read(lookup: StorageLookup) -> Any:
        return Unpickler(file, end - file.tell(), reference_to(lookup), budget).load()

    if read(no_storage) != LEGACY_MAGIC or read(no_storage) != LEGACY_PROTOCOL:
        raise refuse("this file was not written by torch.save")
    system = read(no_storage)
    if type(system) is not dict:
        raise refuse("the file does not say on what system it was written; it is damaged")
    known = KnownStorages(storage)
    result = check_depth(read(known))
    keys = read(no_storage)
    if type(keys) is not list or not all(type(key) is str for key in keys) or sorted(keys) != sorted(known.storages):
        raise refuse("the file's storages are not those that its tensors refer to; it is damaged")
    for key in keys:
        _fill_storage(content, known.storages[key])
    return result


def _fill_storage(content: FileBytes, storage: ReadStorage) -> None:
    """Reads the elements of a storage, which come after their number."""
    buffer = storage.buffer
    assert buffer is not None
    count = bytearray(8)
    fill(content.file, memoryview(count))
    if int.from_bytes(count, "little") != buffer.size:
        raise refuse(f"a storage of {buffer.size} elements has {int.from_bytes(count, 'little')}; the file is damaged")
    fill(content.file, memoryview(buffer.view(np.uint8)))  # type: ignore[arg-type]
    check_elements(buffer)
