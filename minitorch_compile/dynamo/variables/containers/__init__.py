"""Trackers of lists, tuples, dicts, sets, deques, and of what iterates over them."""
