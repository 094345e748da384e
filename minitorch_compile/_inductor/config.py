"""`torch._inductor.config`: PyTorch's names for options of the kernel generator.

>>> from minitorch_compile._inductor import config
>>> with config.patch({"triton.cudagraphs": True}, max_autotune=True):
...     config.triton.cudagraphs, config.max_autotune
(True, True)
>>> config.triton.cudagraphs, config.shape_padding
(False, True)
>>> config.max_autotun = True
Traceback (most recent call last):
AttributeError: torch._inductor.config.max_autotun does not exist. Did you mean 'max_autotune'?

They hold for what is compiled from then on, where compile(options=...) says nothing else. Most have no counterpart
(`compiler/pytorch_options.py`), and keep what they are given.
"""

from __future__ import annotations

import sys
from functools import partial

from minitorch_compile import config as here
from minitorch_compile.compiler.pytorch_options import NEVER, OTHER_NAMES, theirs
from minitorch_compile.kernel_options import OPTIONS, defaults, set_default
from minitorch_compile.option_names import OptionModule, OptionNames, Place

IN_CONFIG = sorted(theirs().keys() & here.options().keys() - {"disabled_passes"})  # a text there


def _generators(name: str) -> Place:
    """The place of an option of the kernel generator's."""
    return Place(lambda: getattr(defaults(), name), partial(set_default, name))


option_names = OptionNames(
    "torch._inductor.config",
    {name: Place.in_config(name) for name in IN_CONFIG}
    | {name: _generators(OTHER_NAMES.get(name, name)) for name in theirs() if OTHER_NAMES.get(name, name) in OPTIONS},
    dict.fromkeys(NEVER, False),
    theirs(),
)
patch = option_names.patch
get_config_copy = shallow_copy_dict = to_dict = option_names.copy
sys.modules[__name__].__class__ = OptionModule  # Python's documented way to customise attribute access of a module
