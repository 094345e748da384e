"""Linux' Landlock: a process gives up files, ports and signals, for itself and all that it starts, for ever.

No privilege is needed, root is bound by it as well, and it holds in containers. Kernels from 5.13 on have it (most
distributions switch it on); what came later, the ports in 6.7 and signals in 6.12, is used where it is there. It also
keeps a process from looking into another's memory or open files that has not given up the same.

>>> version() >= 0
True
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

CREATE, ADD_RULE, RESTRICT = 444, 445, 446  # system calls, the same on all processors
VERSION_FLAG, PATH_BENEATH, NO_NEW_PRIVILEGES = 1, 1, 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many rights on files a version knows: their bits from 0 on
PORTS, SIGNALS_AND_SOCKETS = 0b11, 0b11  # bind and connect; abstract sockets and signals
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15  # what can be said of a file that is no folder


def version() -> int:
    """Of the kernel's Landlock; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(_call(CREATE, None, 0, VERSION_FLAG), 0)


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> int:
    """From now on only these can be read and run, and only these written to. OSError if the kernel refuses."""
    known = version()
    everything = (1 << RIGHTS.get(known, 16)) - 1
    ports, scope = PORTS if known >= 4 else 0, SIGNALS_AND_SOCKETS if known >= 6 else 0
    attributes = struct.pack("QQQ", everything, ports, scope)[: 24 if known >= 6 else 16 if known >= 4 else 8]
    rules = _checked(_call(CREATE, attributes, len(attributes), 0))
    try:
        for path in readable:
            _allow(rules, path, EXECUTE | READ_FILE | READ_DIR)
        for path in writable:
            _allow(rules, path, everything)
        _checked(ctypes.CDLL(None, use_errno=True).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(_call(RESTRICT, rules, 0))
    finally:
        os.close(rules)
    return known


def _allow(rules: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # it isn't there
        return
    try:
        rights &= ~0 if path.is_dir() else OF_FILES
        _checked(_call(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", rights, place), 0))
    finally:
        os.close(place)


def _call(*arguments: object) -> int:
    return ctypes.CDLL(None, use_errno=True).syscall(*arguments)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
