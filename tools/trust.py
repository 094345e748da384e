"""Trusts the course's notebooks, so that JupyterLab shows their pictures as they are before anything was run.

JupyterLab trusts a notebook whose signature it finds in its own list, for which whoever ran or signed it had the key.
Ours lie inside the environment, beside the packages: other notebooks of this user are none of our business.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary


def notary_option(folder: Path) -> str:
    """The option that makes JupyterLab look for signatures in `folder`."""
    return f"--NotebookNotary.data_dir={folder}"


def trust(notebooks: Iterable[Path], folder: Path) -> int:
    """Signs notebooks; how many were not signed before. A note says so if there is no place for signatures.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     nbformat.write(nbformat.v4.new_notebook(), path := Path(name) / "a.ipynb")
    ...     trust([path], Path(name)), trust([path], Path(name))
    (1, 0)
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        notary, signed = NotebookNotary(data_dir=str(folder)), 0
        for path in notebooks:
            notebook = nbformat.read(path, as_version=4)
            if not notary.check_signature(notebook):
                notary.sign(notebook)
                signed += 1
        notary.store.close()
    except (OSError, sqlite3.Error) as error:
        print(
            f"note: pictures of lessons that were not run are shown as PNG files: no signatures in {folder} ({error})"
        )
        return 0
    return signed
