# %% [markdown]
# # 15 Exercises: Numba kernels on the CPU
#
# Five exercises, a bit more than an hour. Each is a sentence, a signature, an example and a check. Write your answer in place
# of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("15.1")` gives the first
# of three hints, and calling it again the next; hints cost nothing.

# %%
import math

import numpy as np
from numba import njit
from numba.types import float32

import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.course.splicing.vecmath_splice import splice_vecmath
from minitorch_compile.inductor.runtime.native import (
    absolute,
    accumulate_sum,
    copy_sign,
    polynomial,
    select,
)
from minitorch_compile.inductor.kernels.vecmath import exp_float32

F = np.float32

# %% [markdown]
# ## 15.1 Which loops become vector code: predict
#
# Each line is the inside of `for i in range(lo, hi)` in a kernel of float32, compiled without fastmath. x, y and out don't
# overlap, `total` starts as `float32(0)`, `count` as the whole number 0. Will LLVM make packed arithmetic of it? Write True
# or False before you run anything. After the `break` comes `out[i] = x[i] * x[i]`.

# %% tags=["stub"]
vectorised = {
    "out[i] = x[i] * y[i] + x[i]": ...,
    "out[i] = x[i] if x[i] > y[i] else y[i]": ...,
    "out[i] = x[i] / y[i]": ...,
    "out[i] = math.sin(x[i])": ...,
    "out[i + 1] = out[i] * x[i]": ...,
    "if x[i] > y[i]: break": ...,
    "total += x[i]": ...,
    "total = accumulate_sum(total, x[i])": ...,
    "count += x[i] > y[i]": ...,
}

# %% tags=["solution"]
vectorised = {
    "out[i] = x[i] * y[i] + x[i]": True,
    "out[i] = x[i] if x[i] > y[i] else y[i]": True,
    "out[i] = x[i] / y[i]": True,
    "out[i] = math.sin(x[i])": False,
    "out[i + 1] = out[i] * x[i]": False,
    "if x[i] > y[i]: break": False,
    "total += x[i]": False,
    "total = accumulate_sum(total, x[i])": True,
    "count += x[i] > y[i]": True,
}

# %%
check("15.1")

# %% tags=["wrong"] says="so the branch becomes a select"
vectorised = vectorised | {"out[i] = x[i] if x[i] > y[i] else y[i]": False}

# %% tags=["wrong"] says="one number at a time"
vectorised = vectorised | {"out[i] = math.sin(x[i])": True}

# %% tags=["wrong"] says="Each product needs the one before"
vectorised = vectorised | {"out[i + 1] = out[i] * x[i]": True}

# %% tags=["wrong"] says="nobody has promised"
vectorised = vectorised | {"total += x[i]": True}

# %% tags=["wrong"] says="Whole numbers aren't rounded"
vectorised = vectorised | {"count += x[i] > y[i]": False}

# %% [markdown]
# ## 15.2 Find the float64
#
# This kernel is right, and all its arrays are float32. Still, most of its work is done in float64. Change it so that there
# is no float64 in its machine code, and the values stay as they are, but for rounding.


# %% tags=["stub"]
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = i / (hi - lo)
        bent = x[i] * (1.0 + 0.1 * x[i])
        out[i] = ramp * bent


# %% tags=["solution"]
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = float32(i) / float32(hi - lo)
        bent = x[i] * (float32(1.0) + float32(0.1) * x[i])
        out[i] = ramp * bent


# %%
check("15.2")


# %% tags=["wrong"] says="A whole number divided by a whole number"
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = i / (hi - lo)
        bent = x[i] * (float32(1.0) + float32(0.1) * x[i])
        out[i] = ramp * bent


# %% tags=["wrong"] says="A number with a point is a float64"
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = float32(i) / float32(hi - lo)
        bent = x[i] * (1.0 + 0.1 * x[i])
        out[i] = ramp * bent


# %% tags=["wrong"] says="converting the result comes too late"
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = i / (hi - lo)
        bent = x[i] * (1.0 + 0.1 * x[i])
        out[i] = float32(ramp * bent)


# %% tags=["wrong"] says="Change the types of its numbers, and nothing else"
def warped(lo, hi, x, out):
    for i in range(lo, hi):
        ramp = float32(i // (hi - lo))
        bent = x[i] * (float32(1.0) + float32(0.1) * x[i])
        out[i] = ramp * bent


# %% [markdown]
# ## 15.3 A tanh without branches
#
# Write tanh for one float32, within 3 ulps everywhere, such that a loop over it is vector code: no calls but those imported
# above, no float64. Near 0, up to 0.625, `tanh(x)` is `x + x**3 * polynomial(x**2, TANH)`. Farther out use the exponential:
# `tanh(x)` is `1 - 2 / (exp(2x) + 1)` for positive x. `tanh(-0.0)` is `-0.0`, and NaN stays NaN.

# %%
TANH = (
    F(-0.333333343),
    F(0.133332998),
    F(-0.0539588407),
    F(0.0217666682),
    F(-0.00833856966),
    F(0.00228802254),
)


@njit(forceinline=True, error_model="numpy")
def tanh_float32(x):
    """tanh of a float32, as a float32."""
    ### BEGIN SOLUTION
    a = absolute(x)
    z = a * a
    near = a + a * z * polynomial(z, TANH)
    far = F(1) - F(2) / (exp_float32(a + a) + F(1))
    return copy_sign(select(a < F(0.625), near, far), x)
    ### END SOLUTION


# %%
check("15.3")

# %% [markdown]
# Now let compiled kernels call it: in this block, the package's generated code uses your function for each tanh.

# %%
if passed("15.3"):
    x = torch.linspace(-3, 3, 7)
    with splice_vecmath("tanh_float32", tanh_float32):
        print(torch.compile(lambda x: x.tanh() * 2)(x))
    print(x.tanh() * 2)


# %% tags=["wrong"] says="cancels the digits of a small result"
@njit(forceinline=True, error_model="numpy")
def tanh_float32(x):
    return copy_sign(F(1) - F(2) / (exp_float32(F(2) * absolute(x)) + F(1)), x)


# %% tags=["wrong"] says="-0.0 plus 0.0 is 0.0"
@njit(forceinline=True, error_model="numpy")
def tanh_float32(x):
    near = x + x * x * x * polynomial(x * x, TANH)
    far = F(1) - F(2) / (exp_float32(F(2) * absolute(x)) + F(1))
    return select(absolute(x) < F(0.625), near, copy_sign(far, x))


# %% tags=["wrong"] says="infinity divided by infinity"
@njit(forceinline=True, error_model="numpy")
def tanh_float32(x):
    a = absolute(x)
    near = a + a * a * a * polynomial(a * a, TANH)
    e = exp_float32(a + a)
    return copy_sign(select(a < F(0.625), near, (e - F(1)) / (e + F(1))), x)


# %% tags=["wrong"] says="Broken data looks healthy now"
@njit(forceinline=True, error_model="numpy")
def tanh_float32(x):
    a = absolute(x)
    near = a + a * a * a * polynomial(a * a, TANH)
    far = F(1) - F(2) / (exp_float32(a + a) + F(1))
    result = select(a < F(0.625), near, select(a < F(10), far, F(1)))
    return copy_sign(result, x)


# %% tags=["wrong"] says="takes its numbers one by one"
@njit(forceinline=True, error_model="numpy")
def tanh_float32(x):
    a = absolute(x)
    near = a + a * a * a * polynomial(a * a, TANH)
    far = F(1) - F(2) / (math.exp(a + a) + F(1))
    return copy_sign(select(a < F(0.625), near, far), x)


# %% [markdown]
# ## 15.4 Ten million numbers
#
# Sum `x[lo]` to `x[hi - 1]` into `out[0]`, within 8 ulps even for ten million numbers, without a float64. `out` has 64 places,
# all yours to work with; they aren't zero at the beginning. `accumulate_sum(total, x)` is an addition that may be reordered.
# It is a kernel, so `float32(0)` makes a number, and there are no lists and no NumPy. If x is [1, 2, 4], then
# `total(1, 3, x, out)` leaves 6 in `out[0]`.


# %%
def total(lo, hi, x, out):
    """out[0] = x[lo] + ... + x[hi - 1]."""
    ### BEGIN SOLUTION
    blocks = 0
    for start in range(lo, hi, 128):
        part = float32(0)
        for i in range(start, min(start + 128, hi)):
            part = accumulate_sum(part, x[i])
        level = 0
        while blocks >> level & 1:
            part += out[level]
            level += 1
        out[level] = part
        blocks += 1
    result, level = float32(0), 0
    while blocks >> level:
        if blocks >> level & 1:
            result += out[level]
        level += 1
    out[0] = result
    ### END SOLUTION


# %%
check("15.4")


# %% tags=["wrong"] says="A total that has grown large"
def total(lo, hi, x, out):
    result = float32(0)
    for i in range(lo, hi):
        result += x[i]
    out[0] = result


# %% tags=["wrong"] says="only half as many fit a register"
def total(lo, hi, x, out):
    result = 0.0
    for i in range(lo, hi):
        result += x[i]
    out[0] = result


# %% tags=["wrong"] says="The last block may be shorter"
def total(lo, hi, x, out):
    result = float32(0)
    for start in range(lo, hi, 128):
        part = float32(0)
        if start + 128 <= hi or start == lo:
            for i in range(start, min(start + 128, hi)):
                part += x[i]
        result += part
    out[0] = result


# %% tags=["wrong"] says="The range begins at lo"
def total(lo, hi, x, out):
    result = float32(0)
    for i in range(hi):
        result += x[i]
    out[0] = result


# %% tags=["wrong"] says="is inf - inf here"
def total(lo, hi, x, out):
    result, lost = float32(0), float32(0)
    for i in range(lo, hi):
        y = x[i] - lost
        t = result + y
        lost = (t - result) - y
        result = t
    out[0] = result


# %% [markdown]
# ## 15.5 Chunks for threads
#
# How long are the chunks of a kernel whose outermost range has `extent` positions, and which takes about so many
# nanoseconds? 0 means that it isn't cut: if it takes less than 30,000, or has at most one position. Otherwise there are as
# many chunks as leave at least 10,000 nanoseconds for each, but at least 2, and at most 64. Their length is extent divided by
# that number, rounded up; if extent is above 1024, up to a multiple of 256. `chunk_length(1000, 95_000.0)` is 112.


# %%
def chunk_length(extent: int, nanoseconds: float) -> int:
    """The length of a chunk; 0 for a kernel that is not worth cutting."""
    ### BEGIN SOLUTION
    if nanoseconds < 30_000 or extent <= 1:
        return 0
    chunks = min(64, max(2, int(nanoseconds / 10_000)))
    length = -(-extent // chunks)
    return -(-length // 256) * 256 if extent > 1024 else length
    ### END SOLUTION


# %%
check("15.5")

# %% [markdown]
# Your function has a place in the package: every kernel from here is cut as you say.

# %%
if passed("15.5"):
    with splice("inductor.chunk_length", chunk_length):
        x = torch.ones(1000, 4096)
        print(torch.compile(lambda x: x.sin().sum(1))(x)[:3])


# %% tags=["wrong"] says="round the length up, not down"
def chunk_length(extent, nanoseconds):
    if nanoseconds < 30_000 or extent <= 1:
        return 0
    return extent // min(64, max(2, int(nanoseconds / 10_000)))


# %% tags=["wrong"] says="is cut at multiples of 256"
def chunk_length(extent, nanoseconds):
    if nanoseconds < 30_000 or extent <= 1:
        return 0
    return -(-extent // min(64, max(2, int(nanoseconds / 10_000))))


# %% tags=["wrong"] says="There is nothing to round there"
def chunk_length(extent, nanoseconds):
    if nanoseconds < 30_000 or extent <= 1:
        return 0
    length = -(-extent // min(64, max(2, int(nanoseconds / 10_000))))
    return -(-length // 256) * 256


# %% tags=["wrong"] says="More than 64 chunks"
def chunk_length(extent, nanoseconds):
    if nanoseconds < 30_000 or extent <= 1:
        return 0
    length = -(-extent // max(2, int(nanoseconds / 10_000)))
    return -(-length // 256) * 256 if extent > 1024 else length


# %% tags=["wrong"] says="Waking a thread takes longer"
def chunk_length(extent, nanoseconds):
    length = -(-extent // min(64, max(2, int(nanoseconds / 10_000))))
    return -(-length // 256) * 256 if extent > 1024 else length


# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("15")

# %%
with own_parts():
    print(torch.compile(lambda x: x.tanh().sum(1))(torch.ones(2, 2)))
