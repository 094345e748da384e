"""What an op is, how one is declared, and the door through which each call of one goes.

>>> from minitorch_compile.tensor import ops
>>> ops.add.name, ops.add.kind
('add', 'pointwise')
"""
