"""Runs a script as Python would, with `torch` standing for this package.

The script is the module `__main__`; it sees its own `sys.argv`, `__file__` and folder on `sys.path`; its tracebacks
begin with its own first line, and a name that is missing here is followed by advice:

    Traceback (most recent call last):
      File "train.py", line 3, in <module>
        torch.einsun("ij->j", x)
    AttributeError: module 'minitorch_compile' has no attribute 'einsun'
    torch.einsun: minitorch_compile, which stands in for torch here, has no such name. Nearest: einsum.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import minitorch_compile
from minitorch_compile.as_torch.import_hook import PACKAGE, install

# Tells the processes that a script spawns (spawned.py) which script it was.
SCRIPT_VARIABLE = "MTC_AS_TORCH_SCRIPT"


def run_script(path: str, arguments: list[str]) -> int:
    """Runs the file as the main program; its exit status. An error it raises is shown, and is status 1."""
    script = ModuleType("__main__")
    script.__file__ = path
    # What multiprocessing imports in place of the script in processes that it spawns: there, too, torch must be found.
    script.__spec__ = ModuleSpec(f"{PACKAGE}.as_torch.spawned", None, origin=path)
    sys.modules["__main__"] = script
    sys.argv = [path, *arguments]
    sys.path[:1] = [str(Path(path).resolve().parent)]
    os.environ[SCRIPT_VARIABLE] = str(Path(path).resolve())
    try:
        execute(path, script.__dict__)
    except Exception as error:  # noqa: BLE001  whatever the script raises is shown as Python shows it
        explain_missing_name(error)
        sys.excepthook(type(error), error.with_traceback(frames_of_script(error.__traceback__)), error.__traceback__)
        return 1
    return 0


def execute(path: str, namespace: dict[str, Any]) -> None:
    """Runs the file in a module's namespace, with torch installed."""
    install()
    exec(compile(Path(path).read_bytes(), path, "exec"), namespace)


def frames_of_script(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this file, where it begins."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    return traceback


def explain_missing_name(error: Exception) -> None:
    """Adds a note to an AttributeError or ImportError about a name that PyTorch may have and this package lacks."""
    owner, name = asked_for(error)
    if not is_ours(owner):
        return
    place = owner.__name__ if isinstance(owner, ModuleType) else f"{PACKAGE}.{type(owner).__name__}"
    nearest = difflib.get_close_matches(name, dir(owner), 3)
    error.add_note(
        f"{place.replace(PACKAGE, 'torch', 1)}.{name}: {PACKAGE}, which stands in for torch here, has no such name."
        + (f" Nearest: {', '.join(nearest)}." if nearest else "")
    )


def asked_for(error: Exception) -> tuple[object, str]:
    """The object and the name that were not to be had: `owner.name` or `from owner import name`."""
    if isinstance(error, AttributeError):
        return error.obj, error.name or ""
    match = re.match(r"cannot import name '(\w+)'", str(error))
    if isinstance(error, ImportError) and match:
        return sys.modules.get(error.name or ""), match[1]
    return None, ""


def is_ours(owner: object) -> bool:
    """Whether this is a module of this package, or a tensor."""
    if isinstance(owner, ModuleType):
        return owner.__name__.partition(".")[0] == PACKAGE
    return isinstance(owner, minitorch_compile.Tensor)
