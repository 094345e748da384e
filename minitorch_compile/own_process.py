"""Python processes that this one starts for itself: they run a module of this package, beside the user's program.

Such a process imports what this one would, and nothing else: `python -m` would look into the current folder first,
where somebody else may have left a `numpy.py`.

>>> import subprocess
>>> process = start_module("minitorch_compile.version", {}, stdout=subprocess.PIPE)
>>> process.wait()
0
>>> process.stdout.close()
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from minitorch_compile.environment_variables import without_wrong_values


def start_module(
    name: str, settings: Mapping[str, str], stdin: int = subprocess.DEVNULL, stdout: int = subprocess.DEVNULL
) -> subprocess.Popen[str]:
    """A process that runs the module of that name. OSError as for `start`, and where Python is inside of a program that
    knows of no interpreter."""
    if not sys.executable:
        raise FileNotFoundError("this program doesn't say where its Python interpreter is (sys.executable)")
    return start((sys.executable, "-m", name), settings, stdin, stdout)


def start(command: Sequence[str], settings: Mapping[str, str], stdin: int, stdout: int) -> subprocess.Popen[str]:
    """A process that imports what this one would. `settings`: what is different in its environment. OSError if none can
    be started: too many, or no current folder."""
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        cwd=os.path.abspath(os.sep),
        env={
            **without_wrong_values(),
            "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
            "MTC_LOGS": "",
            **settings,
        },
        start_new_session=True,  # an interrupt from the keyboard is for the process that was started by hand
    )
