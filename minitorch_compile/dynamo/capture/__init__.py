"""The symbolic interpreter: from the instructions of a frame to a graph, guards and side effects."""
