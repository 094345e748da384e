"""The judgement of every exercise, one module a lesson."""
