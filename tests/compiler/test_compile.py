"""The face of the compiler: every way to call it, and what it says when it is called wrongly."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile.compiler.pipeline import Inductor
from minitorch_compile.dynamo import region_of
from minitorch_compile.inductor.targets import TARGETS
from tests.compiler.models import MLP


def double(x: torch.Tensor) -> torch.Tensor:
    return x + x


@torch.compile(backend="eager")
def compiled_at_top(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def test_function_decorator_and_decorator_factory() -> None:
    @torch.compile(backend="eager")
    def with_arguments(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    assert torch.compile(double, backend="eager")(torch.ones(2)).tolist() == [2.0, 2.0]
    assert with_arguments(torch.ones(2)).tolist() == [3.0, 3.0]
    assert with_arguments.__name__ == "with_arguments"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"backend": "inducter"}, ValueError, r"no backend named 'inducter'. Did you mean 'inductor'\? Choose one of"),
        ({"backend": 3}, TypeError, "backend must be a name or a callable"),
        ({"mode": "max-autotone"}, ValueError, "no mode named 'max-autotone'.*Choose one of"),
        ({"mode": 1}, TypeError, "mode must be a name"),
        ({"options": {"fuse": 1}}, ValueError, "no option named 'fuse'.*Choose one of"),
        ({"options": 5}, TypeError, "options must be a dict"),
        ({"mode": "default", "options": {}}, RuntimeError, "mode or options"),
        ({"backend": "eager", "mode": "max-autotune"}, RuntimeError, "mode can't be given to"),
        ({"dynamic": "yes"}, TypeError, "dynamic must be"),
        ({"fullgraph": "yes"}, TypeError, "fullgraph must be"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        torch.compile(double, **arguments)


def test_what_cannot_be_called_cannot_be_compiled() -> None:
    with pytest.raises(TypeError, match="model must be callable"):
        torch.compile(3)


def test_errors_of_the_program_are_the_programs_own() -> None:
    compiled = torch.compile(lambda x, y: x @ y)
    with pytest.raises(RuntimeError, match=r"inner sizes differ: input is \[3, 4\], other is \[5, 6\]"):
        compiled(torch.ones(3, 4), torch.ones(5, 6))
    with pytest.raises(RuntimeError, match="same dtype"):
        compiled(torch.ones(3, 4), torch.ones(4, 3, dtype=torch.float64))


def test_disable_gives_the_function_itself() -> None:
    assert torch.compile(double, disable=True) is double


def test_custom_backend_sees_fake_inputs_and_its_result_is_used() -> None:
    seen = []

    def backend(graph: Any, inputs: list[Any]) -> Any:
        seen.append((len(graph.graph.nodes), [i.is_fake for i in inputs]))
        return lambda *real: tuple(out + 1 for out in graph(*real))

    assert torch.compile(double, backend=backend)(torch.ones(2)).tolist() == [3.0, 3.0]
    assert seen == [(3, [True])]


def test_compiled_module_is_the_module_but_for_its_call() -> None:
    model = MLP()
    compiled = torch.compile(model, backend="eager")
    assert isinstance(compiled, MLP)
    assert list(compiled.state_dict()) == [f"_orig_mod.{key}" for key in model.state_dict()]
    compiled.eval()
    assert not model.training
    compiled.load_state_dict({key: torch.zeros(value.shape) for key, value in compiled.state_dict().items()})
    assert all((p == 0).all() for p in model.parameters())
    assert compiled._orig_mod is model
    assert compiled(torch.ones(2, 8)).shape == (2, 3)


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_a_deep_copy_or_an_unpickled_compiled_module_is_compiled_again(backend: str) -> None:
    model = MLP()
    compiled = torch.compile(model, backend=backend)
    x = torch.ones(1, 8)
    expected = compiled(x).detach().numpy()
    for twin in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert type(twin) is type(compiled) and isinstance(twin, MLP)
        assert twin.layers[0].weight is not model.layers[0].weight
        np.testing.assert_array_equal(twin(x).detach().numpy(), expected)
        assert len(region_of(twin).caches) == 1 and region_of(twin) is not region_of(compiled)


def test_a_shallow_copy_of_a_compiled_module_shares_the_module_and_its_code() -> None:
    compiled = torch.compile(MLP(), backend="eager")
    twin = copy.copy(compiled)
    assert twin is not compiled and twin._orig_mod is compiled._orig_mod
    twin(torch.ones(1, 8))
    assert region_of(twin) is region_of(compiled)


def test_a_compiled_module_inside_another_is_copied_with_it() -> None:
    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.compile(MLP(), backend="eager")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x)

    outer = Outer()
    twin = copy.deepcopy(outer)
    assert list(twin.state_dict()) == list(outer.state_dict()) == [f"inner._orig_mod.{k}" for k in MLP().state_dict()]
    x = torch.ones(1, 8)
    np.testing.assert_array_equal(twin(x).detach().numpy(), outer(x).detach().numpy())


def test_a_compiled_function_is_its_own_copy_and_is_pickled_by_name() -> None:
    assert copy.deepcopy(compiled_at_top) is copy.copy(compiled_at_top) is compiled_at_top
    assert pickle.loads(pickle.dumps(compiled_at_top)) is compiled_at_top


def test_lists_name_what_there_is() -> None:
    backends = torch.compiler.list_backends()
    assert {"eager", "aot_eager", "aot_eager_decomp_partition", "loops", "inductor"} <= set(backends)
    found = map(torch.compiler.lookup_backend, torch.compiler.list_backends(None))
    assert {backend.target for backend in found if isinstance(backend, Inductor)} == set(TARGETS)
    assert "cuda_sim" not in torch.compiler.list_backends(exclude_tags=("debug",))
    modes = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"}  # PyTorch's
    assert modes == set(torch.compiler.list_mode_options())
    assert torch.compiler.list_options()


def test_explain_counts_graphs_breaks_and_ops() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    report = torch._dynamo.explain(broken)(torch.ones(2))
    assert (report.graph_count, report.graph_break_count, report.op_count) == (2, 1, 2)
    assert "graph_break" in str(report)


def test_hooks_registered_after_compiling_run_and_their_removal_counts() -> None:
    model = MLP()
    compiled = torch.compile(model, backend="eager")
    x = torch.ones(1, 8)
    plain = compiled(x).detach().numpy()
    handle = model.register_forward_hook(lambda module, args, output: output + 1)
    np.testing.assert_allclose(compiled(x).detach().numpy(), plain + 1, rtol=1e-6)
    handle.remove()
    np.testing.assert_array_equal(compiled(x).detach().numpy(), plain)


def test_a_forward_set_on_the_instance_is_the_one_that_runs() -> None:
    model = MLP()
    compiled = torch.compile(model, backend="eager")
    compiled(torch.ones(1, 8))
    model.forward = lambda x: x * 0
    assert compiled(torch.ones(1, 8)).sum().item() == 0


def test_a_forward_replaced_on_the_class_is_the_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = torch.compile(MLP(), backend="eager")
    compiled(torch.ones(1, 8))
    monkeypatch.setattr(MLP, "forward", lambda self, x: x * 0)
    assert compiled(torch.ones(1, 8)).sum().item() == 0


def test_graph_inputs_have_the_names_of_forwards_parameters() -> None:
    seen = torch.compiler.inspect(MLP(), torch.ones(2, 8))
    assert [node.name for node in seen.graph.graph.find_nodes(op="placeholder")][0] == "x"


@pytest.mark.parametrize("function", [torch.softmax, F.cross_entropy, operator.sub])
def test_operations_and_functions_written_in_c_are_compiled_too(function):
    counter = torch._dynamo.testing.CompileCounter()
    x, y = torch.randn(4, 3), torch.tensor(1) if function is not F.cross_entropy else torch.tensor([0, 1, 2, 0])
    arguments = (x, 1) if function is torch.softmax else (x, y)
    assert torch.equal(torch.compile(function, backend=counter)(*arguments), function(*arguments))
    assert counter.frame_count == counter.op_count == 1


def test_a_backend_may_be_set_for_all_that_name_none():
    calls = []
    torch.compiler.set_default_backend(lambda gm, inputs: calls.append(gm) or gm.forward)
    try:
        assert torch.compile(lambda x: x + 1)(torch.ones(2)).tolist() == [2, 2] and len(calls) == 1
    finally:
        torch.compiler.set_default_backend(None)
    assert torch.compiler.get_default_backend() == "inductor"


def test_recompile_limit_says_how_many_versions_one_compile_has():
    compiled = []
    program = torch.compile(
        lambda x: x + 1, backend=lambda gm, inputs: compiled.append(gm) or gm.forward, dynamic=False, recompile_limit=2
    )
    with pytest.warns(UserWarning, match="was compiled 2 times"):
        assert [program(torch.ones(n)).shape[0] for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert len(compiled) == 2


def test_what_compile_cannot_do_is_refused():
    with pytest.raises(NotImplementedError, match="shapes_spec"):
        torch.compile(lambda x: x, shapes_spec={})
    with pytest.raises(ValueError, match="recompile_limit must be a positive int"):
        torch.compile(lambda x: x, recompile_limit=0)
