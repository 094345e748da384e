"""The op table: every operation, by name.

>>> mul, mul.kind, table["mul"] is mul
(ops.mul, 'pointwise', True)
"""

from minitorch_compile.tensor.op import table
from minitorch_compile.tensor.ops.pointwise import abs, add, atan2, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, ceil, clamp, clone, cos, div, eq, erf, exp, expm1, floor, floor_divide, fmod, ge, gelu, gt, isnan, le, log, log1p, logical_and, logical_not, logical_or, lt, maximum, minimum, mul, ne, neg, pow, reciprocal, relu, remainder, round, rsqrt, sigmoid, sign, silu, sin, sqrt, square, sub, tanh, trunc, where
from minitorch_compile.tensor.ops.view import as_strided, chunk, contiguous, detach, expand, expand_as, flatten, movedim, narrow, permute, repeat, reshape, select, slice, split, squeeze, t, transpose, unbind, unsqueeze, view_as, view_op as view
from minitorch_compile.tensor.ops.creation import arange, contiguous_copy, copy, empty, empty_like, eye, fill, full, full_like, linspace, new_full, new_ones, new_zeros, ones, ones_like, to, to_copy, type_as, zero_, zeros, zeros_like
from minitorch_compile.tensor.ops.indexing import embedding, gather, getitem, index, index_put, index_select, masked_fill, nonzero, scatter_add, setitem, tril, triu
from minitorch_compile.tensor.ops.reduction import all, amax, amin, any, argmax, argmin, log_softmax, logsumexp, max, mean, min, prod, softmax, std, sum, var
from minitorch_compile.tensor.ops.joining import cat, stack
from minitorch_compile.tensor.ops.contraction import addmm, bmm, linear, matmul, mm
from minitorch_compile.tensor.ops.conv import conv2d, convolution, convolution_input_grad, convolution_weight_grad
from minitorch_compile.tensor.ops.pooling import adaptive_avg_pool2d, max_pool2d, max_pool2d_with_indices, max_pool2d_with_indices_backward
from minitorch_compile.tensor.ops.random import dropout, normal_random, rand, rand_like, randint, randint_random, randn, randn_like, randperm, uniform_random
from minitorch_compile.tensor.ops.normalization import layer_norm, native_layer_norm, scaled_dot_product_attention
from minitorch_compile.tensor.ops.loss import cross_entropy, mse_loss, nll_loss

__all__ = ["abs", "adaptive_avg_pool2d", "add", "addmm", "all", "amax", "amin", "any", "arange", "argmax", "argmin", "as_strided", "atan2", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "bmm", "cat", "ceil", "chunk", "clamp", "clone", "contiguous", "contiguous_copy", "conv2d", "convolution", "convolution_input_grad", "convolution_weight_grad", "copy", "cos", "cross_entropy", "detach", "div", "dropout", "embedding", "empty", "empty_like", "eq", "erf", "exp", "expand", "expand_as", "expm1", "eye", "fill", "flatten", "floor", "floor_divide", "fmod", "full", "full_like", "gather", "ge", "gelu", "getitem", "gt", "index", "index_put", "index_select", "isnan", "layer_norm", "le", "linear", "linspace", "log", "log1p", "log_softmax", "logical_and", "logical_not", "logical_or", "logsumexp", "lt", "masked_fill", "matmul", "max", "max_pool2d", "max_pool2d_with_indices", "max_pool2d_with_indices_backward", "maximum", "mean", "min", "minimum", "mm", "movedim", "mse_loss", "mul", "narrow", "native_layer_norm", "ne", "neg", "new_full", "new_ones", "new_zeros", "nll_loss", "nonzero", "normal_random", "ones", "ones_like", "permute", "pow", "prod", "rand", "rand_like", "randint", "randint_random", "randn", "randn_like", "randperm", "reciprocal", "relu", "remainder", "repeat", "reshape", "round", "rsqrt", "scaled_dot_product_attention", "scatter_add", "select", "setitem", "sigmoid", "sign", "silu", "sin", "slice", "softmax", "split", "sqrt", "square", "squeeze", "stack", "std", "sub", "sum", "t", "table", "tanh", "to", "to_copy", "transpose", "tril", "triu", "trunc", "type_as", "unbind", "uniform_random", "unsqueeze", "var", "view", "view_as", "where", "zero_", "zeros", "zeros_like"]
