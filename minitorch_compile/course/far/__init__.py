"""Two processes that use each other's objects: the one that judges, and the one with the learner's code."""
