"""Models as other people write them, all of their sizes unknown: the same outputs and gradients, one graph."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import as_torch
from minitorch_compile.dynamo import region_of
from minitorch_compile.pytree import tree_leaves
from tests.dynamo.model_calls import outer_calls

MODELS = Path(__file__).parent.parent / "models"
NAMES = ["lenet", "dlrm", "gat", "mlp_mixer", "pointnet", "espcn", "capsnet", "realnvp", "dcgan"]


def outcome(function: Any, call: Any, state: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The tensors that a call gives, and the gradients of the parameters."""
    call.module.load_state_dict(state)
    torch.manual_seed(3)
    tensors = [x for x in tree_leaves(function(*call.args, **call.kwargs)) if isinstance(x, torch.Tensor)]
    recorded = [x.sum() for x in tensors if x.requires_grad and x.dtype.is_floating_point]
    parameters = [p for p in call.module.parameters() if p.requires_grad]
    gradients = torch.autograd.grad(recorded, parameters, allow_unused=True) if recorded and parameters else ()
    return [x.detach() for x in tensors], [g for g in gradients if g is not None]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_unknown_sizes_computes_the_same(name: str) -> None:
    with as_torch.installed():
        for call in outer_calls(MODELS / f"{name}.py", torch):
            function = getattr(call.module, call.method) if call.method else call.module
            state = copy.deepcopy(call.module.state_dict())
            compiled = torch.compile(function, backend="aot_eager", dynamic=True)
            for got, expected in zip(outcome(compiled, call, state), outcome(function, call, state), strict=True):
                assert all(torch.allclose(a, b, atol=1e-4, equal_nan=True) for a, b in zip(got, expected, strict=True))
            assert max(len(cache.entries) for cache in region_of(compiled).caches) == 1
