"""itertools, functools.reduce and others that have a form in Python in `polyfills.py`, which is traced.

>>> import itertools
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: [x * k for k in itertools.chain.from_iterable([[1, 2], [3]])], ones(2)))
x -> (x * 1, x * 2, x * 3)
"""

from __future__ import annotations

import collections
import functools
import itertools
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.functions import polyfills

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

IN_PYTHON: dict[Any, Any] = {
    functools.reduce: polyfills.reduce,
    itertools.accumulate: polyfills.accumulate,
    itertools.chain: polyfills.chain,
    itertools.combinations: polyfills.combinations,
    itertools.combinations_with_replacement: polyfills.combinations_with_replacement,
    itertools.compress: polyfills.compress,
    itertools.count: polyfills.count,
    itertools.cycle: polyfills.cycle,
    itertools.dropwhile: polyfills.dropwhile,
    itertools.filterfalse: polyfills.filterfalse,
    itertools.groupby: polyfills.groupby,
    itertools.islice: polyfills.islice,
    itertools.pairwise: polyfills.pairwise,
    itertools.permutations: polyfills.permutations,
    itertools.product: polyfills.product,
    itertools.repeat: polyfills.repeat,
    itertools.starmap: polyfills.starmap,
    itertools.takewhile: polyfills.takewhile,
    itertools.tee: polyfills.tee,
    itertools.zip_longest: polyfills.zip_longest,
    getattr(collections, "_count_elements"): polyfills.count_elements,  # noqa: B009  what Counter.update calls; unknown to mypy
}
if hasattr(itertools, "batched"):  # from Python 3.12 on
    IN_PYTHON[itertools.batched] = polyfills.batched


def _replaced_by(function: Any) -> Any:
    def rule(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
        return tracer.call(tracer.polyfill(function), list(args), kwargs)

    return rule


for _function, _in_python in IN_PYTHON.items():
    handles(_function)(_replaced_by(_in_python))
