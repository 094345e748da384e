"""The update rules as functions of tensors: no optimizer object, no module, nothing changed in place.

Each takes the parameters, their gradients and their states as lists, and returns the new parameters and the new states.
The optimizers store the results; a compiled training step can call the same functions.

>>> from minitorch_compile import tensor
>>> params, momenta = sgd([tensor([1.0])], [tensor([0.5])], [None], lr=0.1)
>>> params
[tensor([0.9500])]
"""

from minitorch_compile.optim.functional.adam_family import (
    AdamaxState,
    AdamState,
    NAdamState,
    RAdamState,
    adam,
    adamax,
    adamw,
    nadam,
    radam,
)
from minitorch_compile.optim.functional.adaptive import (
    AdadeltaState,
    AdagradState,
    RMSpropState,
    adadelta,
    adagrad,
    rmsprop,
)
from minitorch_compile.optim.functional.descent import (
    ASGDState,
    LionState,
    RpropState,
    SGDState,
    asgd,
    lion,
    rprop,
    sgd,
)

__all__ = [
    "ASGDState",
    "AdadeltaState",
    "AdagradState",
    "AdamState",
    "AdamaxState",
    "LionState",
    "NAdamState",
    "RAdamState",
    "RMSpropState",
    "RpropState",
    "SGDState",
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "asgd",
    "lion",
    "nadam",
    "radam",
    "rmsprop",
    "rprop",
    "sgd",
]
