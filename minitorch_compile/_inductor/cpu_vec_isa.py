"""`torch._inductor.cpu_vec_isa`: the processor that kernels are compiled for.

>>> from minitorch_compile.inductor.machine import current
>>> str(pick_vec_isa()) == str(current())
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minitorch_compile.inductor.machine import Machine


def pick_vec_isa() -> Machine:
    """The processor, with its vectors; as a text, it names what code for it depends on."""
    from minitorch_compile.inductor.machine import current

    return current()
