"""Runs a script or a module as Python would, with `torch` standing for this package.

The script is the module `__main__`; it sees its own `sys.argv`, `__file__` and folder on `sys.path`; its tracebacks
begin with its own first line, and a name that is missing here is followed by advice:

    Traceback (most recent call last):
      File "train.py", line 3, in <module>
        torch.einsun("ij->j", x)
    AttributeError: module 'torch' has no attribute 'einsun'
    torch.einsun: minitorch_compile, which stands in for torch here, has no such name. Nearest: einsum.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import minitorch_compile
from minitorch_compile.as_torch.import_hook import PACKAGE, install

# Tell the processes that a program spawns (spawned.py) which file it was, and in which package.
PATH_VARIABLE, PACKAGE_VARIABLE = "MTC_AS_TORCH_PATH", "MTC_AS_TORCH_PACKAGE"


def run_script(path: str, arguments: list[str]) -> int:
    """Runs a file as the main program; its exit status. An error it raises is shown, and is status 1."""
    sys.path[:1] = [str(Path(path).resolve().parent)]
    return run(os.path.abspath(path), None, [path, *arguments])


def run_module(name: str, arguments: list[str]) -> int:
    """Runs a module as the main program, as `python -m` does; of a package, its `__main__`. Returns its exit status.

    ModuleNotFoundError if there is no such module.
    """
    sys.path[:1] = [os.getcwd()]
    install()  # the packages around the module are imported to find it
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None or spec.origin is None or not spec.has_location:
        raise ModuleNotFoundError(f"No module named {name!r} that could be run", name=name)
    return run(spec.origin, spec.parent, [spec.origin, *arguments])


def run(path: str, package: str | None, argv: list[str]) -> int:
    """Runs a file as `__main__`, a module of `package` if it belongs to one."""
    main = ModuleType("__main__")
    main.__file__ = path
    # What multiprocessing imports in place of the program in processes that it spawns: there, too, torch must be found.
    main.__spec__ = ModuleSpec(f"{PACKAGE}.as_torch.spawned", None, origin=path)
    sys.modules["__main__"] = main
    sys.argv = argv
    os.environ |= {PATH_VARIABLE: path, PACKAGE_VARIABLE: package or ""}
    try:
        execute(path, package, main.__dict__)
    except Exception as error:  # noqa: BLE001  whatever the program raises is shown as Python shows it
        explain_missing_name(error)
        sys.excepthook(type(error), error.with_traceback(frames_of_script(error.__traceback__)), error.__traceback__)
        return 1
    return 0


def execute(path: str, package: str | None, namespace: dict[str, Any]) -> None:
    """Runs the file in a module's namespace, with torch installed."""
    install()
    namespace["__package__"] = package or None
    # Not with this file's `from __future__ import annotations`.
    exec(compile(Path(path).read_bytes(), path, "exec", dont_inherit=True), namespace)


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
        return owner.__name__.partition(".")[0] in (PACKAGE, "torch")
    return isinstance(owner, minitorch_compile.Tensor)
