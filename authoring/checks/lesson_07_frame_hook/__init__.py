"""Lesson 07: slots, frames, hidden tensors, a hook that remembers, a prediction; and the steps of `mini/frames.py`."""

from .answered_calls import ANSWERED_CALLS
from .argument_slots import ARGUMENT_SLOTS
from .behind_calls import BEHIND_CALLS
from .captured_functions import CAPTURED_FUNCTIONS
from .hidden_tensors import HIDDEN_TENSORS
from .on_and_off import ON_AND_OFF
from .ordinary_frames import ORDINARY_FRAMES
from .own_hook import OWN_HOOK
from .remembering_hook import REMEMBERING_HOOK
from .worth_taking import WORTH_TAKING

TITLE = "07 the frame hook"
EXERCISES = (
    ARGUMENT_SLOTS,
    ORDINARY_FRAMES,
    HIDDEN_TENSORS,
    REMEMBERING_HOOK,
    CAPTURED_FUNCTIONS,
    BEHIND_CALLS,
    WORTH_TAKING,
    ON_AND_OFF,
    OWN_HOOK,
    ANSWERED_CALLS,
)
