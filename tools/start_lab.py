"""Hands out the exercises and opens JupyterLab on lesson 00.

make lab
.venv/bin/python tools/start_lab.py --port=9000      # any further option goes to JupyterLab
"""

import os
import sys
from pathlib import Path

from hand_out import hand_out, protect
from trust import notary_option, trust

from minitorch_compile.compiler.eager_kernels_cpu import write_if_missing

ROOT = Path(__file__).resolve().parent.parent
SIGNATURES = Path(sys.prefix) / "share" / "minitorch_compile"
STYLE = ROOT / "tools" / "lab_style"
FIRST_LESSON = "notebooks/00_tour.ipynb"


def has_display() -> bool:
    """Whether a browser could show itself: always on a Mac, on Linux where there is X or Wayland."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def lab_command(options: list[str]) -> list[str]:
    """JupyterLab under this very Python. Without a display it prints the address instead of opening a browser."""
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}", "--log-level=WARN"]
    command.append(f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}")  # so that the printed address holds it, too
    command.append("--LabApp.extension_manager=readonly")  # the other one asks a package index
    command.append("--KernelManager.transport_encryption=auto")  # else every kernel prints a warning
    command.append(notary_option(SIGNATURES))
    command.append("--LabApp.custom_css=True")  # so that pictures fit narrow windows
    command.append(f"--ServerApp.tornado_settings=static_custom_path={STYLE}")
    if not has_display():
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return command + options


def main() -> None:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return
    os.chdir(ROOT)
    for folder in ("notebooks", "exercises", "solutions"):
        protect(ROOT / folder)
    for line in hand_out(ROOT / "exercises", ROOT / "work"):
        print(line)
    trust(sorted(ROOT.glob("notebooks/*.ipynb")), SIGNATURES)  # the others have no outputs
    write_if_missing()  # in the background, for notebooks to find
    print(f"JupyterLab opens on {FIRST_LESSON}; your exercises are in work/. Ctrl-C twice ends it.", flush=True)
    scripts = str(Path(sys.executable).parent)
    environment = dict(os.environ, PATH=scripts + os.pathsep + os.environ.get("PATH", ""))  # for `!python` in a cell
    os.execve(sys.executable, lab_command(sys.argv[1:]), environment)


if __name__ == "__main__":
    main()
