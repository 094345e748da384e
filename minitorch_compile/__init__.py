"""minitorch_compile: the PyTorch 2 compile stack in readable Python.

The names here are PyTorch's: a program written for PyTorch runs after its imports are swapped. What is
imported below is public, and so is every op that is declared to be visible here (`tensor/dispatch/declare.py`).
`__init__.pyi` lists all for editors and type checkers (`tools/stubs.py`).

>>> import minitorch_compile as torch
>>> torch.tensor([1.0, 2.0]).sum()
tensor(3.)
"""

# The first, since it sees to how all others are made.
from minitorch_compile import own_builtins

# isort: split
from math import e, inf, nan, pi

from minitorch_compile import (
    _C,
    __config__,
    _dynamo,
    _functorch,
    _inductor,
    _logging,
    _subclasses,
    _tensor_str,
    _utils,
    accelerator,
    amp,
    ao,
    autograd,
    backends,
    compiler,
    cpu,
    cuda,
    distributed,
    distributions,
    export,
    fft,
    func,
    functional,
    futures,
    hub,
    interop,
    jit,
    library,
    linalg,
    masked,
    mps,
    mtia,
    multiprocessing,
    nn,
    onnx,
    ops,
    optim,
    overrides,
    profiler,
    quasirandom,
    random,
    signal,
    sparse,
    special,
    testing,
    types,
    utils,
    version,
    xpu,
)
from minitorch_compile._C import TensorType
from minitorch_compile.accelerator import Event, Stream, get_device_module
from minitorch_compile.amp import (
    GradScaler,
    autocast,
    clear_autocast_cache,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from minitorch_compile.autograd import is_anomaly_check_nan_enabled, is_anomaly_enabled
from minitorch_compile.compiler import compile, explain, list_backends, list_mode_options, list_options
from minitorch_compile.cuda import OutOfMemoryError
from minitorch_compile.func import vmap
from minitorch_compile.func.control_flow import cond, while_loop
from minitorch_compile.futures import Future
from minitorch_compile.jit import ScriptFunction, ScriptModule, fork, wait
from minitorch_compile.library import Tag
from minitorch_compile.nn.functional.embedding import embedding_bag_with_places as embedding_bag
from minitorch_compile.random import default_generator, get_rng_state, initial_seed, seed, set_rng_state
from minitorch_compile.serialization import PyTorchFileReader, load, save
from minitorch_compile.sparse import sparse_coo_tensor, sparse_csr_tensor
from minitorch_compile.sparse.compressed_indices import (
    _convert_indices_from_coo_to_csr,
    _convert_indices_from_csr_to_coo,
)
from minitorch_compile.symbolic import (
    SymBool,
    SymFloat,
    SymInt,
    sym_float,
    sym_int,
    sym_ite,
    sym_max,
    sym_min,
    sym_not,
    sym_sum,
)
from minitorch_compile.tensor import (
    Generator,
    Op,
    Size,
    Tensor,
    as_tensor,
    device,
    dtype,
    enable_grad,
    float16,
    float32,
    float64,
    from_numpy,
    get_default_dtype,
    inference_mode,
    int8,
    int16,
    int32,
    int64,
    is_grad_enabled,
    is_inference,
    is_inference_mode_enabled,
    manual_seed,
    no_grad,
    promote_types,
    set_default_dtype,
    set_grad_enabled,
    tensor,
    uint8,
)
from minitorch_compile.tensor import (
    bool_ as bool,
)
from minitorch_compile.tensor.cpu.thread_count import (
    get_num_interop_threads,
    get_num_threads,
    set_num_interop_threads,
    set_num_threads,
)
from minitorch_compile.tensor.functions.call_of_to import _parse_to
from minitorch_compile.tensor.functions.checks import (
    _assert,
    _assert_async,
    _check,
    _check_index,
    _check_is_size,
    _check_not_implemented,
    _check_tensor_all,
    _check_tensor_all_with,
    _check_type,
    _check_value,
    _check_with,
)
from minitorch_compile.tensor.functions.foreach import FOREACH
from minitorch_compile.tensor.functions.index_put import index_put, index_put_
from minitorch_compile.tensor.functions.low_rank import pca_lowrank, svd_lowrank
from minitorch_compile.tensor.functions.old_names import (
    _cast_Byte,
    _cast_Char,
    _cast_Double,
    _cast_Float,
    _cast_Half,
    _cast_Int,
    _cast_Long,
    _cast_Short,
    _shape_as_tensor,
    _softmax_backward_data,
    solve,
)
from minitorch_compile.tensor.functions.predicates import (
    is_complex,
    is_conj,
    is_floating_point,
    is_neg,
    is_nonzero,
    is_same_size,
    is_signed,
    is_storage,
    is_tensor,
    numel,
    result_type,
)
from minitorch_compile.tensor.functions.settings import (
    are_deterministic_algorithms_enabled,
    get_default_device,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled,
    set_default_device,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    typename,
    use_deterministic_algorithms,
)
from minitorch_compile.tensor.memory.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    jagged,
    layout,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from minitorch_compile.tensor.memory.typed_storage import (
    TypedStorage,
    UntypedStorage,
)
from minitorch_compile.tensor.numerics.dtype import (
    bfloat16,
    can_cast,
    complex32,
    complex64,
    complex128,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    uint16,
    uint32,
    uint64,
)
from minitorch_compile.tensor.numerics.numeric_limits import finfo, iinfo
from minitorch_compile.tensor.ops import return_types, visible_in
from minitorch_compile.tensor.ops.construct import (
    asarray,
    frombuffer,
)
from minitorch_compile.tensor.ops.reshaping import (
    broadcast_shapes,
)
from minitorch_compile.tensor.tensor_class.exchange import from_dlpack
from minitorch_compile.tensor.tensor_class.legacy_types import (
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from minitorch_compile.tensor.tensor_class.printing import get_printoptions, printoptions, set_printoptions
from minitorch_compile.version import __version__

_C._get_tracing_state = jit.is_tracing
compiler.config = _dynamo.compiler_config
_C._nn = nn.functional  # where PyTorch has those of them that are built in
nn.functional._parse_to = _parse_to
legacy_contiguous_format = contiguous_format
double = float64
float = float32
half = float16
chalf = complex32
cfloat = complex64
cdouble = complex128
long = int64
int = int32
short = int16
globals().update(visible_in("torch") | FOREACH)
del visible_in, FOREACH

newaxis = None  # x[:, torch.newaxis]
