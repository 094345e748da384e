"""The slot for the tape: what autograd registers, which this floor can't import.

>>> import minitorch_compile as torch
>>> registered_tape()
<minitorch_compile.autograd.tape.RecordingTape object at ...>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op


class Tape(Protocol):
    """What autograd registers: it records a call whose arguments require grad, and runs it with `below_tape`. What the
    body of a composite op has recorded may be shown as one node, `stand_before`.

    The other methods are what Tensor's methods of the same names do; this floor can't import the one above.
    """

    def record(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def stand_before(self, name: str, results: Sequence[Any], arguments: Iterable[Any]) -> None: ...

    def backward(
        self, tensor: Any, gradient: Any, retain_graph: bool | None, create_graph: bool, inputs: Any
    ) -> None: ...

    def register_hook(self, tensor: Any, hook: Callable[[Any], Any]) -> Any: ...

    def retain_grad(self, tensor: Any) -> None: ...

    def register_post_accumulate_grad_hook(self, tensor: Any, hook: Callable[[Any], None]) -> Any: ...


slot: list[Tape] = []  # empty until the autograd floor is imported


def register_tape(tape: Tape) -> None:
    """Installs the tape, once, when the autograd floor is imported."""
    slot[:] = [tape]


def registered_tape() -> Tape:
    """The tape. RuntimeError before the autograd floor was imported, which `import minitorch_compile` does."""
    if not slot:
        raise RuntimeError("backward: the autograd floor is not loaded; import minitorch_compile first")
    return slot[0]
