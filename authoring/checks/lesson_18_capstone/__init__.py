"""Lesson 18: one's own stack under real models: what becomes of a program, where it gives up, how near it is."""

from .few_bytes import FEW_BYTES
from .gives_up import GIVES_UP
from .how_near import HOW_NEAR
from .row_by_row import ROW_BY_ROW
from .steps_to_predict import STEPS_TO_PREDICT

TITLE = "18 Capstone: your own stack trains"
EXERCISES = (STEPS_TO_PREDICT, GIVES_UP, HOW_NEAR, FEW_BYTES, ROW_BY_ROW)
