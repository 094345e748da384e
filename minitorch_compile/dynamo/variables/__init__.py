"""Trackers: what stands for each kind of Python value while a function is traced. Start with base.py."""
