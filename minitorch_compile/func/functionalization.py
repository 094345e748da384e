"""functionalize: a function without in-place operations, as those see it that look on.

>>> from minitorch_compile.tensor import ones
>>> functionalize(lambda x: (x * 2).add_(1))(ones(2))
tensor([3., 3.])

Run, it gives what the function gives, also in the arguments that it writes to. Which operations do it is seen by who
traces: and every tracer here functionalizes what it traces (`aot/functionalize.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.func.named_after import named_after

KINDS = ("mutations", "mutations_and_views")


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function, in which `remove`, "mutations" or "mutations_and_views", are written in other operations.

    RuntimeError for another word.
    """
    if remove not in KINDS:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:"
            " 'mutations' or 'mutations_and_views'"
        )

    @named_after(func)
    def functionalized(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return functionalized
