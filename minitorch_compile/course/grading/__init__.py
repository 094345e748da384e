"""Points, progress and hints: what is told about all the exercises, and what is remembered of them."""
