"""`mini`, the small package that a learner writes step by step: its files cut into steps, and put together again."""
