"""Lesson 07: slots, frames that can be captured, hidden tensors, a hook that remembers, and a prediction."""

from .argument_slots import ARGUMENT_SLOTS
from .captured_functions import CAPTURED_FUNCTIONS
from .hidden_tensors import HIDDEN_TENSORS
from .ordinary_frames import ORDINARY_FRAMES
from .remembering_hook import REMEMBERING_HOOK

TITLE = "07 the frame hook"
EXERCISES = (ARGUMENT_SLOTS, ORDINARY_FRAMES, HIDDEN_TENSORS, REMEMBERING_HOOK, CAPTURED_FUNCTIONS)
