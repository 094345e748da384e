"""Trackers of functions: a call is traced in place, or refused with a reason."""
