"""Side by side with PyTorch and its compiler: kernels and models, each written once and run by both libraries.

    TORCH_PYTHON=/path/to/python make bench-peers

`row` says what a row of the table is, `programs` holds the programs, `worker` is the process that one library runs in,
`measure` lets two of them take turns, `table` prints what came out.
"""
