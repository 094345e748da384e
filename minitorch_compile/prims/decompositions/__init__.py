"""One decomposition for each op that is not a prim. Importing this package fills the table."""

from minitorch_compile.prims.decompositions import (
    activation,
    complex_numbers,
    contraction,
    convolution,
    creation,
    ctc,
    elementary,
    indexing,
    joining,
    linear_algebra,
    normalization,
    pointwise,
    pooling,
    random,
    reduction,
    scan,
    special_functions,
    view,
)
