"""Cutting the joint graph in two, and what that saves or computes again."""
