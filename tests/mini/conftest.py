"""`import mini` finds the reference solution, as it finds `work/mini` in a learner's notebook."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "authoring"))
