"""torch.linalg: linear algebra on stacks of matrices.

>>> from minitorch_compile.tensor import tensor
>>> A = tensor([[2.0, 1.0], [1.0, 3.0]])
>>> solve(A, tensor([3.0, 4.0])), det(A)
(tensor([1., 1.]), tensor(5.))
"""

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.ops.matrix_kernels import LinAlgError

cholesky = ops.linalg_cholesky
cholesky_ex = ops.linalg_cholesky_ex
cond = ops.linalg_cond
cross = ops.linalg_cross
det = ops.linalg_det
diagonal = ops.linalg_diagonal
eig = ops.linalg_eig
eigh = ops.linalg_eigh
eigvals = ops.linalg_eigvals
eigvalsh = ops.linalg_eigvalsh
householder_product = ops.linalg_householder_product
inv = ops.linalg_inv
inv_ex = ops.linalg_inv_ex
lstsq = ops.linalg_lstsq
lu = ops.linalg_lu
lu_factor = ops.linalg_lu_factor
lu_solve = ops.linalg_lu_solve
matmul = ops.matmul
matrix_exp = ops.linalg_matrix_exp
matrix_norm = ops.linalg_matrix_norm
matrix_power = ops.matrix_power
matrix_rank = ops.linalg_matrix_rank
multi_dot = ops.linalg_multi_dot
norm = ops.linalg_norm
pinv = ops.linalg_pinv
qr = ops.linalg_qr
slogdet = ops.linalg_slogdet
solve = ops.linalg_solve
solve_triangular = ops.linalg_solve_triangular
svd = ops.linalg_svd
svdvals = ops.linalg_svdvals
tensorinv = ops.linalg_tensorinv
tensorsolve = ops.linalg_tensorsolve
vander = ops.linalg_vander
vecdot = ops.linalg_vecdot
vector_norm = ops.linalg_vector_norm

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
