"""Options of PyTorch's kernel generator: what has a meaning here is one of ours, and no program stops at the others."""

from unittest import mock

import pytest

import minitorch_compile as torch
from minitorch_compile import config
from minitorch_compile._inductor.utils import fresh_inductor_cache, get_code, run_and_get_code, run_fw_bw_and_get_code
from minitorch_compile.dynamo import region_of
from minitorch_compile.kernel_options import defaults


def plus_one(x):
    return x.sin() + 1


def test_the_examples_of_its_documentation_are_accepted():
    options = {"triton.cudagraphs": True, "epilogue_fusion": False, "shape_padding": True, "fallback_random": True}
    compiled = torch.compile(plus_one, options=options)
    assert region_of(compiled).backend.options == {"reuse_temporaries": True, "epilogue_fusion": False}
    torch.testing.assert_close(compiled(torch.zeros(2)), torch.ones(2))


def test_what_never_happens_here_is_told():
    with pytest.warns(UserWarning, match="trace.enabled.*no effect.*inspect"):
        torch.compile(plus_one, options={"trace.enabled": True})


def test_a_name_that_nobody_knows_is_an_error():
    with pytest.raises(ValueError, match="no option named 'shape_paddin'"):
        torch.compile(plus_one, options={"shape_paddin": True})


def test_config_is_patched_in_every_way():
    names = torch._inductor.config
    with names.patch(max_autotune=True), names.patch({"triton.cudagraphs": True}), names.patch("freezing", True):
        assert defaults().max_autotune and defaults().reuse_temporaries and config.freezing
    with mock.patch.object(names, "epilogue_fusion", False), mock.patch.object(names.triton, "cudagraphs", True):
        assert not defaults().epilogue_fusion and defaults().reuse_temporaries
    with mock.patch.object(names.cpp, "threads", 1):
        assert names.cpp.threads == 1 and names.get_config_copy()["cpp.threads"] == 1
    assert (defaults().epilogue_fusion, defaults().max_autotune, defaults().reuse_temporaries) == (True, False, False)
    assert names.cpp.threads == -1
    with pytest.raises(AttributeError, match=r"_inductor.config.triton.cudagraph does not exist. Did you mean"):
        names.triton.cudagraph = True
    with pytest.raises(TypeError, match="max_autotune"):
        names.max_autotune = "yes"


def test_modes_are_listed_by_pytorchs_names():
    modes = torch._inductor.list_mode_options()
    assert modes["reduce-overhead"] == {"triton.cudagraphs": True}
    for mode in modes:
        torch.compile(plus_one, options=torch._inductor.list_mode_options(mode))
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast, should be one of"):
        torch._inductor.list_mode_options("fast")


def test_generated_code_is_shown():
    x = torch.zeros(3, requires_grad=True)
    result, sources = run_and_get_code(torch.compile(plus_one), x.detach())
    assert result.tolist() == [1, 1, 1] and len(sources) == 1 and "sin" in sources[0]
    assert len(run_fw_bw_and_get_code(lambda: torch.compile(plus_one)(x))[1]) == 2
    assert get_code(torch.compile(plus_one), x.detach()) == sources


def test_a_fresh_cache_is_empty_and_leaves_nothing(monkeypatch):
    monkeypatch.delenv("MTC_CACHE_DIR", raising=False)
    entries = {}
    with fresh_inductor_cache(entries):
        torch.compile(lambda x: x.sin() + 1)(torch.zeros(3))
    assert any(name.endswith(".py") for name in entries) and all(size > 0 for size in entries.values())


def test_a_backend_goes_on_with_compile_fx():
    from minitorch_compile._inductor.compile_fx import compile_fx

    seen = []

    def backend(graph_module, example_inputs):
        seen.append(len(graph_module.graph.nodes))
        return compile_fx(graph_module, example_inputs, {"max_fusion_size": 1})

    assert torch.compile(plus_one, backend=backend)(torch.zeros(2)).tolist() == [1, 1] and seen == [4]
    module = torch.fx.symbolic_trace(plus_one)
    assert torch._inductor.compile(module, [torch.zeros(2)])(torch.zeros(2)).tolist() == [1, 1]
