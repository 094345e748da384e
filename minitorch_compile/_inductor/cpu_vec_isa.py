"""`torch._inductor.cpu_vec_isa`: the processor that kernels are compiled for.

>>> str(pick_vec_isa()) == str(current())
True
"""

from __future__ import annotations

from minitorch_compile.inductor.machine import Machine, current


def pick_vec_isa() -> Machine:
    """The processor, with its vectors; as a text, it names what code for it depends on."""
    return current()
