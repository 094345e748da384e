"""Floats that are others at each call, in compiled graphs: one version for all of them, or one for those that a rule
asked about; gradients, half precision, transforms, the kernels on disk."""

from __future__ import annotations

import math
import types

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import logs, nn
from minitorch_compile.aot.unknown_floats import ForAllFloats
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.nn import functional as F
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.symbolic import FrozenShapeEnv

RATES = (0.25, 0.5, -1.5, 0.75, 3.0)


def versions(function, calls, backend="inductor", **settings):
    """Calls a function compiled with each of the arguments, compares with the plain one, and counts: how often it was
    captured, and how many versions of its graphs were made for floats."""
    torch.compiler.reset()
    compiled = torch.compile(function, backend=backend, **settings)
    with logs.capture("dynamic") as records, logs.capture("recompiles") as again:
        for number, arguments in enumerate(calls):
            torch.manual_seed(number)
            expected = tree_leaves(function(*arguments))
            torch.manual_seed(number)
            for got, want in zip(tree_leaves(compiled(*arguments)), expected, strict=True):
                assert (got.dtype, got.shape, got.requires_grad) == (want.dtype, want.shape, want.requires_grad)
                close(got, want)
    return 1 + len(again), sum(record.text.startswith("version") for record in records)


def close(got, want):
    np.testing.assert_allclose(got.detach().float().numpy(), want.detach().float().numpy(), rtol=2e-6, atol=1e-6)


def everything(x, a):
    """Numbers as operands, as factors and fillings, in formulas that compute with them."""
    y = (x * a + a / (x + 9) - a) * (2 - a)
    y = torch.add(y, x, alpha=a).clamp(max=a + 2) + torch.lerp(x, y, a)
    y = torch.where(x > a, y, a) + torch.full((4,), a) + x.new_full((4,), a)
    y = torch.addcmul(y, x, x, value=a) + x.masked_fill(x > 1, a) + F.celu(x, 1 + a * a)
    return y + torch.tensor(a), x.long() * a, x.double() * a, (x > a), y.mul(a).add_(a)


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition", "loops", "inductor"])
def test_one_graph_is_for_all_values(backend):
    x = torch.arange(4.0)
    assert versions(everything, [(x, a) for a in RATES], backend, dynamic=True) == (1, 1)


def test_a_kernel_on_cuda_takes_the_number_as_an_argument():
    x = torch.arange(4.0)
    assert versions(lambda x, a: (x * a).sin() + a, [(x, a) for a in RATES], "cuda_sim", dynamic=True) == (1, 1)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_gradients(backend):
    def function(x, a):
        return (F.leaky_relu(x - 1, a) * (1 / a) + (x / a).softmax(0) + x.lerp(x * x, a)).sum()

    compiled = torch.compile(function, backend=backend, dynamic=True)
    for a in (0.25, 0.5, 2.0):
        x, y = (torch.arange(4.0, requires_grad=True) for _ in range(2))
        compiled(x, a).backward()
        function(y, a).backward()
        close(x.grad, y.grad)
    (entry,) = region_of(compiled).caches[0].entries
    assert "a" in [node.name for node in entry.graph_module.graph.find_nodes(op="placeholder")]


def test_gradients_of_gradients():
    def cubed(x, a):
        return x**3 * a

    compiled = torch.compile(cubed, backend="aot_eager", dynamic=True)
    for a in (0.5, 2.0):
        x = torch.tensor(2.0, requires_grad=True)
        (first,) = torch.autograd.grad(compiled(x, a), x, create_graph=True)
        assert torch.autograd.grad(first, x)[0].item() == 12 * a


def test_what_an_operation_asks_holds_for_a_version():
    def function(x, a):
        return F.dropout(x, a)

    x = torch.ones(50)
    with logs.capture("dynamic") as records:
        compiled = torch.compile(function, dynamic=True)
        means = [compiled(x, a).mean().item() for a in (0.25, 0.5, 0.0, 1.0, 0.125)]
    assert means[2:4] == [1.0, 0.0] and all(0.5 < mean < 1.5 for mean in (*means[:2], means[4]))
    assert len([record for record in records if record.text.startswith("version")]) <= 3
    with pytest.raises(ValueError, match="probability"):
        compiled(x, 1.5)


def test_a_rule_that_needs_the_number_has_a_version_for_each():
    x = torch.arange(6.0)
    assert versions(lambda x, a: x + torch.arange(0, 6 * a, a), [(x, a) for a in (4.0, 5.0, 6.0)], "aot_eager")[0] == 3


def test_numbers_that_are_none():
    calls = [(torch.arange(3.0), a) for a in (0.5, 0.25, math.inf, -0.0, 0.0, 1e300, -math.inf, 5e-324)]
    compiled = torch.compile(lambda x, a: (x * a, x.double() / a, x + a))
    for x, a in calls:
        with np.errstate(all="ignore"):
            expected = (x * a, x.double() / a, x + a)
        for got, want in zip(compiled(x, a), expected, strict=True):
            assert got.numpy().tobytes() == want.numpy().tobytes()


def test_a_tensor_of_a_number_too_large_for_it():
    compiled = torch.compile(lambda x, a: (x.new_tensor(a), x.new_tensor([a, 1])), backend="aot_eager", dynamic=True)
    for a in (0.5, 1e300):
        assert [y.tolist() for y in compiled(torch.ones(1), a)] == [torch.tensor(a).item(), [torch.tensor(a).item(), 1]]


def test_nan_takes_every_other_branch():
    compiled = torch.compile(lambda x, a: x * a if a > 0 else x - 1, backend="aot_eager")
    for a in (0.5, 0.25, math.nan, -1.0, 0.125):
        assert torch.equal(compiled(torch.ones(2), a), torch.ones(2) * a if a > 0 else torch.zeros(2))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_rounds_where_eager_does(dtype):
    x = torch.linspace(-2, 2, 9).to(dtype)

    def function(x, a):
        return x * a, x + a, x / a, torch.add(x, x, alpha=a), x.lerp(x + 1, a), (x * a).exp(), x > a

    compiled = torch.compile(function, dynamic=True)
    for a in (0.1, 0.3, 1.7):
        for got, want in zip(compiled(x, a), function(x, a), strict=True):
            assert got.dtype is want.dtype and torch.equal(got, want)


def test_a_number_that_becomes_whole_and_a_size_that_changes():
    calls = [(torch.ones(n), a) for n, a in ((3, 1.5), (4, 2), (5, 2.5), (6, 3), (7, 3.5))]
    assert versions(lambda x, a: x * a + x.shape[0] * 0.5, calls, "aot_eager")[0] <= 4


def test_a_float_of_sizes_is_known_where_they_are():
    with logs.capture("dynamic") as records:
        compiled = torch.compile(lambda x: x / math.sqrt(x.shape[0]), dynamic=True)
        assert [compiled(torch.ones(n))[0].item() for n in (4, 16, 4)] == [0.5, 0.25, 0.5]
    texts = [record.text for record in records]
    assert sum("sqrt(x.sizes[0]) = " in text for text in texts) == 2
    assert not any(text.startswith("version") for text in texts)


def test_a_float_of_a_count_is_not():
    with logs.capture("dynamic") as records:
        compiled = torch.compile(lambda x, n: x * (n / 4), dynamic=True)
        assert [compiled(torch.ones(1), n).item() for n in (2, 3, 5)] == [0.5, 0.75, 1.25]
    assert sum(record.text.startswith(("version", "compiling")) for record in records) == 1


def test_beside_numbers_that_only_the_data_tell():
    calls = [(torch.ones(3), a) for a in RATES]
    assert versions(lambda x, a: x * x.sum().item() * a + a, calls, "inductor", fullgraph=True, dynamic=True)[0] == 1


NUMPY_PROGRAMS = [
    (lambda x, a: x * a, 2), (lambda x, a: a * x, 2), (lambda x, a: torch.add(x, x, alpha=a), 2),
    (lambda x, a: x * a.item() + float(a), 2), (lambda x, a: x * math.sqrt(a), 2), (lambda x, a: (x + 1, a), 1),
    (lambda x, a: x + 1 if a > 0.5 else x, 2), (lambda x, a: x * (a * 2), 4),
]  # fmt: skip


@pytest.mark.parametrize(("program", "count"), NUMPY_PROGRAMS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_of_numpy(program, count, kind):
    counter = CompileCounter()
    compiled = torch.compile(program, backend=counter)
    for a in (0.25, 0.5, 0.75, 1.5):
        for got, want in zip(compiled(torch.ones(2), kind(a)), program(torch.ones(2), kind(a)), strict=True):
            assert type(got) is type(want) and np.array_equal(got, want)
    assert counter.frame_count == count


def test_transforms_inside():
    def function(x, a):
        return torch.vmap(lambda row: row * a + a)(x), torch.func.grad(lambda q: (q.sin() * a).sum())(x)

    assert versions(function, [(torch.ones(2, 3), a) for a in RATES], "aot_eager", dynamic=True)[0] == 1


def test_globals_cells_attributes_and_defaults():
    settings, module = types.SimpleNamespace(rate=0.0), nn.Linear(2, 2)
    module.forward = types.MethodType(lambda self, x: x * self.rate, module)
    cell = 0.0

    def function(x):
        return x * settings.rate + cell

    for target in (function, module):
        counter = CompileCounter()
        compiled = torch.compile(target, backend=counter)
        for rate in RATES:
            settings.rate = module.rate = cell = rate
            assert torch.equal(compiled(torch.ones(2)), target(torch.ones(2)))
        assert counter.frame_count == 2


def test_an_optimizer_whose_settings_change_is_compiled_twice():
    def trained(compile_step):
        torch.manual_seed(0)
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
        step = compile_step(optimizer.step)
        for number in range(6):
            for group in optimizer.param_groups:
                group.update(lr=0.1 / (number + 1), momentum=0.9 - number / 100, weight_decay=0.1 + number / 50)
            model(torch.ones(4, 3)).sum().backward()
            step()
            optimizer.zero_grad()
        return model.weight

    counter = CompileCounter()
    close(trained(lambda step: torch.compile(step, backend=counter)), trained(lambda step: step))
    assert counter.frame_count <= 3  # the first makes the buffers


def test_numbers_and_tensors_of_like_names():
    x = torch.arange(3.0)
    calls = [(x, a) for a in RATES]
    assert versions(lambda x, a: x * (a - 1) + x / (a + 1) - x.exp() * -a + a, calls, "aot_eager", dynamic=True)[0] == 1
    calls = [({"a": torch.ones(n), "a_": torch.arange(float(n))},) for n in (3, 4)]
    assert versions(lambda d: d["a"] - d["a_"], calls, dynamic=True)[0] == 1


@pytest.mark.parametrize("compute", [lambda a: 1 / a, lambda a: 5 % a, math.log, lambda a: int(1 / a)])
def test_what_raises_does_so_where_nobody_reads_it(compute):
    def function(x, a):
        try:
            compute(a)
        except (ArithmeticError, ValueError):
            return x - 1
        return x * a

    calls = [(torch.ones(2), a) for a in (0.5, 2.0, 0.0, 3.0, 0.0)]
    assert versions(function, calls, "aot_eager", dynamic=True)[0] <= 3


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_whole_numbers_beside_a_float(backend):
    x = torch.tensor([[1, 2], [3, 4]])
    versions(lambda x, a: torch.addmv(x[0], x, x[1], alpha=a, beta=a), [(x, a) for a in RATES], backend, dynamic=True)
    for combine in (torch.add, torch.sub, lambda x, y, alpha: torch.addr(x, y[0], y[1], alpha=alpha)):
        compiled = torch.compile(lambda x, a, combine=combine: combine(x, x, alpha=a), backend=backend, dynamic=True)
        for a in RATES:
            with pytest.raises(RuntimeError, match="must not be a floating point number"):
                compiled(x, a)


def test_the_guards_say_what_was_asked():
    compiled = optimize(lambda x, a: F.leaky_relu(x, a) * math.log(a) if a < 2 else x, CompileCounter(), dynamic=True)
    compiled(torch.ones(2), 0.5)
    (entry,) = region_of(compiled).caches[0].entries
    codes = [guard.code for guard in entry.guards if guard.source.name() in ("a", "log(a)")]
    assert "a < 2" in " ".join(codes).replace("(2)", "2") and not any("0.5" in code for code in codes)


def test_settings():
    calls = [(torch.ones(2), a) for a in (0.25, 0.5, 0.75)]
    with torch._dynamo.config.patch(specialize_float=True):
        assert versions(lambda x, a: x * a, calls, "aot_eager") == (3, 0)
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False):
        assert versions(lambda x, a: x * a, calls, "aot_eager") == (3, 0)


def test_a_backend_that_needs_tensors_gets_them():
    def picky(module, example_inputs):
        if not all(isinstance(x, torch.Tensor) for x in example_inputs):
            raise NotImplementedError("no numbers here")
        return module

    compiled = torch.compile(lambda x, a: x * a, backend=picky)
    assert [compiled(torch.ones(1), a).item() for a in RATES] == list(RATES)


def test_the_kernels_are_those_of_another_value():
    with logs.capture("output_code") as records:
        for a in (0.5, 0.25):
            torch.compiler.reset()
            compiled = torch.compile(lambda x, a: x * a + 1, dynamic=True)
            assert compiled(torch.ones(4), a).tolist() == [a + 1] * 4
    first, second = [record.text for record in records]
    assert first == second and "0.5" not in first


def test_versions_are_forgotten_at_last(monkeypatch):
    monkeypatch.setattr("minitorch_compile.aot.unknown_floats.MOST_VERSIONS", 2)
    made = []

    def backend(graph, examples):
        made.append(graph)
        (number,) = [node.meta["val"] for node in graph.graph.nodes if "number_of" in node.name]
        float(number)
        return graph

    counter = CompileCounter()
    torch.compile(lambda x, a: x * a, backend=counter, dynamic=True)(torch.ones(1), 0.5)
    module = counter.graphs[0]
    examples = [node.meta["val"] for node in module.graph.find_nodes(op="placeholder")]
    run = ForAllFloats(backend, module, examples)
    for a in (0.5, 0.25, 0.5, 0.75, 0.5):
        assert run(torch.ones(1), a)[0].item() == a
    assert len(made) == 4


def test_what_rules_ask_of_sizes_is_guarded_beside_a_float():
    def stored(cache, x, place, a):
        cache[: x.shape[0], place : place + x.shape[1]] = x * a
        return cache.sum()

    calls = [
        (torch.zeros(4, 24), torch.randn(2, size), place, a)
        for size, place, a in [(4, 0, 0.5), (1, 4, 0.25), (3, 5, 2.0)]
    ]
    for backend in ("aot_eager", "inductor"):
        assert versions(stored, calls, backend=backend, dynamic=True)[1] >= 1


def test_a_later_version_that_asks_for_sizes_runs_op_by_op():
    counter = CompileCounter()
    torch.compile(lambda x, a: x * a, backend=counter, dynamic=True)(torch.ones(1), 0.5)
    module = counter.graphs[0]
    examples = [node.meta["val"] for node in module.graph.find_nodes(op="placeholder")]

    def backend(graph, examples):
        (number,) = [node.meta["val"] for node in graph.graph.nodes if "number_of" in node.name]
        if float(number) != 0.5:
            raise FrozenShapeEnv("s0 == 1 was asked after the guards had been written")
        return graph

    run = ForAllFloats(backend, module, examples)
    with logs.capture("dynamic") as records:
        assert [run(torch.ones(1), a)[0].item() for a in (0.5, 0.25)] == [0.5, 0.25]
    assert any("op by op" in record.text for record in records)
