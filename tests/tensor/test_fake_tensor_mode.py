"""Whole programs on tensors that have no data: FakeTensorMode, meta tensors, and models too large to exist."""

from __future__ import annotations

import copy
import resource
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import nn
from minitorch_compile._subclasses import FakeTensor, FakeTensorMode
from minitorch_compile.aot import trace, trace_joint
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.symbolic import ShapeEnv
from minitorch_compile.tensor import FakeDataError
from tests.battery.arguments import Arguments
from tests.battery.outcome import evaluate
from tests.battery.sheet import FOLDER, calls_of
from tests.battery.test_sheets import layout_of

WIDTH, LAYERS = 10**6, 100


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Tall(nn.Module):
    """A hundred layers, each with a weight of 10^12 numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + F.dropout(F.gelu(layer(self.norm(x))), 0.1)
        return x.logsumexp(-1).mean()


def test_a_model_of_a_hundred_trillion_parameters_runs_forward_and_backward_in_no_memory() -> None:
    before = peak_megabytes()
    with FakeTensorMode():
        model = Tall()
        x = torch.rand(WIDTH, WIDTH)
        loss = model(x)
        loss.backward()
    assert isinstance(loss, FakeTensor) and loss.shape == ()
    assert sum(p.numel() for p in model.parameters()) > LAYERS * 10**12
    assert all(p.grad.shape == p.shape and p.grad.is_fake for p in model.parameters())
    assert peak_megabytes() - before < 50


def test_its_joint_graph_is_traced_in_no_memory() -> None:
    with FakeTensorMode() as mode:
        weights = [torch.empty(WIDTH, WIDTH, requires_grad=True) for _ in range(LAYERS)]
        x = torch.empty(WIDTH, WIDTH)
    assert weights[0].fake_mode is mode
    before = peak_megabytes()

    def program(x: Any, *weights: Any) -> Any:
        for weight in weights:
            x = (x @ weight).softmax(-1)
        return (x.sum(),)

    joint = trace_joint(trace(program, [x, *weights]), [True])
    gradients = joint.graph_module.graph.output_node().meta["val"][joint.output_count :]
    assert [g.shape for g in gradients] == [(WIDTH, WIDTH)] * LAYERS
    assert peak_megabytes() - before < 100


def test_meta_tensors_draw_and_allocate_nothing() -> None:
    position, before = torch.default_generator.position(), peak_megabytes()
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Dropout(0.5), nn.BatchNorm1d(WIDTH))
        assert model(torch.empty(3, WIDTH)).shape == (3, WIDTH)
    assert {p.device.type for p in model.parameters()} == {"meta"}
    assert torch.default_generator.position() == position
    assert peak_megabytes() - before < 50


def test_a_model_made_on_meta_gets_memory_with_to_empty_and_values_from_a_state_dict() -> None:
    values = nn.Linear(3, 2)
    model = nn.Linear(3, 2, device="meta").to_empty(device="cpu")
    model.load_state_dict(values.state_dict())
    x = torch.rand(4, 3)
    assert torch.equal(model(x), values(x))


def test_deferred_construction_takes_no_random_numbers() -> None:
    position = torch.default_generator.position()
    with FakeTensorMode():
        nn.TransformerEncoderLayer(64, 4)
    assert torch.default_generator.position() == position


# ---------------------------------------------------------------------------------------- real tensors


def test_fakes_of_one_tensor_are_one_and_share_memory_as_their_originals() -> None:
    mode, whole = FakeTensorMode(), torch.rand(4, 6)
    fake, part = mode.from_tensor(whole), mode.from_tensor(whole.t()[1:])
    assert mode.from_tensor(whole) is fake
    assert part.storage is fake.storage and part.base is fake
    assert (part.shape, part.stride(), part.storage_offset()) == ((5, 4), (1, 6), 1)
    part.add_(1)
    assert fake._version == 1 and whole._version == 0


def test_a_parameter_stays_one() -> None:
    fake = FakeTensorMode().from_tensor(nn.Linear(2, 3).weight)
    assert isinstance(fake, Parameter) and isinstance(fake, FakeTensor) and fake.requires_grad


def test_real_tensors_are_refused_unless_allowed() -> None:
    real = torch.ones(3)
    with FakeTensorMode():
        fake = torch.empty(3)
        for call in (lambda: fake + real, lambda: real + 1, lambda: fake.copy_(real)):
            with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
                call()
    with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
        fake * torch.ones(3)  # outside of the mode, too
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert isinstance(torch.empty(3) + real, FakeTensor)


def test_two_modes_do_not_mix() -> None:
    with FakeTensorMode():
        x = torch.empty(3)
    with FakeTensorMode():
        y = torch.empty(3)
    with pytest.raises(AssertionError, match="Mixing fake modes"):
        x + y


def test_what_is_made_of_numbers_is_fake_too() -> None:
    with FakeTensorMode():
        made = [torch.tensor([1.0, 2.0]), torch.from_numpy(np.ones(2)), torch.as_tensor([1]), torch.arange(3)]
        assert all(isinstance(x, FakeTensor) for x in made)
        assert torch.rand(5, 2)[[0, 3]].shape == (2, 2)
    assert not isinstance(torch.tensor([1.0]), FakeTensor)


@pytest.mark.parametrize(
    "question",
    [
        lambda x: x.sum().item(),
        lambda x: float(x[0]),
        lambda x: bool(x[0] > 0),
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: x.unique(),
        lambda x: torch.masked_select(x, x > 0),
    ],
)
def test_what_needs_numbers_is_refused(question: Any) -> None:
    with FakeTensorMode(), pytest.raises(FakeDataError, match="fake tensor"):
        question(torch.rand(3))


def test_copies_of_fakes_are_fakes() -> None:
    with FakeTensorMode():
        x = torch.rand(3)
    assert isinstance(copy.deepcopy(x), FakeTensor)


def test_tensors_like_a_fake_one_are_fake_after_the_mode_too() -> None:
    with FakeTensorMode():
        x = torch.empty(10**6, 10**6)
    for like in (torch.ones_like(x), x.new_zeros(10**12), x.new_tensor([1.0]), x.new_empty_strided((2,), (10**12,))):
        assert like.is_fake
    assert torch.func.grad(lambda x: (x @ x).sum())(x).is_fake
    assert torch.func.vmap(torch.func.grad(lambda row: (row * row).sum()))(x).shape == x.shape
    x.requires_grad_()
    (x * x).sum().backward()
    assert x.grad is not None and x.grad.is_fake


def test_symbolic_sizes() -> None:
    mode = FakeTensorMode(shape_env=ShapeEnv())
    x = mode.from_tensor(torch.rand(3, 4))
    assert str((x @ x.t()).flatten().shape) == "torch.Size([s0*s0])"
    assert str((x.t() @ x).shape) == "torch.Size([s1, s1])"
    assert mode.from_tensor(torch.rand(3, 4), static_shapes=True).shape == (3, 4)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_every_call_of_the_sheets_under_the_mode(path: Any) -> None:
    """What the call gives is laid out as plainly, or it asks for numbers."""
    wrong = []
    for call in calls_of(path):
        real = evaluate(call.text, Arguments(torch, "contiguous"))
        with FakeTensorMode() as mode:
            fake = evaluate(call.text, Arguments(torch, "contiguous", make=mode.from_tensor))
        if isinstance(fake.error, FakeDataError) or (real.error is not None and fake.error is None):
            continue
        if type(fake.error) is not type(real.error):
            wrong.append((call.text, real.error, fake.error))
        elif layout_of(fake) != layout_of(real):
            wrong.append((call.text, layout_of(real), layout_of(fake)))
    assert not wrong, "\n".join(map(str, wrong[:20]))
