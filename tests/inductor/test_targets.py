"""Every target gives what the NumPy kernels of the prims give."""

import numpy as np
import pytest

from minitorch_compile import config
from minitorch_compile.fx import Graph, GraphModule
from minitorch_compile.inductor import compile_graph
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.numerics.dtype import bfloat16, float32
from minitorch_compile.tensor.tensor_base import empty_fake, wrap
from tests.inductor.prim_graphs import assert_close, expected, record, tensors_of
from tests.inductor.programs import PROGRAMS, floats


@pytest.mark.parametrize("target", ["loops", "cpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_programs_give_what_prims_give(name, target):
    function, arrays = PROGRAMS[name]
    tensors = tensors_of(arrays)
    module = record(function, tensors)
    results = compile_graph(module, target=target)(*tensors)
    for place, (result, reference) in enumerate(zip(results, expected(module, tensors))):
        assert_close(result.array, reference, f"output {place}")


def test_an_unknown_target_is_refused_with_the_list():
    module = record(lambda p, x: p.neg(x), tensors_of([[1.0]]))
    with pytest.raises(ValueError, match="no target named 'gpu'. Choose one of: loops, cpu"):
        compile_graph(module, target="gpu")


def test_a_graph_of_ops_that_are_not_prims_is_refused():
    graph = Graph()
    x = graph.placeholder("x")
    x.meta["val"] = tensors_of([[1.0]])[0]
    graph.output((graph.call_function(ops.relu, (x,)),))
    with pytest.raises(TypeError, match="'relu' calls ops.relu, which is not a prim; run prims.decompose"):
        compile_graph(GraphModule({}, graph))


@pytest.mark.parametrize("target", ["loops", "cpu", "cuda_sim"])
def test_an_index_out_of_range_raises_pytorchs_class(target):
    choose = tensors_of([np.arange(4.0), np.array([0, 9])])
    by_index = compile_graph(record(lambda p, x, i: p.index(x, (i,)), choose), target=target)
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension with size 4"):
        by_index(*choose)
    gathered = compile_graph(record(lambda p, x, i: p.gather(x, 0, i), choose), target=target)
    with pytest.raises(RuntimeError, match="index 9 is out of bounds for dimension with size 4"):
        gathered(*choose)


@pytest.mark.parametrize("target", ["loops", "cpu", "cuda_sim"])
def test_an_input_with_other_strides_or_an_offset_gives_the_same(target):
    x = floats(6, 5)
    run = compile_graph(record(lambda p, t: p.exp(t), tensors_of([x])), target=target)
    for other in (wrap(x.T.copy().T), wrap(np.vstack([x, x])).as_view((6, 5), (5, 1), 30), wrap(np.tile(x, 2)[:, :5])):
        assert_close(run(other)[0].array, np.exp(x))
    with pytest.raises(RuntimeError, match=r"compiled for sizes \[6, 5\], but the tensor has sizes \[5, 6\]"):
        run(wrap(floats(5, 6)))


@pytest.mark.parametrize("target", ["loops", "cpu", "cuda_sim"])
def test_outputs_have_the_strides_that_the_output_node_asks_for(target):
    tensors = tensors_of([floats(4, 6)])
    module = record(lambda p, x: (p.exp(x), p.neg(x), p.broadcast_in_dim(p.sum(x, (1,)), (4, 6), (0,))), tensors)
    wanted = [(1, 4), (6, 1), (1, 0)]
    node = module.graph.output_node()
    node.meta["val"] = tuple(empty_fake(v.sizes, s, v.dtype) for v, s in zip(node.meta["val"], wanted))
    results = compile_graph(module, target=target)(*tensors)
    assert [r.strides for r in results] == wanted
    for result, reference in zip(results, expected(module, tensors)):
        assert_close(result.array, reference)


def test_an_unsupported_dtype_is_a_clear_error():
    numbers = tensors_of([np.ones(3, np.complex64)])
    with pytest.raises(NotImplementedError, match="don't support torch.complex64 yet; convert to float32"):
        compile_graph(record(lambda p, x: p.add(x, x), numbers))


def test_half_floats_are_rounded_only_where_they_are_stored_unless_asked():
    x = np.full(4, 1 + 2**-10, np.float16)
    module = record(lambda p, x: p.sub(p.mul(x, x), x), tensors_of([x]))
    exact = (x.astype(np.float32) ** 2 - x.astype(np.float32)).astype(np.float16)
    assert np.array_equal(compile_graph(module)(*tensors_of([x]))[0].array, exact)
    with config.patch(emulate_precision_casts=True):
        assert np.array_equal(compile_graph(module)(*tensors_of([x]))[0].array, x * x - x)
    assert not np.array_equal(x * x - x, exact)


@pytest.mark.parametrize("target", ["loops", "cpu"])
def test_what_a_program_converts_to_half_floats_is_rounded(target):
    x = np.array([1.001, 2.003], np.float32)
    module = record(lambda p, x: p.convert_element_type(p.convert_element_type(x, bfloat16), float32), tensors_of([x]))
    (result,) = compile_graph(module, target=target)(*tensors_of([x]))
    assert result.array.tolist() == [1.0, 2.0]
