"""Where PyTorch keeps the parts of torch.utils.benchmark; what a Timer gives says that it is of `utils.common`.

>>> import importlib
>>> importlib.import_module("minitorch_compile.utils.benchmark.utils.common").select_unit(0.002)
('ms', 0.001)
"""

import sys

from minitorch_compile.utils.benchmark import measurement as common

sys.modules[f"{__name__}.common"] = common

__all__ = ["common"]
