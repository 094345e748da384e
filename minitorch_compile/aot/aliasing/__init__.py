"""Tensors that share memory, as functions of values: what a write through one of them does to the others."""
