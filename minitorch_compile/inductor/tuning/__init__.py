"""Choosing among ways to compute something by timing them, and remembering the answer."""
