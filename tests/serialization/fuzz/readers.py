"""The table of readers: what each reads, whole files to begin with, how it is damaged, and its one error.

>>> sorted(READERS)
['kernel cache', 'legacy', 'names', 'notebooks', 'safetensors', 'times', 'zip']
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.course.grading.grade import code_cells
from minitorch_compile.inductor.runtime import object_store
from minitorch_compile.inductor.tuning import autotune_cache
from minitorch_compile.serialization import UnreadableFileError, get_unsafe_globals_in_checkpoint
from tests.serialization.fuzz.mutations import damaged
from tests.serialization.fuzz.structured import (
    damaged_json,
    damaged_legacy,
    damaged_safetensors,
    damaged_zip,
)

WRITTEN = Path(__file__).resolve().parent.parent / "written_by_torch"


@dataclass(frozen=True)
class Reader:
    """One kind of file. `read` takes its bytes; `error` is what it may raise, and no other."""

    whole: Callable[[], list[bytes]]
    read: Callable[[bytes], Any]
    damage: Callable[[bytes, Random], bytes]
    error: type[BaseException] | tuple[type[BaseException], ...]


def file_of(reader: Reader, whole: list[bytes], random: Random) -> bytes:
    """A file at random: half of them damaged in their bytes, half in what they say."""
    data = random.choice(whole)
    return (damaged if random.random() < 0.4 else reader.damage)(data, random)


def load(data: bytes) -> Any:
    return torch.load(io.BytesIO(data))


def names(data: bytes) -> list[str]:
    """The names that a file calls. One that is no zip file of PyTorch's is a ValueError."""
    return get_unsafe_globals_in_checkpoint(io.BytesIO(data))


def recorded(legacy: bool) -> list[bytes]:
    """What PyTorch wrote."""
    return [path.read_bytes() for path in sorted(WRITTEN.glob("*.pt")) if path.stem.endswith("legacy") == legacy]


def our_files() -> list[bytes]:
    """Files as save() writes them, and plain safetensors files."""
    x = torch.arange(12.0).view(3, 4)
    state = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).state_dict()
    shared = [1, {2}]
    values: list[Any] = [
        state,
        {"a": [x, x[0:1], x.t()], "b": nn.Parameter(x[1]), "c": x.view(torch.int32), "d": nn.Buffer(x)},
        [shared, shared, (1, 2.5, None, True), OrderedDict(a=1), np.arange(3), np.float32(2), 1j, b"ab", 2**70],
        {"w": torch.rand(1, 2, 3, 3).to(memory_format=torch.channels_last), "m": torch.empty(2, device="meta")},
        [
            torch.Size([1]),
            torch.float16,
            slice(1, 2),
            Path("a"),
            torch.tensor([True, False]),
            frozenset({1}),
            np.array("é"),
        ],
    ]
    files = []
    for value in values:
        file = io.BytesIO()
        torch.save(value, file)
        files.append(file.getvalue())
    plain = {"a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}}
    plain["b"] = {"dtype": "BOOL", "shape": [], "data_offsets": [8, 9]}
    text = json.dumps(plain).encode()
    return [*files, len(text).to_bytes(8, "little") + text + bytes(8) + b"\1"]


def notebook() -> bytes:
    """A notebook with a few cells."""
    code = {"cell_type": "code", "source": ["def f(x):\n", "    return x"], "outputs": [], "metadata": {}}
    text = {"cell_type": "markdown", "source": "# Title", "metadata": {}}
    return json.dumps({"cells": [text, code, code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


_folder = tempfile.TemporaryDirectory(prefix="fuzz-")


def read_notebook(data: bytes) -> list[str]:
    path = Path(_folder.name) / "lesson.ipynb"
    path.write_bytes(data)
    return code_cells(path)


def entry() -> bytes:
    """A kernel as it lies on disk."""
    return object_store.pack("0123", "symbol", b"\x7fELF machine code")


def read_entry(data: bytes) -> Any:
    """The name and the machine code, or None: damage is no error, the kernel is compiled again."""
    return object_store.unpack("0123", data)


def damaged_entry(data: bytes, random: Random) -> bytes:
    """A kernel of which something was changed before its hash was computed."""
    body = damaged(data.partition(b"\n")[2], random)
    return object_store.MARK + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def times() -> bytes:
    """What timing found out, as it lies on disk."""
    return autotune_cache.pack({"bus": 31e-6, "tram": 25e-6})


def damaged_times(data: bytes, random: Random) -> bytes:
    """Times of which something was changed before their hash was computed."""
    text = damaged_json(data.partition(b"\n")[2], random)
    return autotune_cache.MARK.encode() + hashlib.sha256(text).hexdigest().encode() + b"\n" + text


READERS = {
    "zip": Reader(lambda: recorded(False), load, damaged_zip, UnreadableFileError),
    "names": Reader(lambda: recorded(False), names, damaged_zip, (UnreadableFileError, ValueError)),
    "legacy": Reader(lambda: recorded(True), load, damaged_legacy, UnreadableFileError),
    "safetensors": Reader(our_files, load, damaged_safetensors, UnreadableFileError),
    "kernel cache": Reader(lambda: [entry()], read_entry, damaged_entry, ()),
    "times": Reader(lambda: [times()], lambda data: autotune_cache.unpack(data, ["bus", "tram"]), damaged_times, ()),
    "notebooks": Reader(lambda: [notebook()], read_notebook, damaged_json, ValueError),
}
