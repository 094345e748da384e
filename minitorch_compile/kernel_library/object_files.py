"""Machine code in a file: how it is packed, and how it is loaded. LLVM's linker is all that it needs: no Numba.

A file is a line (a mark, the hash of the rest), a line with its key and the name of the function, and the object file
that LLVM made. Nothing is unpickled, and nothing is linked before its hash was found right.

>>> entry = pack("key", "symbol", b"machine code")
>>> unpack("key", entry)
('symbol', b'machine code')
>>> unpack("key", entry[:-1]), unpack("another", entry)
(None, None)
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from llvmlite import binding as llvm

from minitorch_compile import logs
from minitorch_compile.folder_trust import is_ours

MARK = b"minitorch_compile object 2 "
USED_ANEW = 3600.0  # seconds after which another use of a file is noted
# No links; and no waiting for a pipe. (Windows has neither, but tells texts from bytes.)
READ_FLAGS = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))

used_files: set[Path] = set()  # what this process has read or written

log = logs.artifact("cache")


def read_own(path: Path) -> bytes | None:
    """The bytes of a file that this user wrote; None if there is none, or only a link or somebody else's file."""
    try:
        descriptor = os.open(path, READ_FLAGS)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or not is_ours(status):
        os.close(descriptor)
        log(f"{path} could have been written by another user: not read")
        return None
    with open(descriptor, "rb") as file:
        contents = file.read()
    used_files.add(path)
    if time.time() - status.st_mtime > USED_ANEW:
        with suppress(OSError):
            os.utime(path)
    return contents


def pack(key: str, symbol: str, code: bytes) -> bytes:
    body = f"{key} {symbol}\n".encode() + code
    return MARK + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpack(key: str, entry: bytes) -> tuple[str, bytes] | None:
    """The name of the function and its object file; None for an entry that isn't whole or has another key."""
    head, _, body = entry.partition(b"\n")
    if head != MARK + hashlib.sha256(body).hexdigest().encode():
        return None
    line, _, code = body.partition(b"\n")
    kept_as, _, symbol = line.decode(errors="replace").partition(" ")
    return (symbol, code) if kept_as == key else None


_engines: list[llvm.ExecutionEngine] = []  # they live as long as the process, as what they have linked may run


def link(symbol: str, code: bytes, own_memory: bool | None = None) -> int:
    """Loads an object file into this process; the address of one of its functions. `own_memory`: llvmlite's allocator
    is used, not LLVM's; None: as suits the machine. RuntimeError if there is no such function.

    Object files must not meet in one engine: Numba numbers the functions that a process compiles, so two processes may
    have given one name to two functions, and the second would silently be taken for the first.
    """
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine, use_lmm=own_memory)
    _engines.append(engine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address: int = engine.get_function_address(symbol)
    if not address:
        raise RuntimeError(f"object_files: no function {symbol!r} in the object file")
    return address
