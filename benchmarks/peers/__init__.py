"""Side by side with PyTorch and its compiler: kernels and models, each written once and run by both libraries.

    TORCH_PYTHON=/path/to/python make bench-peers

`row` says what a row of the table is, `programs` holds the programs, `worker` is the process that one library runs in
and `process` its other end, `measure` lets two of them take turns, `table` prints what came out, `versions` of what it
came, and `comparison` what has changed since another run.
"""
