"""Eager operations on a GPU: each is a graph of one op, lowered like any other, and kept."""
