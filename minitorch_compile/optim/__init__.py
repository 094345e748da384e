"""Optimizers: each a thin object over an update rule in `functional.py`.

>>> from minitorch_compile import nn, optim
>>> optim.AdamW(nn.Linear(2, 2).parameters(), lr=3e-4)
AdamW (
Parameter Group 0
    amsgrad: False
    betas: (0.9, 0.999)
    capturable: False
    eps: 1e-08
    lr: 0.0003
    maximize: False
    weight_decay: 0.01
)
"""

from minitorch_compile.optim import functional, lr_scheduler
from minitorch_compile.optim.adam import Adam, AdamW
from minitorch_compile.optim.optimizer import Optimizer
from minitorch_compile.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "functional", "lr_scheduler"]
