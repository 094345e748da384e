"""The compiled code that this process made or used, as bytes: for the cache of another machine, or of a later job.

    artifacts, info = torch.compiler.save_cache_artifacts()        # at the end of a warm-up
    torch.compiler.load_cache_artifacts(artifacts)                 # where the same program starts: it compiles nothing

The bytes are a line (a mark, the hash of the rest), a line with the names and sizes of the files of the cache folder,
and their contents. A file is named by all that its machine code depends on, so one that was made for another machine or
another version is never looked for.

>>> packed = pack({"ab/mtc_ab.py": b"x = 1"})
>>> unpack(packed), unpack(packed[:-1])
({'ab/mtc_ab.py': b'x = 1'}, None)

Source: PyTorch 2.13, `torch/compiler/_cache.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from minitorch_compile import logs

MARK = b"minitorch_compile artifacts 1 "
NAME = re.compile(r"[0-9a-f]{2}/mtc_[0-9a-z.]+")  # of a file in the cache folder; nothing else is ever written

log = logs.artifact("cache")


@dataclass
class CacheInfo:
    """Which entries were saved or loaded: the keys of each kind."""

    artifacts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @property
    def inductor_artifacts(self) -> list[str]:
        """Generated files, and the machine code of kernels."""
        return self.artifacts["inductor"]

    @property
    def autotune_artifacts(self) -> list[str]:
        """What was measured to choose between ways to compute something."""
        return self.artifacts["autotune"]

    def empty(self) -> bool:
        return not self.artifacts


def save_cache_artifacts() -> tuple[bytes, CacheInfo] | None:
    """The entries of the cache that this process made or used, and a list of them; None if it compiled nothing."""
    from minitorch_compile.inductor.runtime.cache_folder import cache_folder, read_own, used_files

    folder = cache_folder()
    files = {}
    for path in sorted(used_files):
        contents = read_own(path) if path.is_relative_to(folder) else None
        if contents is not None:
            files[path.relative_to(folder).as_posix()] = contents
    return (pack(files), _info(files)) if files else None


def load_cache_artifacts(serialized_artifacts: bytes) -> CacheInfo | None:
    """Puts entries that save_cache_artifacts() gave into the cache, where `compile` finds them; a list of them.

    None if the bytes are damaged, or not of that kind; nothing is written then. Entries hold machine code that will be
    run: load only what comes from where you trust.
    """
    from minitorch_compile.inductor.runtime.cache_folder import cache_folder, read_own, write_whole

    files = unpack(serialized_artifacts)
    if files is None:
        log("load_cache_artifacts: these bytes are damaged, or not what save_cache_artifacts() gave")
        return None
    for name, contents in files.items():
        if read_own(cache_folder() / name) != contents:
            write_whole(cache_folder() / name, contents)
    return _info(files)


def _info(files: dict[str, bytes]) -> CacheInfo:
    info = CacheInfo()
    for name in files:
        path = PurePosixPath(name)
        kind = "autotune" if path.suffix == ".times" else "inductor"
        info.artifacts[kind].append(path.name.removeprefix("mtc_"))
    return info


def pack(files: dict[str, bytes]) -> bytes:
    """Files, by their names, as one piece."""
    sizes = json.dumps([(name, len(contents)) for name, contents in files.items()])
    body = sizes.encode() + b"\n" + b"".join(files.values())
    return MARK + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(packed: bytes) -> dict[str, bytes] | None:
    """The files; None if the piece is not whole, or names anything that is no entry of a cache folder."""
    head, _, body = packed.partition(b"\n")
    if head != MARK + hashlib.sha256(body).hexdigest().encode():
        return None
    sizes, _, rest = body.partition(b"\n")
    files, start = {}, 0
    for name, size in json.loads(sizes):
        files[name] = rest[start : start + size]
        start += size
    return files if all(map(NAME.fullmatch, files)) else None
