"""`torch._functorch` and `functorch`: function transforms, and ahead-of-time autograd for programs that call it."""

from minitorch_compile._functorch import aot_autograd, compilers, partitioners
from minitorch_compile._functorch.make_functional import (
    FunctionalModule,
    FunctionalModuleWithBuffers,
    combine_state_for_ensemble,
    make_functional,
    make_functional_with_buffers,
)
from minitorch_compile.aot.make_fx import make_fx
from minitorch_compile.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)
