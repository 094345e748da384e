"""The derivative of connectionist temporal classification.

>>> from minitorch_compile.tensor import ops
>>> from minitorch_compile.autograd.derivative_table import NOT_DIFFERENTIABLE
>>> NOT_DIFFERENTIABLE[ops.ctc_gradient]
"PyTorch doesn't differentiate it again either"
"""

from __future__ import annotations

from minitorch_compile.autograd.derivative_table import Gradients, derivative, not_differentiable
from minitorch_compile.tensor import Tensor, is_grad_enabled, ops

not_differentiable(ops.ctc_gradient, because="PyTorch doesn't differentiate it again either")


@derivative(ops.ctc_alignments)
def _(
    grad: tuple[Tensor | None, Tensor | None],
    out: tuple[Tensor, Tensor],
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
) -> Gradients:
    if grad[0] is None:
        return None
    if is_grad_enabled():
        raise NotImplementedError("ctc_loss: its gradient can't be differentiated again; leave out create_graph")
    losses, log_alpha = out
    return ops.ctc_gradient(grad[0], log_probs, targets, input_lengths, target_lengths, losses, log_alpha, blank)
