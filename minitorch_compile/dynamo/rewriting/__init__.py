"""The function that runs instead of the traced one: its code, and the rest of it after a graph break."""
