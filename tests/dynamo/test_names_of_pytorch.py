"""`torch._dynamo` under the names that programs use: optimize, run, config, counters, exceptions, a compiled module's
state dict. What is expected was recorded from PyTorch."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
from typing import Any
from unittest import mock

import pytest

import minitorch_compile as torch
from minitorch_compile import _dynamo, nn
from minitorch_compile.tensor import Tensor, ones


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + 1


def test_optimize_is_no_context_manager() -> None:
    with pytest.raises(RuntimeError, match="is used with a context manager"), _dynamo.optimize("eager"):
        pass


def test_optimize_takes_the_backend_first() -> None:
    counter = _dynamo.testing.CompileCounter()
    assert _dynamo.optimize(counter)(lambda x: x + 1)(ones(2)).tolist() == [2, 2]
    assert (counter.frame_count, counter.op_count) == (1, 1)

    @_dynamo.optimize("eager", nopython=True)
    def broken(x: Tensor) -> Tensor:
        _dynamo.graph_break()
        return x

    with pytest.raises(_dynamo.exc.Unsupported):
        broken(ones(2))
    assert _dynamo.optimize_assert("eager")(lambda x: x + 1)(ones(1)).item() == 2


def test_run_compiles_nothing_new() -> None:
    counter = _dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x: x + 1, backend=counter)
    compiled(ones(2))
    running = _dynamo.run(compiled)
    assert running(ones(2, 2)).shape == (2, 2) and running(ones(2)).tolist() == [2, 2]
    assert counter.frame_count == 1


def test_innermost_fn_is_the_plain_function() -> None:
    def f(x: Tensor) -> Tensor:
        return x

    assert _dynamo.eval_frame.innermost_fn(torch.compile(f, backend="eager")) is f


def test_counters() -> None:
    def f(x: Tensor) -> Tensor:
        x = x + 1
        _dynamo.graph_break()
        return x + 1

    counters = _dynamo.utils.counters
    counters.clear()
    torch.compile(f, backend="eager")(ones(2))
    assert len(counters["graph_break"]) == 1
    assert counters["frames"] == {"total": 2, "ok": 2}
    assert counters["stats"] == {"calls_captured": 2, "unique_graphs": 2}


def test_exceptions() -> None:
    def failing(module: Any, inputs: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(_dynamo.exc.BackendCompilerFailed) as failed:
        torch.compile(lambda x: x + 1, backend=failing)(ones(2))
    assert isinstance(failed.value.inner_exception, ValueError)
    with pytest.raises(_dynamo.exc.InvalidBackend):
        torch.compile(lambda x: x, backend="nope")
    assert issubclass(_dynamo.exc.Unsupported, _dynamo.exc.TorchDynamoException)
    assert issubclass(_dynamo.exc.TorchDynamoException, RuntimeError)


def test_the_reason_of_disable_is_told() -> None:
    @torch.compiler.disable(reason="it prints")
    def g(x: Tensor) -> Tensor:
        return x

    with pytest.raises(_dynamo.exc.Unsupported, match="because: it prints"):
        torch.compile(lambda x: g(x), backend="eager", fullgraph=True)(ones(1))


def test_options_and_mode_are_given_to_a_backend_of_the_program() -> None:
    seen: list[dict[str, Any]] = []

    def backend(module: Any, inputs: Any, **keywords: Any) -> Any:
        seen.append(keywords)
        return module.forward

    for given in ({"options": {"a": 1}}, {"mode": "reduce-overhead"}, {"mode": "default"}, {}):
        torch.compile(lambda x: x + 1, backend=backend, **given)(ones(1))
    assert seen == [{"options": {"a": 1}}, {"mode": "reduce-overhead"}, {}, {}]
    with pytest.raises(RuntimeError, match="not both"):
        torch.compile(lambda x: x, backend=backend, options={}, mode="reduce-overhead")
    with pytest.raises(RuntimeError, match="can't be given"):
        torch.compile(lambda x: x, backend=lambda module, inputs: module, options={"a": 1})


@pytest.mark.parametrize(("stance", "graphs"), [("force_eager", 0), ("eager_then_compile", 1), ("default", 1)])
def test_stances(stance: str, graphs: int) -> None:
    counter = _dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x: x + 1, backend=counter)
    seen = []
    with torch.compiler.set_stance(stance):
        for _ in range(3):
            assert compiled(ones(2)).tolist() == [2, 2]
            seen.append(counter.frame_count)
    assert seen == ([0, 1, 1] if stance == "eager_then_compile" else [graphs] * 3)
    with torch.compiler.set_stance("default", skip_guard_eval_unsafe=True):
        assert compiled(ones(3)).tolist() == [2, 2, 2]


def test_a_compiled_module_names_its_parameters_as_pytorch_does() -> None:
    model = Model()
    compiled = torch.compile(model, backend="eager")
    names = ["_orig_mod.linear.weight", "_orig_mod.linear.bias"]
    assert list(compiled.state_dict()) == [name for name, _ in compiled.named_parameters()] == names
    assert [name for name, _ in compiled.named_modules()] == ["", "_orig_mod", "_orig_mod.linear"]
    assert next(compiled.modules()) is compiled and list(compiled.children()) == [model]
    assert list(nn.Sequential(compiled).state_dict()) == [f"0.{name}" for name in names]
    assert list(model.state_dict()) == ["linear.weight", "linear.bias"]
    assert repr(compiled).startswith("OptimizedModule(\n  (_orig_mod): Model(")


def test_a_compiled_module_loads_what_it_gave() -> None:
    compiled, other = torch.compile(Model(), backend="eager"), Model()
    with pytest.raises(RuntimeError, match=r'for OptimizedModule:\n\tMissing key.*"_orig_mod.linear.weight"'):
        compiled.load_state_dict(other.state_dict())
    compiled.load_state_dict({f"_orig_mod.{name}": value for name, value in other.state_dict().items()})
    assert compiled(ones(2)).tolist() == other(ones(2)).tolist()
    outer = nn.Sequential(torch.compile(Model(), backend="eager"))
    outer.load_state_dict({f"0.{name}": value for name, value in compiled.state_dict().items()})
    assert outer(ones(2)).tolist() == other(ones(2)).tolist()


def test_config_is_patched_in_every_way() -> None:
    config = _dynamo.config
    with mock.patch.object(config, "suppress_errors", True):
        assert config.suppress_errors and torch.config.suppress_errors
    assert not config.suppress_errors
    config.suppress_errors = True
    with mock.patch.object(config, "suppress_errors", False):
        assert not config.suppress_errors
    assert config.suppress_errors
    config.suppress_errors = False
    with mock.patch.object(config, "verbose", True), config.patch({"recompile_limit": 3}, cprofile=True):
        assert config.verbose and config.cprofile and config.cache_size_limit == 3
    assert not config.verbose and not config.cprofile and config.recompile_limit == 8

    @config.patch("recompile_limit", 2)
    def limit() -> Any:
        return config.recompile_limit

    assert (limit(), config.recompile_limit, limit()) == (2, 8, 2)
    with pytest.raises(AttributeError, match="does not exist"):
        config.no_such_thing = 3
    with pytest.raises(AttributeError, match="does not exist"), config.patch(no_such_thing=3):
        pass
    assert config.get_config_copy()["recompile_limit"] == 8


def test_an_option_that_can_not_be_had_says_so() -> None:
    with pytest.warns(UserWarning, match="is always False here: True has no effect"):
        _dynamo.config.compiled_autograd = True
    assert _dynamo.config.compiled_autograd
    _dynamo.config.compiled_autograd = False


def test_error_on_recompile() -> None:
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    with _dynamo.config.patch(error_on_recompile=True):
        compiled(ones(2))
        with pytest.raises(_dynamo.exc.RecompileError, match="sizes"):
            compiled(ones(3))
    assert compiled(ones(3)).tolist() == [2, 2, 2]


def test_substitute_in_graph() -> None:
    @torch.compiler.substitute_in_graph(os.getpid)
    def process() -> int:
        return operator.index(7)

    compiled = torch.compile(lambda x: x * os.getpid(), backend="eager", fullgraph=True)
    assert compiled(ones(1)).item() == 7
    with pytest.raises(TypeError, match="must be callable"):
        torch.compiler.substitute_in_graph(3)  # type: ignore[arg-type]


@pytest.mark.slow
def test_variables_of_the_environment() -> None:
    program = """
import minitorch_compile as torch
counter = torch._dynamo.testing.CompileCounter()
torch.compile(lambda x: x + 1, backend=counter)(torch.ones(2))
print(counter.frame_count)
"""
    found = {}
    for name, value in {"TORCHDYNAMO_DISABLE": "1", "TORCH_LOGS": "+dynamo,-aot", "TORCHDYNAMO_VERBOSE": "0"}.items():
        done = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, name: value}, capture_output=True, text=True, check=True
        )
        found[name] = done.stdout.strip(), "graph" in done.stderr
    assert found == {
        "TORCHDYNAMO_DISABLE": ("0", False),
        "TORCH_LOGS": ("1", True),
        "TORCHDYNAMO_VERBOSE": ("1", False),
    }


def test_the_config_of_the_whole_stack_is_that_of_its_parts() -> None:
    with torch.compiler.config.patch(capture_scalar_outputs=True, job_id="mine"):
        assert _dynamo.config.capture_scalar_outputs and torch.compiler.config.job_id == "mine"
    assert not _dynamo.config.capture_scalar_outputs and torch.compiler.config.job_id is None
    with pytest.warns(UserWarning, match="torch.compiler.config.dynamic_sources is always ''"):
        torch.compiler.config.dynamic_sources = "x"
    torch.compiler.config.dynamic_sources = ""
