"""The two streams of random numbers, and the generator that reads one of them.

>>> from minitorch_compile.tensor.random.generator import Generator
>>> Generator().manual_seed(7).initial_seed()
7
"""
