"""torch.profiler: what a program spends its time and memory on.

>>> from minitorch_compile import ones
>>> with profile(activities=[ProfilerActivity.CPU]) as recorded:
...     _ = ones(64, 64) @ ones(64, 64)
>>> print(recorded.key_averages().table(sort_by="cpu_time_total", row_limit=3))
------------...
               Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  ...
"""

from minitorch_compile.profiler import operations
from minitorch_compile.profiler.events import DeviceType
from minitorch_compile.profiler.profile import _KinetoProfile, profile, tensorboard_trace_handler
from minitorch_compile.profiler.record_function import record_function
from minitorch_compile.profiler.schedule import ProfilerAction, ProfilerActivity, schedule, supported_activities


def kineto_available() -> bool:
    """Whether `profile` records: always, by a recorder of our own."""
    return True


__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
