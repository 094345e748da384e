"""Options about graph passes, and frozen parameters: computed once, and again when one of them has changed."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import logs, nn
from minitorch_compile.aot.passes.conv_scale import fold_scale_into_convolution
from minitorch_compile.aot.tracing import trace
from minitorch_compile.compiler.freezing import FrozenGraph


def network():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Conv2d(4, 4, 3, groups=2),
        nn.BatchNorm2d(4, affine=False),
    )
    model(torch.randn(8, 3, 9, 9))  # running statistics that are not 0 and 1
    return model.eval()


def kernels_see(model, x):
    """The post-grad graph's nodes, by name, of a frozen compilation."""
    seen = []
    options = {"freezing": True, "post_grad_custom_pre_pass": lambda graph: seen.extend(graph.nodes)}
    with torch.no_grad():
        got = torch.compile(model, options=options)(x)
    return got, [getattr(node.target, "name", "") for node in seen]


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=2e-5, atol=2e-5)


def test_batch_norm_behind_a_convolution_leaves_nothing_to_compute():
    model, x = network(), torch.randn(2, 3, 9, 9)
    got, names = kernels_see(model, x)
    close(got, model(x))
    assert names.count("convolution") == 2
    assert not {"mul", "rsqrt", "sub", "div"} & set(names)


def test_an_optimizer_step_is_seen():
    model, x = network(), torch.randn(2, 3, 9, 9)
    frozen = torch.compile(model, options={"freezing": True})
    with torch.no_grad():
        close(frozen(x), model(x))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(2):
        model(x).square().mean().backward()
        optimizer.step()
        with torch.no_grad():
            close(frozen(x), model(x))


def test_new_parameters_and_running_statistics_are_seen():
    model, x = network(), torch.randn(2, 3, 9, 9)
    frozen = torch.compile(model, options={"freezing": True})
    with torch.no_grad():
        close(frozen(x), model(x))
        model[1].running_mean.add_(1)
        close(frozen(x), model(x))
        model[0].weight.data = model[0].weight.data * 3
        close(frozen(x), model(x))
        model.load_state_dict(network().state_dict())
        close(frozen(x), model(x))


def test_in_training_mode_and_with_gradients_nothing_is_frozen():
    model, x = network(), torch.randn(2, 3, 9, 9)
    frozen = torch.compile(model, options={"freezing": True})
    close(frozen(x), model(x))
    model.train()
    twin = network().train()
    with torch.no_grad():
        for _ in range(2):
            close(frozen(x), twin(x))
    close(model[1].running_mean, twin[1].running_mean)


def test_a_frozen_value_that_is_returned_is_new_each_time():
    layer = nn.Linear(2, 2)
    frozen = torch.compile(lambda x: (layer(x), layer.weight * 2), options={"freezing": True})
    with torch.no_grad():
        first = frozen(torch.ones(1, 2))[1]
        first.zero_()
        close(frozen(torch.ones(1, 2))[1], layer.weight * 2)


def test_a_convolution_that_others_read_keeps_its_weight():
    torch.manual_seed(0)
    conv, norm = nn.Conv2d(1, 2, 1).eval(), nn.BatchNorm2d(2).eval()

    def program(x):
        y = conv(x)
        return norm(y), y

    x = torch.randn(1, 1, 3, 3)
    with torch.no_grad():
        for got, want in zip(torch.compile(program, options={"freezing": True})(x), program(x), strict=True):
            close(got, want)


def test_the_frozen_part_runs_once_for_the_same_parameters(monkeypatch):
    runs = []
    call = FrozenGraph.__call__

    def counted(self, *arguments):
        before = self._known[1]
        result = call(self, *arguments)
        runs.append(self._known[1] is not before)
        return result

    monkeypatch.setattr(FrozenGraph, "__call__", counted)
    model, x = network(), torch.randn(2, 3, 9, 9)
    frozen = torch.compile(model, options={"freezing": True})
    with torch.no_grad():
        frozen(x), frozen(x), model[0].weight.add_(1), frozen(x), frozen(x)
    assert runs == [True, False, True, False]


def test_folding_is_checked_when_passes_are():
    model, x = network(), torch.randn(2, 3, 9, 9)
    with torch.no_grad():
        close(torch.compile(model, options={"freezing": True, "verify_passes": True})(x), model(x))


def test_a_graph_without_frozen_arguments_stays_as_it_is():
    module = trace(lambda x, w: torch.conv2d(x, w) * w.view(2, 1, 1), [torch.ones(1, 1, 3, 3), torch.ones(2, 1, 1, 1)])
    assert fold_scale_into_convolution(module.graph).compact() == module.graph.compact()


def test_options_are_checked_by_name_and_type():
    with pytest.raises(ValueError, match="freezing"):
        torch.compile(torch.sin, options={"freezin": True})
    with pytest.raises(TypeError, match="freezing"):
        torch.compile(torch.sin, options={"freezing": 1})


def test_custom_passes_run_on_both_halves_and_may_be_given_by_config():
    seen = []
    f = torch.compile(lambda x: x.sin().sum(), options={"post_grad_custom_post_pass": lambda g: seen.append(g)})
    x = torch.ones(3, requires_grad=True)
    f(x).backward()
    assert len(seen) == 2
    with torch.config.patch(joint_custom_post_pass=lambda g: seen.append(g)):
        torch.compile(lambda x: x.cos().sum())(x)
    assert len(seen) == 3


def test_each_pass_is_logged():
    with logs.capture("joint_graph_passes") as records:
        torch.compile(lambda x: (x * 1).sin())(torch.ones(3))
    assert any(record.text.startswith("remove_no_ops: ") for record in records)


@pytest.mark.parametrize("backend", ["aot_eager", "aot_eager_decomp_partition", "inductor"])
def test_a_table_computed_while_compiling_serves_both_passes_and_every_call(backend):
    def rotated(x):
        return (x * torch.cos(torch.arange(8.0) / 8)).sin()

    compiled = torch.compile(rotated, backend=backend)
    for start in (0.0, 1.0):
        x, y = (torch.full((3, 8), start, requires_grad=True) for _ in range(2))
        result = compiled(x)
        close(result, rotated(y))
        result.sum().backward()
        rotated(y).sum().backward()
        close(x.grad, y.grad)
