"""The judgement of every exercise, one package a lesson and one module an exercise."""
