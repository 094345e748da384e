"""One native call for many launches: a loop of machine code that asks CUDA's driver for one kernel after the other.

    table     configuration  kernel  arguments     three words for each launch, all of them prepared
              configuration  kernel  arguments

A launch from Python costs a call of a foreign function and some lookups besides; here there is nothing between two
calls of the driver but a load of three words. The loop stops at the first launch that the driver refuses.

>>> import ctypes
>>> @LAUNCH
... def pretended(configuration, kernel, arguments, extra):
...     print("kernel", kernel, "in stream", ctypes.c_uint64.from_address(configuration + STREAM_AT).value)
...     return 0 if kernel < 9 else 700
>>> configuration = ctypes.create_string_buffer(64)
>>> word = ctypes.addressof(configuration)
>>> table = (ctypes.c_uint64 * 9)(word, 7, 0, word, 8, 0, word, 9, 0)
>>> launch_all(ctypes.cast(pretended, ctypes.c_void_p).value, ctypes.addressof(table), 0, 3, 5)
kernel 7 in stream 5
kernel 8 in stream 5
kernel 9 in stream 5
Refused(launch=2, error=700)
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from minitorch_compile.cuda_runtime.native_code import native_call, native_function

# CUDA's cuLaunchKernelEx; the bindings' own call takes eleven arguments apart each time, which is 3 us.
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)


class LaunchConfiguration(ctypes.Structure):
    """CUDA's CUlaunchConfig: how many blocks of how many threads, and in which stream."""

    _fields_ = (
        *((name, ctypes.c_uint) for name in ("blocks", "blocks_y", "blocks_z", "threads", "threads_y", "threads_z")),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("attribute_count", ctypes.c_uint),
    )


class LaunchSizes(NamedTuple):
    """Blocks, threads of each, and bytes of shared memory beside those that a kernel's text asks for."""

    blocks: int
    threads: int
    shared: int = 0

    def laid_out(self) -> tuple[int, ...]:
        """The first fields of a configuration."""
        return self.blocks, 1, 1, self.threads, 1, 1, self.shared


STREAM_AT = LaunchConfiguration.stream.offset

# The answer is 0, or the number of the launch that was refused, counted from 1, in the upper half, and the error below.
PROGRAM = f"""
define i64 @launch_all(ptr %driver, ptr %table, i64 %first, i64 %count, i64 %stream) {{
entry:
  br label %next
next:
  %i = phi i64 [%first, %entry], [%behind, %launched]
  %is_done = icmp sge i64 %i, %count
  br i1 %is_done, label %all, label %launch
launch:
  %start = mul i64 %i, 3
  %configuration_at = getelementptr i64, ptr %table, i64 %start
  %kernel_at = getelementptr i64, ptr %configuration_at, i64 1
  %arguments_at = getelementptr i64, ptr %configuration_at, i64 2
  %configuration = load ptr, ptr %configuration_at
  %kernel = load ptr, ptr %kernel_at
  %arguments = load ptr, ptr %arguments_at
  %stream_at = getelementptr i8, ptr %configuration, i64 {STREAM_AT}
  store i64 %stream, ptr %stream_at
  %error = call i32 %driver(ptr %configuration, ptr %kernel, ptr %arguments, ptr null)
  %behind = add i64 %i, 1
  %is_refused = icmp ne i32 %error, 0
  br i1 %is_refused, label %refused, label %launched
launched:
  br label %next
refused:
  %upper = shl i64 %behind, 32
  %lower = zext i32 %error to i64
  %both = or i64 %upper, %lower
  ret i64 %both
all:
  ret i64 0
}}
"""


class Refused(NamedTuple):
    """Which launch the driver refused, and its error."""

    launch: int
    error: int


def launch_loop() -> int:
    """The address of the loop's machine code."""
    return native_function(PROGRAM, "launch_all")


def launch_all(driver: int, table: int, first: int, count: int, stream: int) -> Refused | None:
    """Launches those from number `first` on, of `count`. `driver`, `table`: addresses."""
    answer = native_call()(launch_loop(), driver, table, first, count, stream)
    return refused(answer) if answer else None


def refused(answer: int) -> Refused:
    """What the loop answered, if not 0."""
    return Refused((answer >> 32) - 1, answer & 0xFFFF_FFFF)
