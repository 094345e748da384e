"""Small programs, timed eagerly and compiled: `python -m benchmarks`, or `make bench`."""
