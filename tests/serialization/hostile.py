"""Pickles written by hand, in files around which everything is right."""

import io
import struct
import zipfile
from typing import Any

from minitorch_compile.serialization import load


def name(full: str) -> bytes:
    """GLOBAL: a name, as "module.name"."""
    module, _, last = full.rpartition(".")
    return f"c{module}\n{last}\n".encode()


def text(value: str) -> bytes:
    """BINUNICODE."""
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def number(value: int) -> bytes:
    """LONG1."""
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def numbers(*values: int) -> bytes:
    """A tuple of numbers."""
    return b"(" + b"".join(map(number, values)) + b"t"


def storage(kind: str = "torch.FloatStorage", key: str = "0", elements: int = 6) -> bytes:
    """A reference to a storage."""
    return b"(" + text("storage") + name(kind) + text(key) + text("cpu") + number(elements) + b"tQ"


def call(function: str, *arguments: bytes) -> bytes:
    """REDUCE."""
    return name(function) + b"(" + b"".join(arguments) + b"tR"


def tensor(offset: bytes, sizes: bytes, strides: bytes, stored: bytes = storage(), grad: bytes = b"\x89") -> bytes:
    """A tensor as PyTorch pickles it."""
    hooks = call("collections.OrderedDict")
    return call("torch._utils._rebuild_tensor_v2", stored, offset, sizes, strides, grad, hooks)


def archive(pickled: bytes, members: dict[str, bytes] | None = None) -> bytes:
    """A file of torch.save with that pickle, and with a storage of 24 bytes, 0."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + pickled + b".")
        for key, data in ({"data/0": bytes(24)} if members is None else members).items():
            archive.writestr(f"archive/{key}", data)
    return file.getvalue()


def loaded(pickled: bytes, members: dict[str, bytes] | None = None, **options: Any) -> Any:
    """What load() makes of it."""
    return load(io.BytesIO(archive(pickled, members)), **options)
