"""Frames that nobody decorated: the frame hook, and what plainly run frames call."""
