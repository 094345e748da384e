"""Lesson 07: hidden tensors, a hook that remembers, a prediction; and the steps of `mini/frames.py`."""

from .answered_calls import ANSWERED_CALLS
from .captured_functions import CAPTURED_FUNCTIONS
from .hidden_tensors import HIDDEN_TENSORS
from .own_hook import OWN_HOOK
from .remembering_hook import REMEMBERING_HOOK
from .worth_taking import WORTH_TAKING

TITLE = "07 the frame hook"
EXERCISES = (
    HIDDEN_TENSORS,
    REMEMBERING_HOOK,
    CAPTURED_FUNCTIONS,
    WORTH_TAKING,
    OWN_HOOK,
    ANSWERED_CALLS,
)
