"""torch.relu_ and its kin: in-place methods that PyTorch also offers as functions.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([-1.0, 4.0])
>>> relu_(x) is x, sqrt_(x), x
(True, tensor([0., 2.]), tensor([0., 2.]))
"""

from typing import Any

from minitorch_compile.tensor.dispatch.op import find

abs_ = find("abs_")
acos_ = find("acos_")
acosh_ = find("acosh_")
arccos_ = find("arccos_")
arccosh_ = find("arccosh_")
arcsin_ = find("arcsin_")
arcsinh_ = find("arcsinh_")
arctan_ = find("arctan_")
arctanh_ = find("arctanh_")
asin_ = find("asin_")
asinh_ = find("asinh_")
atan_ = find("atan_")
atanh_ = find("atanh_")
ceil_ = find("ceil_")
clamp_ = find("clamp_")
clamp_max_ = find("clamp_max_")
clamp_min_ = find("clamp_min_")
clip_ = find("clip_")
conj_physical_ = find("conj_physical_")
cos_ = find("cos_")
cosh_ = find("cosh_")
deg2rad_ = find("deg2rad_")
erf_ = find("erf_")
erfc_ = find("erfc_")
exp2_ = find("exp2_")
exp_ = find("exp_")
expm1_ = find("expm1_")
fill_ = find("fill_")
fix_ = find("fix_")
floor_ = find("floor_")
frac_ = find("frac_")
gcd_ = find("gcd_")
i0_ = find("i0_")
lcm_ = find("lcm_")
ldexp_ = find("ldexp_")
log10_ = find("log10_")
log1p_ = find("log1p_")
log2_ = find("log2_")
log_ = find("log_")
logit_ = find("logit_")
nan_to_num_ = find("nan_to_num_")
neg_ = find("neg_")
negative_ = find("negative_")
rad2deg_ = find("rad2deg_")
reciprocal_ = find("reciprocal_")
relu_ = find("relu_")
round_ = find("round_")
rsqrt_ = find("rsqrt_")
sigmoid_ = find("sigmoid_")
sin_ = find("sin_")
sinc_ = find("sinc_")
sinh_ = find("sinh_")
sqrt_ = find("sqrt_")
square_ = find("square_")
tan_ = find("tan_")
tanh_ = find("tanh_")
trunc_ = find("trunc_")
xlogy_ = find("xlogy_")
zero_ = find("zero_")


def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """The tensor with input[indices] = values, or += if `accumulate`; indices may be bool masks."""
    return input.index_put(indices, values, accumulate)


def index_put_(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """In place, input[indices] = values, or += if `accumulate`; indices may be bool masks."""
    return input.index_put_(indices, values, accumulate)
