"""Judge an exercise in a process of its own, and say what was found."""
