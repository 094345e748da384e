"""The signature of an op as its user sees it: PyTorch's, with what is given by keyword only, `out=` and where it lies.

A kernel says which parameters there are; interpreters hand them over by position. Its user may give some by keyword
only, may say where the result goes, and, of a factory, on which device and in which layout it is made. `help`,
`inspect.signature`, editors and the stubs show this signature.

>>> from minitorch_compile.tensor import ops
>>> print(as_function(ops.add)), print(as_method(ops.add))
(input, other, *, alpha=1, out=None)
(self, other, *, alpha=1)
(None, None)
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import Parameter, Signature
from typing import TYPE_CHECKING

from minitorch_compile.tensor.dispatch.written_signatures import written

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op

# What kernels take by position and users give by keyword; in some ops only.
KEYWORDS = frozenset(
    ("alpha", "beta", "generator", "rounding_mode", "dtype", "stable", "interpolation", "decimals", "sparse_grad")
)
KEYWORDS_OF = {
    **dict.fromkeys(("addcmul", "addcdiv", "addcmul_", "addcdiv_"), ("value",)),
    **dict.fromkeys(("clone", "resize_", "resize_as_"), ("memory_format",)),
    **dict.fromkeys(("trapezoid", "trapz", "cumulative_trapezoid"), ("dx", "dim")),
}
POSITIONS_OF = {
    **dict.fromkeys(("binomial", "poisson"), ("generator",)),
    **dict.fromkeys(("elu_", "torch.celu_", "hamming_window", "kaiser_window"), ("alpha", "beta")),
}
# Ops that PyTorch stores nowhere but in a new tensor: what they return is a view, several tensors, or no tensor.
WITHOUT_OUT = frozenset(
    """
    adaptive_avg_pool1d adaptive_max_pool1d adjoint allclose alpha_dropout argwhere as_strided_scatter atleast_1d
    atleast_2d atleast_3d avg_pool1d bartlett_window batch_norm bilinear bincount binomial blackman_window
    block_diag broadcast_tensors broadcast_to cartesian_prod cdist celu channel_shuffle chunk clone combinations
    conj constant_pad_nd conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d corrcoef
    cosine_similarity count_nonzero cov cumulative_trapezoid det diag_embed diagflat diagonal_scatter dist dropout
    dsplit einsum empty_like empty_permuted empty_strided equal feature_alpha_dropout feature_dropout fft_fftshift
    fft_ifftshift fill flatten flip fliplr flipud full_like gradient group_norm gru_cell hamming_window hann_window
    hsplit imag index_fill instance_norm isclose isfinite isinf isnan isreal istft kaiser_window layer_norm
    linalg_diagonal linalg_matrix_exp linalg_vander logdet lstm_cell masked_fill masked_scatter matrix_exp
    max_pool1d max_pool1d_with_indices max_pool2d max_pool3d meshgrid moveaxis movedim narrow native_channel_shuffle
    ones_like pairwise_distance pdist pinverse pixel_shuffle pixel_unshuffle poisson positive prelu put rand_like
    randint_like randn_like ravel real relu repeat_interleave reshape resolve_conj resolve_neg rms_norm
    rnn_relu_cell rnn_tanh_cell roll rot90 rrelu rsub scalar_tensor select_scatter selu special_log_softmax
    special_softmax split split_with_sizes spmm stft swapaxes swapdims tensor_split tile trace trapezoid trapz
    tril_indices triu_indices unbind unflatten unique_consecutive unravel_index unsafe_chunk unsafe_split
    unsafe_split_with_sizes vander vsplit zeros_like
    """.split()  # noqa: SIM905
)
NO_OUT = frozenset(("view", "inplace"))
WITH_OUT = frozenset(("torch", "linalg", "fft", "special"))


def as_function(op: Op) -> Signature:
    """`torch.add(input, other, *, alpha=1, out=None)`; of a prim, what its kernel takes."""
    return op.own_signature if "prims" in op.namespaces else _bare(function_parameters(op))


def as_method(op: Op) -> Signature:
    """`Tensor.add(self, other, *, alpha=1)`."""
    return _bare(method_parameters(op))


def function_parameters(op: Op) -> list[Parameter]:
    """Its parameters with their annotations, those by position first."""
    said = written(op.name, method=False)
    return _annotated(op, said) if said else sorted(_parameters(op, takes_out(op)), key=_kind)


def method_parameters(op: Op) -> list[Parameter]:
    """Likewise; sizes and dimensions are given one by one, or as one tuple."""
    if said := written(op.name, method=True):
        return _annotated(op, said)
    myself, *others = _parameters(op, False)
    if op.gather_dims:
        others = [others[0].replace(kind=Parameter.VAR_POSITIONAL, annotation="Any")]
    return [myself.replace(name="self"), *sorted(others, key=_kind)]


def _annotated(op: Op, said: Signature) -> list[Parameter]:
    """The parameters of a signature that is written down, annotated as the kernel's of the same name."""
    own = op.own_signature.parameters
    return [p.replace(annotation=own[n].annotation if n in own else "Any") for n, p in said.parameters.items()]


def _bare(parameters: list[Parameter]) -> Signature:
    """What PyTorch's own functions say has no annotations."""
    return Signature([parameter.replace(annotation=Parameter.empty) for parameter in parameters])


def _kind(parameter: Parameter) -> int:
    return parameter.kind


def takes_out(op: Op) -> bool:
    """Whether `out=` says where the result goes."""
    if op.kind in NO_OUT or not op.namespaces & WITH_OUT:
        return False
    return op.name.removeprefix("F.") not in WITHOUT_OUT and not op.name.endswith("_")


def _parameters(op: Op, out: bool) -> Iterator[Parameter]:
    own = op.own_signature.parameters
    for name, parameter in own.items():
        if name == "options" and parameter.kind is Parameter.VAR_KEYWORD:
            yield from (each for each in _options() if each.name not in own)
        elif name == "size" and "sizes" in own:  # which `*size` stands for
            continue
        elif name == "sizes" and parameter.kind is Parameter.VAR_POSITIONAL:
            yield parameter.replace(name="size")
        elif by_keyword(op, parameter):
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        else:
            yield parameter
    if op.kind == "creation" and "options" not in own:
        yield from _options()
    if out:
        yield Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation="Any")


def _options() -> Iterator[Parameter]:
    """What every factory takes."""
    for name, default in OPTIONS:
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation="Any")


OPTIONS = (("layout", None), ("device", None), ("pin_memory", False), ("requires_grad", False))


def by_keyword(op: Op, parameter: Parameter) -> bool:
    """Whether a parameter that the kernel takes by position is given by keyword only."""
    if parameter.default is Parameter.empty or "functional" in op.namespaces:
        return False
    name = parameter.name
    return (name in KEYWORDS or name in KEYWORDS_OF.get(op.name, ())) and name not in POSITIONS_OF.get(op.name, ())


class MethodFace:
    """What `inspect` and editors see of a method that is made from an op: made when somebody looks."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.__wrapped__ = op.kernel  # whose source is shown

    @property
    def __signature__(self) -> Signature:
        return as_method(self.op)
