"""`torch.compiler.reset()`: forget everything compiled, from guards down to generated files.

What lies on disk stays (`compiler.cache` clears that), so the next call compiles again but makes no machine code.

>>> import minitorch_compile as torch
>>> from minitorch_compile.inductor.runtime import code_cache
>>> double = torch.compile(lambda x: x + x)
>>> _ = double(torch.ones(3))
>>> code_cache.loaded() > 0
True
>>> reset()
>>> code_cache.loaded()
0
"""

from __future__ import annotations

import sys

from minitorch_compile import dynamo


def reset() -> None:
    """Forgets what was compiled, in all regions, and the generated files that this process has loaded."""
    dynamo.reset()
    forget_generated_files()


def forget_generated_files() -> None:
    """Forgets the generated files alone. Without any, their floor is not imported for it."""
    if "minitorch_compile.inductor" in sys.modules:
        from minitorch_compile.inductor.runtime import code_cache

        code_cache.forget()
