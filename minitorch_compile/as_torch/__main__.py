"""`python -m minitorch_compile.as_torch script.py [arguments]`, or `-m module`: a PyTorch program on this package.

>>> main([])
2
"""

import sys
from pathlib import Path

from minitorch_compile.as_torch.run_script import run_module, run_script

USAGE = "usage: python -m minitorch_compile.as_torch (script.py | -m module) [arguments of the program]"


def main(arguments: list[str]) -> int:
    """Runs the program named first with the other arguments; returns its exit status, or 2 if there is no program."""
    if arguments[:1] == ["-m"] and len(arguments) > 1:
        return run_module(arguments[1], arguments[2:])
    if not arguments or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 0 if arguments[:1] in (["-h"], ["--help"]) else 2
    if not Path(arguments[0]).is_file():
        print(f"as_torch: there is no file {arguments[0]!r}; {USAGE}", file=sys.stderr)
        return 2
    return run_script(arguments[0], arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
