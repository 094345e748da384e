"""Tests of utils: datasets and their loading, gradient checkpoints."""
