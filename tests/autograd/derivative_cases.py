"""For each op with a derivative, programs to differentiate: (name, program, inputs as float64 NumPy arrays).

The inputs keep away from kinks (0 for abs, equal elements for maximum), where finite differences mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import float64, int64, ops, tensor
from minitorch_compile.tensor.memory.device import CPU

Case = tuple[str, Callable[..., Any], list[np.ndarray]]


def generic(*shape: int, shift: float = 0.0) -> np.ndarray:
    """Distinct numbers in about [-1.6, 1.6], none near 0."""
    count = int(np.prod(shape, dtype=int))
    values = np.linspace(0.3, 1.6, max(count, 2))[:count] * np.where(np.arange(count) % 3 == 1, -1, 1)
    order = np.argsort(np.sin(np.arange(count) * 2.3 + shift), kind="stable")
    return (values[order] + 0.013 * shift).reshape(shape)


def positive(*shape: int, shift: float = 0.0) -> np.ndarray:
    return np.abs(generic(*shape, shift=shift)) + 0.2


def ints(*values: Any) -> Any:
    return tensor(list(values), dtype=int64)


SHAPES = [(), (0,), (1,), (2, 3), (2, 1, 3)]
BROADCASTS = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((), (2, 2)),
    ((3,), ()),
    ((0, 3), (1, 3)),
    ((1, 1), (2, 3)),
]

UNARY = [
    "neg",
    "abs",
    "exp",
    "expm1",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "erf",
    "square",
    "relu",
    "gelu",
    "gelu_slope",
    "silu",
    "clone",
]
UNARY += ["sign", "floor", "ceil", "trunc", "round", "contiguous_copy"]
UNARY += ["tan", "atan", "sinh", "cosh", "asinh", "exp2"]
UNARY += ["erfc", "i0", "special_i0e", "special_i1", "special_i1e", "special_erfcx", "special_log_ndtr"]
UNARY_POSITIVE = ["log", "log1p", "sqrt", "rsqrt", "reciprocal", "log2", "log10"]
UNARY_POSITIVE += ["lgamma", "digamma", "special_entr"]
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "atan2", "hypot", "logaddexp", "logaddexp2", "copysign"]
BINARY += ["fmax", "fmin"]


def elementwise_cases() -> list[Case]:
    cases: list[Case] = []
    for shape in SHAPES:
        cases += [(name, getattr(ops, name), [generic(*shape)]) for name in UNARY]
        cases += [(name, getattr(ops, name), [positive(*shape)]) for name in UNARY_POSITIVE]
    for left, right in BROADCASTS:
        pair = [generic(*left), generic(*right, shift=1)]
        cases += [(name, getattr(ops, name), pair) for name in BINARY]
        cases += [
            (name, getattr(ops, name), [positive(*left), positive(*right, shift=1)])
            for name in ("pow", "remainder", "fmod")
        ]
        cases.append(("where", lambda x, y: ops.where(x > 0, x, y), pair))
        cases += [
            (name, getattr(ops, name), [generic(*left), positive(*right, shift=1)])
            for name in ("xlogy", "special_xlog1py")
        ]
        third = positive(*right, shift=2)
        cases += [
            (name, lambda x, y, z, op=getattr(ops, name): op(x, y, z), [*pair, third])
            for name in ("lerp", "addcmul", "addcdiv")
        ]
    for name in ("add", "sub", "mul", "div", "remainder", "fmod"):
        cases.append((name, lambda x, op=getattr(ops, name): op(x, 0.7), [generic(2, 3)]))
    for name in ("add", "sub", "mul", "div", "pow"):
        cases.append((name, lambda x, op=getattr(ops, name): op(0.7, x), [generic(2, 3)]))
    return cases + [
        ("add", lambda x, y: ops.add(x, y, alpha=2), [generic(2), generic(2)]),
        ("sub", lambda x, y: ops.sub(x, y, alpha=2), [generic(2), generic(2)]),
        ("pow", lambda x: x**3, [generic(2, 3)]),
        ("pow", lambda x: x**0, [generic(3)]),
        ("pow", lambda x: x**-2, [generic(3)]),
        ("pow", lambda x: x**0.5, [positive(3)]),
        ("gelu", lambda x: ops.gelu(x, "tanh"), [generic(2, 3)]),
        ("div", lambda x, y: ops.div(x, y, rounding_mode="floor") * x, [generic(3), generic(3, shift=1)]),
        ("round", lambda x: ops.round(x + 0.02, 1) * x, [generic(3)]),
        ("asin", lambda x: ops.asin(x / 2), [generic(2, 3)]),
        ("erfinv", lambda x: ops.erfinv(x / 2), [generic(2, 3)]),
        ("special_ndtri", lambda x: ops.special_ndtri(x / 3), [positive(2, 3)]),
        ("polygamma", lambda x: ops.polygamma(2, x), [positive(2, 3)]),
        ("erfc", ops.special_ndtr, [generic(3)]),
        ("igamma", lambda x: ops.igamma(tensor(1.3, dtype=float64), x), [positive(2, 3)]),
        ("igammac", lambda x: ops.igammac(tensor([0.5, 2.0, 3.0], dtype=float64), x), [positive(2, 3)]),
        ("special_zeta", lambda q: ops.special_zeta(3.0, q), [positive(2, 3)]),
        ("acos", lambda x: ops.acos(x / 2), [generic(2, 3)]),
        ("atanh", lambda x: ops.atanh(x / 2), [generic(2, 3)]),
        ("acosh", lambda x: ops.acosh(x + 1), [positive(2, 3)]),
        ("frexp_parts", lambda x: ops.frexp(x).mantissa, [generic(2, 3)]),
        ("lerp", lambda x, y: ops.lerp(x, y, 0.3), [generic(3), generic(3, shift=1)]),
        ("addcmul", lambda x, y: ops.addcmul(x, y, y, value=-2), [generic(3), generic(3, shift=1)]),
        ("addcdiv", lambda x, y: ops.addcdiv(x, x, y, value=3), [generic(3), generic(3, shift=1)]),
        ("xlogy", lambda x: ops.xlogy(0.5, x), [positive(3)]),
        ("xlogy", lambda x: ops.xlogy(x, 2.0), [generic(3)]),
        ("sin", lambda x: ops.sinc(x), [generic(3)]),
        ("logit", lambda x: ops.logit(x / 3), [positive(3)]),
        ("logit", lambda x: ops.logit(x / 3, eps=0.25), [positive(3)]),
        ("clamp", lambda x: x.clamp(-0.8, 0.9), [generic(2, 3)]),
        ("clamp", lambda x: x.clamp(min=0.5), [generic(2, 3)]),
        ("clamp", lambda x, low, high: x.clamp(low, high), [generic(2, 3), generic(3) - 0.4, generic(2, 1) + 0.6]),
        ("where", lambda x: ops.where(x > 0, x, 0.0), [generic(2, 3)]),
        ("hardtanh", lambda x: ops.hardtanh(x, -0.8, 0.9), [generic(2, 3)]),
        ("leaky_relu", lambda x: ops.leaky_relu(x, 0.2), [generic(2, 3)]),
        ("elu", lambda x: ops.elu(x, 0.5, 1.1, 0.7), [generic(2, 3)]),
        ("hardsigmoid", lambda x: ops.hardsigmoid(3 * x), [generic(2, 3)]),
        ("hardswish", lambda x: ops.hardswish(3 * x), [generic(2, 3)]),
        ("softplus", lambda x: ops.softplus(x, 2.0, 2.5), [generic(2, 3)]),
        ("log_sigmoid", ops.log_sigmoid, [generic(2, 3)]),
        (
            "binary_cross_entropy",
            lambda x, y: ops.binary_cross_entropy(ops.sigmoid(x), y),
            [generic(2, 3), positive(2, 3) / 2],
        ),
        ("to_copy", lambda x: ops.to_copy(x, float64), [generic(2)]),
        ("to_device", lambda x: ops.to_device(x, CPU) * x, [generic(2)]),
        ("copy", ops.copy, [generic(2, 3), generic(3)]),
        ("fill", lambda x: ops.fill(x, 2.0) * x, [generic(2)]),
    ]


def reduction_cases() -> list[Case]:
    cases: list[Case] = []
    for name in ("sum", "mean", "prod", "amax", "amin"):
        op = getattr(ops, name)
        cases += [
            (name, op, [generic()]),
            (name, op, [generic(2, 3)]),
            (name, lambda x, op=op: op(x, 0), [generic(2, 3)]),
            (name, lambda x, op=op: op(x, (0, -1), True), [generic(2, 1, 3)]),
            (name, lambda x, op=op: op(x, -1), [generic(2, 1)]),
            (name, lambda x, op=op: op(x, 1), [generic(0, 3)]),
        ]
    cases += [("prod", lambda x: x.prod(1), [np.array([[1.5, 0.0, 2.0], [0.0, 0.5, 0.0], [2.0, 3.0, 0.4]])])]
    cases += [("mean", lambda x: ops.mean(x, 0), [generic(0, 3)]), ("sum", lambda x: ops.sum(x, 0), [generic(0, 3)])]
    for name in ("softmax", "log_softmax"):
        op = getattr(ops, name)
        cases += [(name, lambda x, op=op, d=d: op(x, d), [generic(2, 3)]) for d in (0, 1, -1)]
        cases += [(name, lambda x, op=op: op(x, 0), [generic()]), (name, lambda x, op=op: op(x, 0), [generic(0, 2)])]
    return cases + [
        ("amax", lambda x: ops.var(x, 1), [generic(2, 3)]),
        ("amax", lambda x: ops.logsumexp(x, 1), [generic(2, 3)]),
        ("amax", lambda x: ops.max(x, 1).values, [generic(2, 3)]),
    ]


def scan_cases() -> list[Case]:
    with_zeros = np.array([[1.5, 0.0, 2.0], [0.0, 0.5, 0.0], [2.0, 3.0, 0.4]])
    cases: list[Case] = [("cumprod", lambda x: x.cumprod(1), [with_zeros])]
    for name in ("cumsum", "cumprod", "logcumsumexp"):
        op = getattr(ops, name)
        cases += [(name, lambda x, op=op, d=d: op(x, d), [generic(2, 3)]) for d in (0, -1)]
        cases += [
            (name, lambda x, op=op: op(x, 0), [generic()]),
            (name, lambda x, op=op: op(x, 1), [generic(2, 0)]),
            (name, lambda x, op=op: op(x, 0), [generic(5)]),
        ]
    return cases + [
        ("index", lambda x: ops.cummax(x, 1).values, [generic(2, 4)]),
        ("index", lambda x: ops.sort(x, 0).values, [generic(3, 2)]),
        ("index", lambda x: ops.topk(x, 2).values, [generic(2, 4)]),
        ("index", lambda x: ops.median(x), [generic(2, 3)]),
        ("index", lambda x: ops.quantile(x, 0.3, 1), [generic(2, 4)]),
        ("sub", lambda x: ops.diff(x, 2), [generic(2, 4)]),
    ]


def view_cases() -> list[Case]:
    return [
        ("view", lambda x: x.view(3, 2), [generic(2, 3)]),
        ("view", lambda x: x.view(1, 1), [generic()]),
        ("view", lambda x: x.t().reshape(6), [generic(2, 3)]),
        ("permute", lambda x: x.permute(2, 0, 1), [generic(2, 1, 3)]),
        ("transpose", lambda x: x.transpose(0, -1), [generic(2, 1, 3)]),
        ("t", lambda x: x.t(), [generic(2, 3)]),
        ("t", lambda x: x.t(), [generic(3)]),
        ("expand", lambda x: x.expand(4, 2, 3), [generic(2, 1)]),
        ("expand", lambda x: x.expand(2, 2), [generic()]),
        ("unsqueeze", lambda x: x.unsqueeze(-1), [generic(2)]),
        ("squeeze", lambda x: x.squeeze(), [generic(2, 1, 3, 1)]),
        ("squeeze", lambda x: x.squeeze(1), [generic(2, 1, 3)]),
        ("select", lambda x: x.select(1, -1), [generic(2, 3)]),
        ("select", lambda x: x[0], [generic(1)]),
        ("slice", lambda x: x[1:], [generic(3, 2)]),
        ("slice", lambda x: x[:, ::2], [generic(2, 5)]),
        ("slice", lambda x: x[:, 1:-1:3], [generic(2, 9)]),
        ("slice", lambda x: x[:, 1::3], [generic(2, 4)]),
        ("slice", lambda x: x[2:1], [generic(3)]),
        ("slice", lambda x: x[5:], [generic(3)]),
        ("as_strided", lambda x: x.as_strided((2, 2), (1, 2), 1), [generic(3, 2)]),
        ("as_strided", lambda x: x.as_strided((3, 2), (1, 1), 0), [generic(2, 2)]),
        ("as_strided", lambda x: x.as_strided((), (), 3), [generic(2, 2)]),
        ("cat", lambda x, y: ops.cat([x, y, x], 1), [generic(2, 3), generic(2, 1)]),
        ("cat", lambda x, y: ops.cat([x, y], -1), [generic(2, 0), generic(2, 1)]),
        ("cat", lambda x, y: ops.stack([x, y]), [generic(), generic(shift=1)]),
    ]


def contraction_cases() -> list[Case]:
    return [
        ("mm", ops.mm, [generic(2, 3), generic(3, 4)]),
        ("mm", ops.mm, [generic(2, 0), generic(0, 4)]),
        ("mm", lambda x, y: x.t() @ y.t(), [generic(3, 2), generic(4, 3)]),
        ("mm", lambda x, y: x @ y.expand(3, 4), [generic(2, 3), generic(1, 4)]),
        ("bmm", ops.bmm, [generic(2, 2, 3), generic(2, 3, 1)]),
        ("bmm", lambda x, y: ops.bmm(x, y.transpose(1, 2)), [generic(2, 2, 3), generic(2, 4, 3)]),
        ("bmm", lambda x, y: x @ y, [generic(2, 1, 2, 3), generic(3, 3, 2)]),
        ("addmm", ops.addmm, [generic(4), generic(2, 3), generic(3, 4)]),
        ("addmm", lambda b, x, y: ops.addmm(b, x, y, beta=2, alpha=0.5), [generic(2, 1), generic(2, 3), generic(3, 4)]),
        ("addmm", ops.linear, [generic(2, 3), generic(4, 3)]),
        ("addmm", lambda b, x, w: ops.linear(x, w, b), [generic(4), generic(2, 2, 3), generic(4, 3)]),
        ("mm", lambda x, y: x @ y, [generic(3), generic(3)]),
        ("mm", lambda x, y: x @ y, [generic(3), generic(3, 2)]),
    ]


def indexing_cases() -> list[Case]:
    return [
        ("gather", lambda x: ops.gather(x, 1, ints([0, 0], [2, 1])), [generic(2, 3)]),
        ("gather", lambda x: ops.gather(x, 0, tensor(0)), [generic()]),
        ("diagonal", lambda x: x.diagonal(1), [generic(2, 3)]),
        ("diagonal", lambda x: x.diagonal(-1, 2, 0), [generic(2, 3, 3)]),
        ("diagonal", lambda x: x.diag().diag_embed(-1), [generic(3, 3)]),
        ("unfold", lambda x: x.unfold(1, 2, 1), [generic(2, 4)]),
        ("unfold", lambda x: x.unfold(0, 3, 2), [generic(7)]),
        ("unfold", lambda x: x.unfold(0, 1, 1), [generic()]),
        ("flip", lambda x: x.flip(0, -1), [generic(2, 3)]),
        ("flip", lambda x: x.roll((1, -1), (0, 1)).rot90(), [generic(2, 3)]),
        ("cat", lambda x: ops.cat([tensor([], dtype=float64), x], 1), [generic(2, 3)]),
        ("scatter_add", lambda x, s: ops.scatter_add(x, 1, ints([0, 0], [2, 1]), s), [generic(2, 3), generic(2, 2)]),
        ("scatter_add", lambda x, s: ops.scatter_add(x, 1, ints([0, 2]), s), [generic(2, 3), generic(2, 3)]),
        ("scatter_add", lambda x, s: x.index_reduce(0, ints(1, 1, 0), s, "mean"), [generic(2, 2), generic(3, 2)]),
        ("scatter_src", lambda x, s: x.scatter(1, ints([0], [2]), s), [generic(2, 3), generic(2, 2)]),
        ("scatter_src", lambda x, s: x.scatter(0, tensor(0), s), [generic(), generic()]),
        *[
            (
                "scatter_combine",
                lambda x, s, how=how, own=own: x.scatter_reduce(1, ints([0, 0], [2, 1]), s, how, include_self=own),
                [generic(2, 3), generic(2, 3, shift=1)],
            )
            for how in ("amax", "amin", "prod")
            for own in (True, False)
        ],
        ("index", lambda x: x[ints(0, 0, 1)], [generic(2, 3)]),
        ("index", lambda x: x[:, ints(0, 2), None], [generic(2, 3)]),
        ("index", lambda x: x[ints(0, 1), :, ints([0], [2])], [generic(2, 2, 3)]),
        ("index", lambda x: x[x > 0.5], [generic(2, 3)]),
        ("index", lambda x: x[tensor([], dtype=int64)], [generic(2, 3)]),
        ("index_put", lambda x, v: ops.index_put(x, [ints(0, 1)], v), [generic(3, 2), generic(2)]),
        ("index_put", lambda x, v: ops.index_put(x, [ints(0, 0)], v, True), [generic(3, 2), generic(2, 2)]),
        ("index_put", lambda x, v: ops.index_put(x, [None, ints(1)], v, True), [generic(3, 2), generic()]),
        ("embedding", lambda w: ops.embedding(ints([0, 2], [2, 1]), w), [generic(3, 2)]),
        ("embedding", lambda w: ops.embedding(tensor(1), w), [generic(3, 2)]),
        ("tril", lambda x: ops.tril(x, 1), [generic(3, 3)]),
        ("triu", lambda x: ops.triu(x, -1), [generic(2, 2, 3)]),
    ]


def attention_cases() -> list[Case]:
    mask = tensor([[[[True, False, True], [False, True, True]]]])
    inf = float("inf")
    query, key, value = generic(1, 2, 2, 2), generic(1, 1, 3, 2, shift=1), generic(1, 1, 3, 1, shift=2)
    upper, out, sums = generic(1, 2, 2, 1, shift=3), generic(1, 2, 2, 1, shift=4), generic(1, 2, 2, 2, shift=5) + 2
    back = ops.flash_attention_backward
    return [
        (
            "flash_attention",
            lambda q, k, v: ops.flash_attention(q, k, v, None, True, 0.7, 0.0, False),
            [query, key, value],
        ),
        (
            "flash_attention",
            lambda q, k, v, m: ops.flash_attention(q, k, v, m, False, 0.7, 0.0, False)[0],
            [query, key, value, generic(1, 2, 1, 3)],
        ),
        (
            "flash_attention",
            lambda q, k, v: ops.flash_attention(q, k, v, mask, False, 1.0, -inf, True),
            [query, key, value],
        ),
        (
            "flash_attention",
            lambda q, k, v: ops.flash_attention(q, k, v, mask, True, 1.0, 0.5, False),
            [query, key, value],
        ),
        (
            "flash_attention_backward",
            lambda g, q, k, v, o, s: back(g, q, k, v, o, s, mask, False, 0.7, 0.5),
            [upper, query, key, value, out, sums],
        ),
        (
            "flash_attention_backward",
            lambda g, q, k, v, o, s, m: back(g, q, k, v, o, s, m, True, 0.7, 0.5)[1],
            [upper, query, key, value, out, sums, generic(1, 1, 2, 3)],
        ),
    ]


def network_cases() -> list[Case]:
    conv = ops.conv2d
    return [
        ("convolution", conv, [generic(1, 2, 4, 3), generic(2, 2, 2, 2)]),
        (
            "convolution",
            lambda x, w, b: conv(x, w, b, stride=2, padding=1),
            [generic(2, 1, 4, 4), generic(1, 1, 3, 3), generic(1)],
        ),
        (
            "convolution",
            lambda x, w: conv(x, w, dilation=(2, 1), padding=(1, 0)),
            [generic(1, 1, 4, 3), generic(1, 1, 2, 2)],
        ),
        ("convolution", lambda x, w: conv(x, w, groups=2), [generic(1, 2, 2, 3), generic(2, 1, 1, 2)]),
        ("convolution", lambda x, w: conv(x.permute(0, 3, 1, 2), w), [generic(1, 3, 3, 2), generic(1, 2, 2, 2)]),
        (
            "convolution_input_grad",
            lambda g, w: ops.convolution_input_grad(g, w, (1, 1, 3, 4), (1, 2), (0, 1), (1, 1), 1),
            [generic(1, 2, 2, 3), generic(2, 1, 2, 2)],
        ),
        (
            "convolution_weight_grad",
            lambda g, x: ops.convolution_weight_grad(g, x, (2, 1, 2, 2), (1, 2), (0, 1), (1, 1), 1),
            [generic(1, 2, 2, 3), generic(1, 1, 3, 4)],
        ),
        *attention_cases(),
        ("native_layer_norm", lambda x, w, b: ops.layer_norm(x, (3,), w, b), [generic(2, 3), generic(3), generic(3)]),
        ("native_layer_norm", lambda x: ops.layer_norm(x, (2, 3)), [generic(2, 2, 3)]),
        (
            "native_layer_norm",
            lambda x, w: ops.native_layer_norm(x, (3,), w, None, 1e-5),
            [generic(2, 3), generic(3)],
        ),
        ("split_with_sizes_copy", lambda x: ops.split_with_sizes_copy(x, (1, 0, 2), 1), [generic(2, 3)]),
        ("split_with_sizes_copy", lambda x: ops.split_with_sizes_copy(x, (2, 1))[1], [generic(3, 2)]),
        ("split_with_sizes_copy", lambda x: ops.split_with_sizes_copy(x, (3,)), [generic(3)]),
        (
            "native_batch_norm",
            lambda x, w, b: ops.native_batch_norm(x, w, b, 1e-5),
            [generic(2, 3, 2), generic(3), generic(3)],
        ),
        (
            "ctc_alignments",
            lambda x: ops.ctc_alignments(F.log_softmax(x, -1), ints([1, 1], [2, 0]), ints(4, 2), ints(2, 1), 0)[0],
            [generic(4, 2, 3)],
        ),
        ("native_batch_norm", lambda x: ops.native_batch_norm(x, None, None, 1e-3), [generic(4, 2)]),
        ("mul", lambda x, w, b: F.batch_norm(x, None, None, w, b, True), [generic(2, 3, 2), generic(3), generic(3)]),
        ("mul", lambda x: F.cross_entropy(x, ints(0, 2)), [generic(2, 3)]),
        (
            "mul",
            lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, is_causal=True),
            [generic(3, 2), generic(3, 2), generic(3, 2)],
        ),
    ]


def all_cases() -> list[Case]:
    families = (
        elementwise_cases,
        reduction_cases,
        scan_cases,
        view_cases,
        contraction_cases,
        indexing_cases,
        network_cases,
    )
    return [case for family in families for case in family()]
