"""Floor 2: the tape that records operations, and the engine that walks it backwards.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from minitorch_compile.autograd import (
    derivatives,
    function,
    functional,
    graph,
    hooks,
    profiler,
    tape,
)  # fills the table; installs the tape
from minitorch_compile.autograd.anomaly_mode import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from minitorch_compile.autograd.entry_points import backward, grad
from minitorch_compile.autograd.function import Function
from minitorch_compile.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from minitorch_compile.autograd.variable import Variable
from minitorch_compile.profiler.events import DeviceType
from minitorch_compile.profiler.recorder import active
from minitorch_compile.tensor import grad_mode
from minitorch_compile.tensor.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minitorch_compile.tensor.modes.inference_mode import inference_mode


def _profiler_enabled() -> bool:
    """Whether a profiler records now."""
    return bool(active)


__all__ = [
    "DeviceType",
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "hooks",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
]
