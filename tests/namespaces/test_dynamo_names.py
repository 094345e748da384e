"""`torch._dynamo`, its config, `torch._logging` and `torch.compiler` under PyTorch's names."""

import logging

import pytest

import minitorch_compile as torch
from minitorch_compile import config, logs
from minitorch_compile.as_torch import install, uninstall


@pytest.mark.parametrize(
    "names",
    [
        "_dynamo: reset explain disable allow_in_graph graph_break is_compiling list_backends assume_constant_result",
        "_dynamo.testing: CompileCounter",
        "_dynamo.exc: Unsupported BackendCompilerFailed",
        "_dynamo.config: patch",
        "_logging: set_logs",
        "compiler: compile reset allow_in_graph assume_constant_result list_backends disable is_compiling"
        " is_dynamo_compiling is_exporting cudagraph_mark_step_begin",
    ],
)
def test_programs_import_them(names):
    module, _, wanted = names.partition(": ")
    install()
    try:
        for name in wanted.split():
            exec(
                f"import torch.{module}\nfrom torch.{module} import {name}\nassert {name} is torch.{module}.{name}", {}
            )
    finally:
        uninstall()


def test_options_are_kept_in_one_place():
    with config.patch():
        torch._dynamo.config.cache_size_limit = 3
        assert config.recompile_limit == torch._dynamo.config.recompile_limit == 3
        config.recompile_limit = 8
        assert torch._dynamo.config.cache_size_limit == 8


def test_patch_takes_each_spelling_and_restores():
    for patched in (
        torch._dynamo.config.patch(cache_size_limit=2),
        torch._dynamo.config.patch("cache_size_limit", 2),
        torch._dynamo.config.patch({"cache_size_limit": 2}),
    ):
        with patched:
            assert config.recompile_limit == 2
        assert config.recompile_limit == 8


def test_options_without_a_choice_can_be_set_to_what_is_done() -> None:
    config = torch._dynamo.config
    config.inline_inbuilt_nn_modules = True
    config.optimize_ddp = False
    with pytest.warns(UserWarning, match="is always True here: False has no effect"):
        config.guard_nn_modules = False
    config.guard_nn_modules = config.optimize_ddp = True
    with pytest.raises(AttributeError, match="recompile_limt does not exist. Did you mean 'recompile_limit'"):
        config.recompile_limt = 1


def test_logs_are_set_by_component_and_level(monkeypatch):
    set_logs = torch._logging.set_logs
    try:
        set_logs(dynamo=logging.DEBUG, output_code=True, fusion=False, onnx=logging.INFO, overlap=True)
        assert logs.enabled() == ["graph_code", "graph_breaks", "recompiles", "output_code"]
        set_logs(all=logging.WARNING, modules={"torch._functorch.partitioners": logging.INFO})
        assert logs.enabled() == ["aot_graphs"]
        for wrong, message in [
            ({"gaurds": True}, "Unrecognized log or artifact name passed to set_logs: gaurds"),
            ({"guards": logging.DEBUG}, "Expected bool to enable artifact guards, received 10"),
            ({"inductor": 3}, "Unrecognized log level for log inductor: 3, valid level values are: 50,40,30,20,10,0"),
        ]:
            with pytest.raises(ValueError, match=message):
                set_logs(**wrong)
        monkeypatch.setenv("TORCH_LOGS", "guards")
        set_logs()  # that takes precedence
        assert logs.enabled() == ["aot_graphs"]
    finally:
        logs.set_logs()


def test_logs_are_set_by_their_names():
    torch._logging.set_logs(graph_breaks=True)
    try:
        assert logs.enabled() == ["graph_breaks"]
    finally:
        torch._logging.set_logs()


def test_both_names_of_is_compiling_are_true_in_a_trace():
    def f(x):
        return x + 1 if torch.compiler.is_dynamo_compiling() and not torch.compiler.is_exporting() else x

    assert torch.compile(f, backend="eager", fullgraph=True)(torch.zeros(1)) == 1
