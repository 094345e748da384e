"""Damage that knows the formats: what is around it stays right, so that it is found deep inside, or not at all.

>>> zipped({"archive/data.pkl": b"."})[:4]
b'PK\\x03\\x04'
"""

from __future__ import annotations

import io
import json
import pickletools
import struct
import zipfile
from random import Random

from tests.serialization.fuzz.mutations import EXTREMES, STRANGE, damaged, damaged_tree

STRUCTURE = "minitorch_compile.structure"
NAMES = (
    *("torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter", "torch._utils _rebuild_tensor_v3"),
    *("torch FloatStorage", "torch LongStorage", "torch BoolStorage", "torch.storage UntypedStorage", "torch Size"),
    *("collections OrderedDict", "collections defaultdict", "collections Counter", "builtins set", "builtins list"),
    *(
        "builtins bytearray",
        "builtins complex",
        "builtins frozenset",
        "builtins range",
        "builtins getattr",
        "os system",
    ),
    *("torch float32", "torch device", "_codecs encode", "torch Tensor", "torch._tensor _rebuild_from_type_v2"),
    *("torch._utils _rebuild_meta_tensor_no_storage", "torch._utils _rebuild_parameter_with_state", "torch bool"),
)
STRINGS = (b"storage", b"0", b"1", b"cpu", b"sizes", b"storage_offset", b"_metadata", b"__class__", b"items", b"")


def zipped(members: dict[str, bytes], random: Random | None = None) -> bytes:
    """A zip file; with `random`, one whose members may be compressed, or there twice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            packed = random is not None and random.random() < 0.02
            archive.writestr(name, data, zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED)
    return file.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def damaged_zip(data: bytes, random: Random) -> bytes:
    """A zip file of PyTorch's, one of whose members is damaged, renamed or missing."""
    members = unzipped(data)
    name = next(name for name in members if name.endswith("data.pkl"))
    match random.randrange(8):
        case 0:
            chosen = random.choice(list(members))
            members[chosen] = damaged(members[chosen], random)
        case 1:
            members.pop(random.choice(list(members)))
        case 2:
            members[name] = random_pickle(random)
        case 3:
            chosen, other = random.choice(list(members)), random.choice(list(members))
            members[chosen] = members[other]
        case _:
            members[name] = damaged_pickle(members[name], random)
    return zipped(members, random)


def damaged_legacy(data: bytes, random: Random) -> bytes:
    """A file of several pickles, one of which is damaged."""
    file = io.BytesIO(data)
    pickles = []
    for _ in range(5):
        start = file.tell()
        for _ in pickletools.genops(file):
            pass
        pickles.append(data[start : file.tell()])
    at = random.choice((3, 3, 3, 4, 2))
    pickles[at] = random_pickle(random) if random.random() < 0.2 else damaged_pickle(pickles[at], random)
    rest = file.read()
    return b"".join(pickles) + (damaged(rest, random) if random.random() < 0.3 else rest)


def instructions(pickled: bytes) -> list[bytes]:
    """The instructions of a pickle; one piece if it is none."""
    try:
        starts = [position for _, _, position in pickletools.genops(pickled)]
    except Exception:  # pickletools says that a pickle is damaged in many ways
        return [pickled]
    return [pickled[a:b] for a, b in zip(starts, [*starts[1:], len(pickled)], strict=True)]


def damaged_pickle(pickled: bytes, random: Random) -> bytes:
    """A pickle with instructions removed, repeated, exchanged, put in or damaged."""
    steps = instructions(pickled)
    for _ in range(random.choice((1, 1, 2, 4))):
        at = random.randrange(len(steps))
        match random.randrange(6):
            case 0:
                steps[at] = damaged(steps[at], random)
            case 1:
                steps[at] = random_instruction(random)
            case 2:
                steps.insert(at, random_instruction(random))
            case 3:
                steps.insert(at, random.choice(steps))
            case 4:
                steps[at] = random.choice(steps)
            case 5 if len(steps) > 1:
                del steps[at]
    return b"".join(steps)


def random_pickle(random: Random) -> bytes:
    """Instructions at random, as likely as not in an order that could mean something."""
    steps = [random_instruction(random) for _ in range(random.choice((3, 10, 40, 200)))]
    return b"\x80\x02" + b"".join(steps) + b"."


def random_instruction(random: Random) -> bytes:
    """One instruction with its operand."""
    small, number = random.randrange(8), random.choice(EXTREMES)
    choices = (
        lambda: b"c" + random.choice(NAMES).replace(" ", "\n").encode() + b"\n",
        lambda: b"c" + random.choice(NAMES).replace(" ", "\n").encode() + b"\n",
        lambda: bytes([random.choice(b"()]}\x8f0N\x88\x89t\x85\x86\x87eausRb\x81\x93Q\x90\x91\x942dlo1iI")]),
        lambda: bytes([random.choice(b"()]}\x85\x86\x87eausRbQ")]),
        lambda: b"K" + bytes([small]),
        lambda: b"J" + struct.pack("<I", number & 0xFFFFFFFF),
        lambda: b"\x8a\x09" + struct.pack("<q", number - 2**63 if number >= 2**63 else number) + b"\0",
        lambda: b"q" + bytes([small]),
        lambda: b"h" + bytes([small]),
        lambda: b"r" + struct.pack("<I", number & 0xFFFFFFFF),
        lambda: b"X" + struct.pack("<I", len(text := random.choice(STRINGS))) + text,
        lambda: b"B" + struct.pack("<I", number & 0xFFFFFFFF) + b"ab",
        lambda: b"G" + random.randbytes(8),
        lambda: bytes([random.randrange(256)]) + random.randbytes(random.randrange(3)),
    )
    return random.choice(choices)()


def damaged_safetensors(data: bytes, random: Random) -> bytes:
    """A safetensors file whose header, or the structure in it, says something else, in proper JSON."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    metadata = header.get("__metadata__", {})
    if STRUCTURE in metadata and random.random() < 0.6:
        metadata[STRUCTURE] = json.dumps(damaged_tree(json.loads(metadata[STRUCTURE]), random))
    else:
        header = damaged_tree(header, random)
    text = json.dumps(header)
    if random.random() < 0.1:
        text = text.replace("}", f', "dtype": {json.dumps(random.choice(STRANGE))}}}', 1)
    raw = text.encode()
    return len(raw).to_bytes(8, "little") + raw + data[8 + length :]


def damaged_json(data: bytes, random: Random) -> bytes:
    """Proper JSON that says something else."""
    return json.dumps(damaged_tree(json.loads(data), random)).encode()
