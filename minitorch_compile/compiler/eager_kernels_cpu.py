"""Eager operations on the CPU run on kernels that were compiled beforehand: here the library of them is connected.

>>> from minitorch_compile.kernel_library.replaced import start_writing
>>> start_writing == [write_in_background]
True
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

from minitorch_compile import config, logs
from minitorch_compile.environment_variables import CACHE_DIR, COMPILE_THREADS, EAGER_KERNELS
from minitorch_compile.kernel_library import (  # noqa: F401 (which ops have kernels)
    activations,
    attention,
    batch_norms,
    borders,
    fused_channels,
    fused_elements,
    gathering_short_cuts,
    image_short_cuts,
    pooling_short_cuts,
    recurrent,
    replaced,
    short_cuts,
)
from minitorch_compile.own_process import start_module
from minitorch_compile.users_cache import cache_folder, is_lasting

ABANDONED = 600.0  # seconds after which whoever began to write a library must have been killed

log = logs.artifact("cache")


def write_in_background() -> None:
    """Starts a process that writes the library, for later processes to find; one at a time."""
    if not is_lasting() or not _is_ours_to_write():
        return
    settings = {CACHE_DIR.name: str(cache_folder()), COMPILE_THREADS.name: "1", EAGER_KERNELS.name: "off"}
    try:
        process = start_module("minitorch_compile.inductor.library_writer.write_library", settings)
        # Who waits for it, so that nothing is left of it once it has ended.
        threading.Thread(target=process.wait, name="minitorch_compile library", daemon=True).start()
    except (OSError, RuntimeError) as error:  # too many processes or threads, no interpreter, or this one is ending
        log(f"no process can be started that writes eager kernels: {error}")


def write_if_missing() -> None:
    """Starts it unless there is a library for this machine and this code, or none is wanted."""
    from minitorch_compile.kernel_library.library import library_path

    if config.eager_kernels == "on" and not library_path().exists():
        write_in_background()


def _is_ours_to_write() -> bool:
    """Whether no other process has begun to write the same library."""
    from minitorch_compile.kernel_library.library import library_path

    mark = library_path().with_suffix(".begun")
    with suppress(OSError):
        if time.time() - mark.stat().st_mtime > ABANDONED:
            mark.unlink()
    try:
        mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    return True


replaced.install()
replaced.start_writing[:] = [write_in_background]
