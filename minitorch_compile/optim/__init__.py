"""Optimizers: each a thin object over an update rule in `functional`.

>>> from minitorch_compile import nn, optim
>>> optim.AdamW(nn.Linear(2, 2).parameters(), lr=3e-4)
AdamW (
Parameter Group 0
    amsgrad: False
    betas: (0.9, 0.999)
    capturable: False
    decoupled_weight_decay: True
    differentiable: False
    eps: 1e-08
    foreach: None
    fused: None
    lr: 0.0003
    maximize: False
    weight_decay: 0.01
)
"""

from minitorch_compile.optim import functional, lr_scheduler, swa_utils
from minitorch_compile.optim.adadelta import Adadelta
from minitorch_compile.optim.adafactor import Adafactor
from minitorch_compile.optim.adagrad import Adagrad
from minitorch_compile.optim.adam import Adam, AdamW
from minitorch_compile.optim.adamax import Adamax
from minitorch_compile.optim.asgd import ASGD
from minitorch_compile.optim.lbfgs import LBFGS
from minitorch_compile.optim.lion import Lion
from minitorch_compile.optim.muon import Muon
from minitorch_compile.optim.nadam import NAdam
from minitorch_compile.optim.optimizer import Optimizer
from minitorch_compile.optim.radam import RAdam
from minitorch_compile.optim.rmsprop import RMSprop
from minitorch_compile.optim.rprop import Rprop
from minitorch_compile.optim.sgd import SGD
from minitorch_compile.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "SparseAdam",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "functional",
    "lr_scheduler",
    "swa_utils",
]
