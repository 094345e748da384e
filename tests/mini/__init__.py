"""The stack that a learner writes, in its reference solution."""
