"""One decomposition for each op that is not a prim. Importing this package fills the table."""

from minitorch_compile.prims.decompositions import (
    activation,
    contraction,
    convolution,
    creation,
    indexing,
    joining,
    normalization,
    pointwise,
    random,
    reduction,
    view,
)
