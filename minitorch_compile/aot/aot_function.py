"""Ahead-of-time autograd: a captured graph, made functional, differentiated, cut in two, compiled, put together again.

>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.tensor import tensor
>>> def show(graph_module, example_inputs):
...     print(graph_module.graph.compact())
...     return graph_module
>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> compiled = aot_function(symbolic_trace(lambda x: (x.sin() * 2,)), [x], show, show)
x -> (mul(sin(x), 2),)
>>> (y,) = compiled(x)
>>> y.sum().backward()
x, tangents_0 -> (mul(mul(tangents_0, 2), cos(x)),)
>>> x.grad
tensor([ 1.0806, -0.8323])

The stages, each in its file: functional_program (no writes, no random state), joint_graph (forward and backward),
passes, partition, call_compiler, compiled_function (one node on the tape), and here what happens around them on each
call: arguments are overwritten, views are made, random numbers reserved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile import logs
from minitorch_compile.amp.autocast_state import dtypes_as_given
from minitorch_compile.amp.autocast_state import state as casts
from minitorch_compile.aot.aliasing.argument_layouts import ForEachLayout
from minitorch_compile.aot.aliasing.shared_memory import Sharing
from minitorch_compile.aot.backward_in_graph import with_recomputation
from minitorch_compile.aot.call_compiler import RESULTS_FOR_CALLER, WRITTEN_BACK, CompiledGraph, Compiler, call_compiler
from minitorch_compile.aot.compiled_function import CompiledFunction, Differentiation
from minitorch_compile.aot.custom_calls import dissolved
from minitorch_compile.aot.cut_at_data import CutAtData
from minitorch_compile.aot.double_backward import PlainProgram
from minitorch_compile.aot.functional_program import FunctionalProgram, Mutation, functional_program
from minitorch_compile.aot.gradient_sources import tangents_of_gradients
from minitorch_compile.aot.joint_graph import JointGraph, trace_joint
from minitorch_compile.aot.keep_history import without_history
from minitorch_compile.aot.lift_constants import lift_constants
from minitorch_compile.aot.output_plan import FromGraph, make_all, with_sizes
from minitorch_compile.aot.partitioning.partition import Partition, PartitionFunction, default_partition
from minitorch_compile.aot.passes import custom_pass, simplify
from minitorch_compile.aot.seeded_random import as_tensors
from minitorch_compile.aot.size_values import with_values
from minitorch_compile.aot.unknown_floats import ForAllFloats
from minitorch_compile.dynamo.fakes.fallible_operations import may_raise
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.size_nodes import has_plain_calls
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.symbolic import SymFloat
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.argument_devices import device_of
from minitorch_compile.tensor.dispatch.dispatch import contexts
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.grad_mode import is_grad_enabled, no_grad, set_grad_enabled, state
from minitorch_compile.tensor.memory.device import device, no_default_device
from minitorch_compile.tensor.random.generator import generator_of
from minitorch_compile.tensor.tensor_base import TensorBase

Rewrite = Callable[[GraphModule], GraphModule]

_log_joint = logs.artifact("aot_joint_graph")
_log_graphs = logs.artifact("aot_graphs")
_log_partition = logs.artifact("partition")

copy_ = ops.table["copy_"]


def aot_function(
    captured: GraphModule,
    example_inputs: Sequence[TensorBase],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: PartitionFunction = default_partition,
    decompose: Rewrite | None = None,
    before_autograd: Rewrite | None = None,
) -> CompiledGraph:
    """A function like the captured graph, compiled.

    `example_inputs` (fake tensors will do) say what the arguments look like and which of them require grad. A compiler
    gets a functional graph and example inputs, and returns a function from tensors to a tuple of tensors. bw_compiler
    is fw_compiler unless given, and is called when the first backward pass is. `decompose` rewrites the graph of ops,
    forward and backward together, for instance to prims; `before_autograd` the functional program, before it is
    differentiated. Compiled for the grad mode that is on now, and for autocast as it stands: its casts are in the
    graphs.
    """
    compilers = fw_compiler, bw_compiler, partition_fn, decompose, before_autograd
    if has_plain_calls(captured.graph):
        return CutAtData(captured, example_inputs, lambda part, examples: aot_function(part, examples, *compilers))
    if any(isinstance(x, SymFloat) for x in example_inputs):
        return ForAllFloats(lambda part, examples: aot_function(part, examples, *compilers), captured, example_inputs)
    bw_compiler = bw_compiler or fw_compiler
    compile_program = _compile
    if casts.casts_to:
        compile_program = dtypes_as_given()(_compile)
        fw_compiler, bw_compiler = _called_uncast(fw_compiler), _called_uncast(bw_compiler)
    lifted, constants = lift_constants(captured) if captured.attributes else (captured, [])
    grad_mode = is_grad_enabled()

    inputs = [*example_inputs, *constants]

    def compile_for(inputs: Sequence[Any], sharing: Sharing | None = None) -> tuple[FunctionalProgram, CompiledGraph]:
        with set_grad_enabled(grad_mode):
            program = functional_program(lifted, inputs, sharing)
            everything = [*inputs, *(sharing.bases if sharing else ())]
            with no_default_device():
                if before_autograd is not None:
                    program.graph_module = before_autograd(program.graph_module)
                compiled = compile_program(program, everything, fw_compiler, bw_compiler, partition_fn, decompose)
            return program, _with_effects(program, compiled)

    program, compiled = compile_for(inputs)
    if program.depends_on_layout:
        plain = lambda *arguments: captured(*arguments[: len(example_inputs)])
        compiled = ForEachLayout(program, compiled, inputs, lambda *like: compile_for(*like)[1], plain)
    if constants:
        body = compiled
        compiled = lambda *arguments: body(*arguments, *constants)
    return compiled


# ---------------------------------------------------------------------------------------------- compiling


def _called_uncast(compiler: Compiler) -> Compiler:
    """The compiler, of whose graphs no call is cast again."""
    return lambda graph_module, example_inputs: dtypes_as_given()(compiler(graph_module, example_inputs))


def _compile(
    program: FunctionalProgram,
    inputs: Sequence[TensorBase],
    fw_compiler: Compiler,
    bw_compiler: Compiler,
    partition_fn: PartitionFunction,
    decompose: Rewrite | None,
) -> CompiledGraph:
    """The functional graph as a function, differentiable if an argument requires grad."""
    differentiated = any(isinstance(x, TensorBase) and x.requires_grad for x in inputs)
    if differentiated and program.records:
        wants_tangent = [m.recorded for m in program.mutations] + [True] * program.graph_output_count
        joint = trace_joint(program.graph_module, wants_tangent)
        if any(joint.differentiable) or joint.refused:
            return _compile_joint(joint, program, fw_compiler, bw_compiler, partition_fn, decompose)
    if program.tells_history:
        without_history(program.graph_module.graph)
    plain = dissolved(program.graph_module) if program.has_custom_calls else program.graph_module
    forward = _rewritten(plain, decompose)
    if program.calls_backward:
        forward = with_recomputation(forward, partition_fn)
    if _log_graphs.is_on:
        _log_graphs(forward.print_readable(print_output=False))
    forward.meta[RESULTS_FOR_CALLER] = len(forward.graph.output_node().args[0])
    # Elsewhere an argument may also be saved for the backward pass, or has to be as it was if an operation fails.
    if program.calls_backward or not any(map(_may_raise, plain.graph.nodes)):
        forward.meta[WRITTEN_BACK] = {position: m.input for position, m in enumerate(program.mutations)}
    compiled = _with_versions(call_compiler(forward, fw_compiler), program)
    # A graph that is run as it is would be recorded.
    return _with_copies(no_grad()(compiled) if differentiated and program.grad_mode else compiled, program)


def _may_raise(node: Node) -> bool:
    """Whether it depends on the data if a node's operation succeeds."""
    values = [x.meta["val"] if isinstance(x, Node) else x for x in node.args]
    return isinstance(node.target, Op) and may_raise(node.target, values)


def _rewritten(graph_module: GraphModule, decompose: Rewrite | None) -> GraphModule:
    """Decomposed and simplified, between the passes that the user may have set."""
    module = custom_pass("joint_custom_pre_pass", graph_module)
    if decompose is not None:
        module = decompose(module)
    return custom_pass("joint_custom_post_pass", simplify(module))


def _compile_joint(
    joint: JointGraph,
    program: FunctionalProgram,
    fw_compiler: Compiler,
    bw_compiler: Compiler,
    partition_fn: PartitionFunction,
    decompose: Rewrite | None,
) -> CompiledFunction:
    joint.graph_module = _rewritten(joint.graph_module, decompose)
    partition = partition_fn(joint)
    _log(joint, partition)
    placeholders = joint.graph_module.graph.find_nodes(op="placeholder")
    tangents = [node.meta["val"] for node in placeholders[joint.input_count :]]
    outputs = [i for i, differentiable in enumerate(joint.differentiable) if differentiable]
    arguments = [node.meta["val"] for node in placeholders[: joint.input_count]]
    wanted = [i for i, x in enumerate(arguments) if isinstance(x, TensorBase) and x.requires_grad]
    returned = joint.graph_module.graph.output_node().args[0][: joint.output_count]
    written = {m.input for m in program.mutations}
    how = Differentiation(
        output_count=joint.output_count,
        inputs=wanted,
        tangents=list(zip(outputs, tangents, strict=True)),
        gradients=[joint.gradients[i] for i in wanted],
        sources=tangents_of_gradients(joint),
        plain=PlainProgram(program.graph_module, outputs, wanted, written, drawn=2 if program.drawn else 0),
        written=written,
        refused=joint.refused,
        switches=not program.grad_mode,
        repeated=[i for i, node in enumerate(returned) if node.op == "placeholder" or node in returned[:i]],
        symbols=[node.meta["val"].expression.only_symbol for node in partition.saved_sizes],
    )
    partition.forward.meta[RESULTS_FOR_CALLER] = joint.output_count
    compiled = _with_versions(call_compiler(partition.forward, fw_compiler), program)
    compile_backward = no_default_device()(lambda: call_compiler(partition.backward, bw_compiler))
    return CompiledFunction(compiled, partition.backward, compile_backward, how)


def _log(joint: JointGraph, partition: Partition) -> None:
    if _log_joint.is_on:
        _log_joint(joint.graph_module.print_readable(print_output=False))
    if _log_graphs.is_on:
        _log_graphs(f"forward\n{partition.forward.print_readable(print_output=False)}")
        _log_graphs(f"backward\n{partition.backward.print_readable(print_output=False)}")
    if _log_partition.is_on:
        _log_partition(str(partition.report))


# ---------------------------------------------------------------------------------------------- calling


def _with_effects(program: FunctionalProgram, compiled: CompiledGraph) -> CompiledGraph:
    """The compiled functional graph with the program's effects around it; itself if there are none."""
    if program.drawn:
        compiled = _with_random_numbers(compiled, program)
    plain = program.outputs == [FromGraph(i) for i in range(program.graph_output_count)]
    is_tuple = program.output_spec.type is tuple and program.output_spec.num_leaves == len(
        program.output_spec.children_specs
    )
    if not plain or not is_tuple or program.mutations:
        compiled = _with_outputs(program, compiled)
    return compiled


def _with_random_numbers(compiled: CompiledGraph, program: FunctionalProgram) -> CompiledGraph:
    """Reserves as many numbers of its device's default stream for each call as the program draws."""
    sizes, drawn, generator = program.sizes, program.drawn, generator_of(_device_of(program))

    def call(*arguments: Any) -> Sequence[Any]:
        seed, offset = generator().advance(with_values(drawn, sizes.at(arguments)) if sizes else drawn)
        return compiled(*arguments, *as_tensors(seed, offset))

    return call


def _device_of(program: FunctionalProgram) -> device:
    values = tree_leaves([node.meta.get("val") for node in program.graph_module.graph.nodes])
    return device_of(x for x in values if isinstance(x, TensorBase))


def _with_versions(compiled: CompiledGraph, program: FunctionalProgram) -> CompiledGraph:
    """Gives results that the program overwrote before it returned them the versions that they would have plainly."""
    if not program.versions:
        return compiled
    versions = tuple(program.versions.items())

    def call(*arguments: Any) -> Sequence[Any]:
        results = compiled(*arguments)
        for position, version in versions:
            results[position].storage.version = version
        return results

    return call


def _with_outputs(program: FunctionalProgram, compiled: CompiledGraph) -> CompiledGraph:
    """Writes back the overwritten arguments, and makes the program's outputs of arguments and results."""
    mutations, plans, spec, sizes = program.mutations, program.outputs, program.output_spec, program.sizes
    count, grad_mode = len(mutations), program.grad_mode

    def call(*arguments: Any) -> Any:
        results = compiled(*arguments)
        for mutation, value in zip(mutations, results, strict=False):
            _write_back(mutation, arguments[mutation.input], value, state.enabled or not grad_mode)
        results = results[count:]
        known = [with_sizes(plan, sizes.at(arguments)) for plan in plans] if sizes else plans
        return spec.unflatten(make_all(known, arguments, results))

    return call


def _with_copies(compiled: CompiledGraph, program: FunctionalProgram) -> CompiledGraph:
    """A graph that may write to arguments itself, called with a copy of each where somebody has to be told of that."""
    mutations, grad_mode = program.mutations, program.grad_mode
    if not mutations:
        return compiled

    def call(*arguments: Any) -> Sequence[Any]:
        recording = state.enabled or not grad_mode
        told = [m.input for m in mutations if _is_told(m, arguments[m.input], recording)]
        return compiled(*(ops.clone(x) if i in told else x for i, x in enumerate(arguments)) if told else arguments)

    return call


def _is_told(mutation: Mutation, argument: Any, recording: bool) -> bool:
    """Whether others than the version counter have to know that an argument is overwritten."""
    owner = argument if argument.base is None else argument.base
    is_recorded = mutation.recorded and recording and (argument.requires_grad or owner.requires_grad)
    return bool(is_recorded or contexts or argument.storage.version < 0)


def _write_back(mutation: Mutation, argument: Any, value: Any, recording: bool) -> None:
    """The effect of all the program's writes to an argument; the graph may have written to it itself."""
    if value is argument:
        argument.storage.version += mutation.writes
        return
    has_history = argument.requires_grad or value.requires_grad or argument.base is not None
    recorded = mutation.recorded and recording and has_history
    if recorded or contexts or argument.is_fake or argument.storage.version < 0:
        with set_grad_enabled(recorded):
            copy_(argument, value)
        argument.storage.version += mutation.writes - 1  # copy_ counted one
    else:  # nobody but the version counter need be told: a training step overwrites hundreds of tensors
        argument.store_result(value)
        argument.storage.version += mutation.writes
