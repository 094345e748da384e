"""Trackers of tensors, of the operations on them, and of numbers whose values stay open."""
