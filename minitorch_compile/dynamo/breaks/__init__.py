"""The catalogue of what breaks a graph."""
