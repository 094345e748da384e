"""Batching rules: what each operation on one example is on a batch. The files fill the table of `rules.py`."""

from minitorch_compile.func.batching import (
    attention,
    images,
    indexing,
    inplace,
    pointwise,
    products,
    random,
    reductions,
    views,
)

__all__ = ["attention", "images", "indexing", "inplace", "pointwise", "products", "random", "reductions", "views"]
