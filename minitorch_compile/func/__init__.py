"""Floor 2: functions of functions. vmap batches one, grad differentiates one, and they nest in any order.

>>> import minitorch_compile as torch
>>> per_sample = torch.func.vmap(torch.func.grad(lambda w, x: torch.tanh(w @ x)), in_dims=(None, 0))
>>> per_sample(torch.ones(3), torch.zeros(4, 3)).shape
torch.Size([4, 3])
"""

from minitorch_compile import autograd as _autograd
from minitorch_compile.autograd.forward_mode_slot import register_forward_mode as _register_forward_mode
from minitorch_compile.autograd.vmap_slot import register_vmap as _register_vmap
from minitorch_compile.func import batching  # fills the table of rules
from minitorch_compile.func import dual_numbers as _dual_numbers
from minitorch_compile.func.batched_function import apply_to_examples as _apply_to_examples
from minitorch_compile.func.ensembles import replace_all_batch_norm_modules_, stack_module_state
from minitorch_compile.func.forward_mode import jvp, linearize
from minitorch_compile.func.functional_call import functional_call
from minitorch_compile.func.functionalization import functionalize
from minitorch_compile.func.gradients import grad, grad_and_value, vjp
from minitorch_compile.func.jacobians import hessian, jacfwd, jacrev
from minitorch_compile.func.vmap import vmap

__all__ = [
    "batching",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

# PyTorch's name for it.
_autograd.forward_ad = _dual_numbers  # type: ignore[attr-defined]
_register_forward_mode(_dual_numbers)  # type: ignore[arg-type]  # two names are not for programs
_register_vmap(_apply_to_examples)
