"""get_ctx: what a fake implementation may ask for a size that only the data decides.

>>> get_ctx().new_dynamic_size()
Traceback (most recent call last):
minitorch_compile.tensor.tensor_base.FakeDataError: new_dynamic_size: a size that depends on the data ...
"""

from __future__ import annotations

from typing import Any, NoReturn

from minitorch_compile.tensor.tensor_base import FakeDataError


class FakeImplCtx:
    """What `get_ctx` gives."""

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> NoReturn:
        """FakeDataError: graphs here have no sizes that the data decide, so they break at such an op."""
        raise FakeDataError("new_dynamic_size: a size that depends on the data can't be in a graph; it breaks there")

    def create_unbacked_symint(self, *, min: int = 0, max: int | None = None) -> NoReturn:
        """new_dynamic_size, by its name before PyTorch 2.1."""
        self.new_dynamic_size(min=min, max=max)


def get_ctx() -> Any:
    """The context of the fake implementation that runs."""
    return FakeImplCtx()
