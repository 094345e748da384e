"""The public signatures that can't be read off a kernel, as PyTorch says them.

A kernel may take more than its user may give (what all overloads take together, what the function of the same name in
nn.functional takes), or take it under another name: `x.split(split_size)`, `torch.split(x, split_size_or_sections)`.

>>> print(*written("split", method=True).parameters)
self split_size dim
>>> written("add", method=False) is None
True
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, TypeVar

from minitorch_compile.tensor.memory.memory_format import strided

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

FUNCTIONS = """
batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)
torch.celu(input, alpha=1.0)
empty(*size, out=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None)
gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled)
layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True)
F.layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05)
linalg_lstsq(A, B, rcond=None, *, driver=None)
linalg_matrix_rank(A, *, atol=None, rtol=None, hermitian=False, out=None)
linalg_pinv(A, *, atol=None, rtol=None, hermitian=False, out=None)
log_softmax(input, dim, dtype=None, *, out=None)
lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
norm(input, p='fro', dim=None, keepdim=False, out=None, dtype=None)
range(start, end, step=1, *, out=None, dtype=None, device=None, requires_grad=False, pin_memory=False)
rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
torch.selu(input)
softmax(input, dim, dtype=None, *, out=None)
split(tensor, split_size_or_sections, dim=0)
tensordot(a, b, dims=2, out=None)
torch.threshold(input, threshold, value, *, out=None)
true_divide(input, other, *, out=None)
"""

METHODS = """
dsplit(self, split_size_or_sections)
hsplit(self, split_size_or_sections)
log_softmax(self, dim, dtype=None)
new_tensor(self, data, *, dtype=None, device=None, requires_grad=False, layout=torch.strided, pin_memory=False)
ormqr(self, input2, input3, left=True, transpose=False)
repeat_interleave(self, repeats, dim=None, *, output_size=None)
softmax(self, dim, dtype=None)
split(self, split_size, dim=0)
true_divide(self, other)
true_divide_(self, other)
vsplit(self, split_size_or_sections)
"""


def written(name: str, *, method: bool) -> Signature | None:
    """What is written of an op of that name, or None."""
    for line in (METHODS if method else FUNCTIONS).split("\n"):
        if line.startswith(f"{name}("):
            return signature_of(line.removeprefix(name))
    return None


def says(text: str) -> Callable[[AnyFunction], AnyFunction]:
    """Decorates a function whose parameters, as PyTorch says them, can't be written in Python: overloads."""

    def decorate(function: AnyFunction) -> AnyFunction:
        function.__signature__ = signature_of(text)  # type: ignore[attr-defined]
        return function

    return decorate


def signature_of(text: str) -> Signature:
    """`(self, *, dim=None)` as a signature. A default is a literal, or torch.strided."""
    given = ast.parse(f"def f{text}: ...").body[0].args  # type: ignore[attr-defined]
    defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults
    made = [_parameter(a, Parameter.POSITIONAL_OR_KEYWORD, d) for a, d in zip(given.args, defaults, strict=True)]
    if given.vararg:
        made.append(Parameter(given.vararg.arg, Parameter.VAR_POSITIONAL))
    keywords = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return Signature(made + [_parameter(a, Parameter.KEYWORD_ONLY, d) for a, d in keywords])


def _parameter(argument: ast.arg, kind: Any, default: ast.expr | None) -> Parameter:
    if default is None:
        return Parameter(argument.arg, kind)
    named = ast.unparse(default) == "torch.strided"
    return Parameter(argument.arg, kind, default=strided if named else ast.literal_eval(default))
