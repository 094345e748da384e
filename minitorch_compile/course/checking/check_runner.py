"""The process in which the learner's code is: it defines the answer, then does what the judge asks (`far/link.py`).

Forked by `apart.py`, with the ends of two pipes. It knows neither the checks nor the answers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

from ..far.link import Link
from ..mini.package import Package, imported
from .learners_line import defined_at, learner_line, learners_call
from .run_cells import run_cells

MODULE_NAME = "your_notebook"


class Runner(Link):
    """The learner's end of the conversation."""

    def __init__(self, reading: int, writing: int) -> None:
        def tell(error: BaseException) -> dict[str, str]:
            return {"line": learner_line(error), "call": learners_call(error)}

        super().__init__(os.fdopen(reading, "rb"), os.fdopen(writing, "wb"), trusted=True, tell=tell)
        self.stack = ExitStack()

    def _do_load(self, job: dict[str, Any]) -> Any:
        return self.stack.enter_context(loaded(job))

    def _do_where(self, function: Any) -> str:
        """The line on which a function of the learner's begins; empty for any other."""
        return defined_at(function)

    def _do_mini(self) -> Package:
        """What `mini` is to the checks of a program on it."""
        return Package()


@contextmanager
def loaded(job: dict[str, Any]) -> Iterator[Any]:
    """The answer: what the cells bind, or the package that the step is a part of."""
    with ExitStack() as stack:
        mini = stack.enter_context(imported(job["files"], job["owned"])) if "files" in job else None
        if "cells" not in job:
            getattr(mini, job["file"])  # what is wrong in the file itself is told before the cases
            yield mini
            return
        module = ModuleType(MODULE_NAME)
        run_cells(module, job["cells"])
        yield getattr(module, job["answer"])
