"""`torch._logging.set_logs`: the artifacts of `minitorch_compile.logs` under the name that PyTorch's programs use.

>>> import minitorch_compile as torch
>>> torch._logging.set_logs(graph_breaks=True, recompiles=True)
>>> torch._logging.set_logs()
"""

from minitorch_compile.logs import set_logs

__all__ = ["set_logs"]
