"""Lesson 09: a training loop, the keys of a state, first weights; and the steps of `mini/nn.py`."""

from .own_adam import OWN_ADAM
from .own_ids import OWN_IDS
from .own_images import OWN_IMAGES
from .own_layers import OWN_LAYERS
from .own_modules import OWN_MODULES
from .state_keys import KEYS
from .training_loop import LOOP
from .weights_to_par import WEIGHTS

TITLE = "09 nn, optim, a real classifier"
EXERCISES = (
    *(LOOP, KEYS, WEIGHTS),
    *(OWN_MODULES, OWN_LAYERS, OWN_IDS, OWN_IMAGES, OWN_ADAM),
)
