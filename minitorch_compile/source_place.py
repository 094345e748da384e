"""How a place in the user's program is named: in comments of generated code, in graph breaks, in logs.

>>> source_place("/somewhere/project/train.py", 31)
'train.py:31'

A cell of a notebook is a file with a number for a name, in a folder of the kernel that ran it. The number says nothing
to a reader, and the folder is another one in each session:

>>> source_place("/tmp/ipykernel_4711/2793485275.py", 9)
'cell:9'

The folder is left out for a second reason: generated files are found again by their text, so the text must not depend
on where the program lies.
"""

from __future__ import annotations

import os


def source_place(filename: str, lineno: int) -> str:
    """File and line, without the folder."""
    folder, name = os.path.split(filename)
    if os.path.basename(folder).startswith("ipykernel_"):
        return f"cell:{lineno}"
    return f"{name}:{lineno}"
