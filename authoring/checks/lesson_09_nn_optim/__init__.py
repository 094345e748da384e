"""Lesson 09: modules, optimizers, and a training loop."""

from .adamw_step import ADAMW
from .state_keys import KEYS
from .training_loop import LOOP
from .walk import WALK
from .weights_to_par import WEIGHTS

TITLE = "09 nn, optim, a real classifier"
EXERCISES = (WALK, ADAMW, LOOP, KEYS, WEIGHTS)
