"""torch.linalg: linear algebra on stacks of matrices.

>>> from minitorch_compile.tensor import tensor
>>> A = tensor([[2.0, 1.0], [1.0, 3.0]])
>>> solve(A, tensor([3.0, 4.0])), det(A)
(tensor([1., 1.]), tensor(5.))
"""

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.ops.matrix_kernels import LinAlgError as LinAlgError

matmul = ops.matmul
matrix_power = ops.matrix_power

globals().update(ops.visible_in("linalg"))
__all__ = sorted(["LinAlgError", "matmul", "matrix_power", *ops.visible_in("linalg")])
