"""Each model of tests/models, forward and a loss, is one graph: with fullgraph=True, and backends aot_eager and eager.

The models are programs for PyTorch, as other people write them. Beside the outputs, the gradients are compared. What is
one graph for aot_eager was one graph for eager, too; the further parts of a model are only captured.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minitorch_compile import as_torch
from tests.as_torch.measure import flatten, model_files
from tests.dynamo.model_calls import Call, loss_of, outer_calls

# What asks for the data of a tensor, to choose sizes by it. PyTorch breaks, too, where it says so.
DATA_DEPENDENT = {
    "annotated_transformer": {"LabelSmoothing": "torch.nonzero"},
    "gat": {"GAT": "int(batch.max()) graphs"},
    "moe": {"SparseMoeBlock": "torch.where(mask) chooses the tokens of each expert; PyTorch breaks, too"},
    "segnet": {"FocalLoss": "a mask as an index"},
    "tacotron": {"Tacotron2": "lengths.cpu().numpy() for pack_padded_sequence; PyTorch breaks, too"},
    "text_birnn": {"BiRNN": "pack_padded_sequence wants numbers; PyTorch breaks, too"},
}


def whole(call: Call) -> tuple[Any, Any]:
    """What is compiled: the call, and a loss of what it gives."""
    outputs = call()
    return outputs, loss_of(outputs)


def outcome(function: Any, call: Call, torch: Any) -> tuple[list[Any], list[Any]]:
    """Outputs and gradients of a call in the state that the module is in, which is then brought back."""
    state = {name: tensor.detach().clone() for name, tensor in call.module.state_dict().items()}
    torch.manual_seed(0)
    call.module.zero_grad()
    outputs, loss = function(call)
    if hasattr(loss, "backward") and loss.requires_grad:
        loss.backward()
    gradients = [parameter.grad for parameter in call.module.parameters() if parameter.grad is not None]
    with torch.no_grad():
        for name, tensor in call.module.state_dict().items():
            tensor.copy_(state[name])
    return [x.detach() for x in flatten(outputs) if isinstance(x, torch.Tensor)], gradients


@pytest.mark.parametrize("file", model_files(), ids=lambda file: file.stem)
def test_a_model_and_its_loss_are_one_graph(file: Path) -> None:
    with as_torch.installed():
        import torch

        calls = [call for call in outer_calls(file, torch) if call.name not in DATA_DEPENDENT.get(file.stem, {})]
        for number, call in enumerate(calls):
            check(call, "eager" if number else "aot_eager", torch)
    assert calls or file.stem in DATA_DEPENDENT


def check(call: Call, backend: str, torch: Any) -> None:
    graphs = []

    def counting(module: Any, example_inputs: list[Any]) -> Any:
        graphs.append(module)
        return torch.compiler.lookup_backend(backend)(module, example_inputs)

    plain_outputs, plain_gradients = outcome(whole, call, torch)
    outputs, gradients = outcome(torch.compile(whole, backend=counting, fullgraph=True), call, torch)
    assert len(graphs) == 1, call.name
    for came, expected in zip((*outputs, *gradients), (*plain_outputs, *plain_gradients), strict=True):
        torch.testing.assert_close(came, expected, rtol=1e-3, atol=1e-4, equal_nan=True)


@pytest.mark.parametrize("file", [file for file in model_files() if file.stem in DATA_DEPENDENT], ids=lambda f: f.stem)
@pytest.mark.heavy
def test_what_depends_on_data_breaks_the_graph_and_nothing_else(file: Path) -> None:
    with as_torch.installed():
        import torch

        for call in outer_calls(file, torch):
            if call.name in DATA_DEPENDENT[file.stem]:
                reasons = str(torch.compiler.explain(whole)(call).break_reasons)
                assert any(known in reasons for known in ("MTC-B05", "MTC-B07", "MTC-B15")), reasons
