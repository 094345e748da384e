"""Trackers of classes and their objects: where an attribute is found, and what a store changes."""
