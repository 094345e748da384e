"""compile() asked again for the same function or module compiles nothing anew. PyTorch's counts are beside ours where
they differ: it has one cache for each code object."""

import copy
import gc
import pickle
import weakref

import pytest

import minitorch_compile as torch
from minitorch_compile import config, nn
from minitorch_compile.dynamo import region_of, reset
from minitorch_compile.dynamo.testing import CompileCounter


def plus_one(x):
    return x.sin() + 1


class Net(nn.Module):
    def __init__(self, size=2):
        super().__init__()
        self.layer = nn.Linear(2, size)

    def forward(self, x):
        return self.layer(x).relu()


class Breaking(Net):
    def forward(self, x):
        torch._dynamo.graph_break()
        return self.layer(x)


def made():
    def double(x):
        return x * 2

    return double


def leaf():
    return torch.ones(1, 2, requires_grad=True)


@pytest.mark.parametrize("make", [lambda: plus_one, made, Net, Breaking], ids=["function", "inner", "module", "breaks"])
def test_a_loop_that_compiles_compiles_once(make):
    function, counter = make(), CompileCounter()
    results = [torch.compile(function, backend=counter)(leaf()).tolist() for _ in range(3)]
    assert results == [function(leaf()).tolist()] * 3
    assert counter.frame_count == 1


def test_a_compiled_function_or_module_compiled_again_is_what_it_is():
    for function in (plus_one, Net()):
        counter = CompileCounter()
        compiled = torch.compile(function, backend=counter)
        torch.compile(compiled, backend=counter)(leaf()), compiled(leaf())
        assert counter.frame_count == 1


@pytest.mark.parametrize(
    "other", [{"dynamic": True}, {"fullgraph": True}, {"isolate_recompiles": True}, {"recompile_limit": 3}]
)
def test_other_settings_compile_anew(other):
    counter = CompileCounter()
    torch.compile(plus_one, backend=counter)(leaf()), torch.compile(plus_one, backend=counter, **other)(leaf())
    assert counter.frame_count == 2  # of fullgraph and recompile_limit PyTorch asks nothing: 1


def test_what_config_says_is_a_setting():
    counter = CompileCounter()
    torch.compile(plus_one, backend=counter)(leaf())
    with config.patch(capture_scalar_outputs=True):
        torch.compile(plus_one, backend=counter)(leaf())
    with torch._inductor.config.patch(max_autotune=True):
        torch.compile(plus_one, backend=counter)(leaf())
    assert counter.frame_count == 3


def test_options_of_inductor_are_compared_by_what_they_are():
    regions = [region_of(torch.compile(plus_one, options={"max_fusion_size": size})) for size in (1, 1, 2)]
    assert regions[0] is regions[1] is not regions[2]


def test_equal_modules_are_compiled_once():
    counter = CompileCounter()
    models = [torch.compile(Net(), backend=counter) for _ in range(4)]
    for model in models:
        torch.testing.assert_close(model(leaf()), model._orig_mod(leaf()))
    assert counter.frame_count == 1
    assert [len(region_of(model).graph_modules) for model in models] == [1] * 4


def test_equal_modules_are_compiled_once_by_their_own_compile():
    counter, models = CompileCounter(), [Net() for _ in range(4)]
    for model in models:
        model.compile(backend=counter)
    results = [model(leaf()).tolist() for model in models]
    assert results == [model.forward(leaf()).tolist() for model in models] and counter.frame_count == 1


def test_what_is_compiled_for_one_module_does_not_count_for_another():
    counter = CompileCounter()
    for size in range(1, 12):  # more than config.recompile_limit; PyTorch warns, and runs the last ones plainly
        assert torch.compile(Net(size), backend=counter)(leaf()).shape == (1, size)
    assert counter.frame_count == 11


def test_training_one_of_two_equal_modules_leaves_the_other():
    first, second = (torch.compile(Net(), backend="aot_eager") for _ in range(2))
    before = second(leaf()).tolist()
    first(leaf()).sum().backward()
    with torch.no_grad():
        first.layer.weight.add_(1)
    assert first.layer.weight.grad is not None and second.layer.weight.grad is None
    assert second(leaf()).tolist() == before
    assert first(leaf()).tolist() == first._orig_mod(leaf()).tolist()


def test_reset_forgets_what_was_compiled_before():
    counter = CompileCounter()
    torch.compile(plus_one, backend=counter)(leaf())
    reset()
    torch.compile(plus_one, backend=counter)(leaf())
    assert counter.frame_count == 2


def test_copies_of_a_module_have_nothing_compiled():
    model, counter = Net(), CompileCounter()
    torch.compile(model, backend=counter)(leaf())
    for copied in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert not any(name.startswith("_dynamo") for name in vars(copied))
        assert region_of(torch.compile(copied, backend=counter)) is not region_of(torch.compile(model, backend=counter))


def test_a_function_that_wraps_another_is_another():
    import functools

    counter = CompileCounter()
    torch.compile(plus_one, backend=counter)(leaf())

    @functools.wraps(plus_one)
    def twice(x):
        return plus_one(plus_one(x))

    torch.testing.assert_close(torch.compile(twice, backend=counter)(leaf()), plus_one(plus_one(leaf())))
    assert counter.frame_count == 2


@pytest.mark.parametrize("make", [made, Net])
def test_what_is_dropped_is_freed_with_what_was_compiled(make):
    function = make()
    region = region_of(torch.compile(function, backend="eager"))
    torch.compile(function, backend="eager")(leaf())
    references = weakref.ref(function), weakref.ref(region)
    del function, region
    gc.collect()
    assert [reference() for reference in references] == [None, None]
