"""torch.utils.tensorboard: TensorBoard reads back what the writer was told; without tensorboard, the import says so."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.utils.tensorboard.embeddings import write_embedding
from minitorch_compile.utils.tensorboard.graph_record import graph_nodes
from minitorch_compile.utils.tensorboard.records import as_array, in_rows

installed = pytest.mark.skipif(not importlib.util.find_spec("tensorboard"), reason="needs tensorboard")


def read(folder: Path) -> object:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    reader = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    reader.Reload()
    return reader


@installed
def test_what_is_written_is_read(tmp_path: Path) -> None:
    from minitorch_compile.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", torch.tensor(0.5 / (step + 1), requires_grad=True), step)
        writer.add_histogram("weights", torch.randn(100).bfloat16(), 0)
        writer.add_image("picture", torch.rand(3, 4, 5), 0)
        writer.add_images("pictures", torch.rand(4, 1, 4, 5), 0)
        writer.add_text("note", "**well**", 0)
        writer.add_scalars("both", {"train": 1.0, "test": 2.0}, 0)
        writer.add_hparams({"lr": 0.1, "name": "sgd", "nesterov": True, "decay": None}, {"accuracy": 0.9}, run_name="a")
    found = read(tmp_path)
    assert [(e.step, e.value) for e in found.Scalars("loss")] == [(i, np.float32(0.5 / (i + 1))) for i in range(3)]
    assert found.Histograms("weights")[0].histogram_value.num == 100
    assert found.Images("picture")[0].width == 5
    assert found.Images("pictures")[0].width == 10
    assert b"**well**" in found.Tensors("note/text_summary")[0].tensor_proto.string_val
    assert read(tmp_path / "both_test").Scalars("both")[0].value == 2
    assert read(tmp_path / "a").Scalars("accuracy")[0].value == np.float32(0.9)


@installed
def test_a_closed_writer_begins_a_new_file(tmp_path: Path) -> None:
    from minitorch_compile.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(tmp_path, filename_suffix=".first")
    writer.close()
    writer.add_scalar("loss", 1.0, 0)
    writer.close()
    assert read(tmp_path).Scalars("loss")[0].value == 1


def test_without_tensorboard_the_import_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.raises(ImportError, match="pip install tensorboard"):
        from minitorch_compile.utils.tensorboard import SummaryWriter  # noqa: F401


def test_pictures_of_any_order_become_rows() -> None:
    picture = np.arange(24).reshape(3, 2, 4)
    assert (in_rows(picture, "CHW") == picture.transpose(1, 2, 0)).all()
    assert (in_rows(picture[0], "HW") == picture[0][..., None].repeat(3, axis=-1)).all()
    assert as_array([torch.ones(2), 3 * torch.ones(2)]).tolist() == [[1, 1], [3, 3]]


def test_points_for_the_projector(tmp_path: Path) -> None:
    """The files are those that PyTorch 2.13 writes."""
    points = torch.tensor([[0.5, 1.0], [2.0, -3.0]])
    written = write_embedding(str(tmp_path), "00003/words", "words:00003", points, ["a", "b"], None, None)
    assert (tmp_path / "00003/words/tensors.tsv").read_text() == "0.5\t1.0\n2.0\t-3.0\n"
    assert (tmp_path / "00003/words/metadata.tsv").read_text() == "a\nb\n"
    assert written.entry() == (
        'embeddings {\n  tensor_name: "words:00003"\n  metadata_path: "00003/words/metadata.tsv"\n'
        '  tensor_path: "00003/words/tensors.tsv"\n}\n'
    )
    write_embedding(str(tmp_path), "rows", "rows:00000", points, [("a", 1), ("b", 2)], None, ["name", "count"])
    assert (tmp_path / "rows/metadata.tsv").read_text() == "name\tcount\na\t1\nb\t2\n"
    with pytest.raises(AssertionError, match="#labels should equal with #data points"):
        write_embedding(str(tmp_path), "x", "x", points, ["a"], None, None)
    with pytest.raises(AssertionError, match="mat should be 2D"):
        write_embedding(str(tmp_path), "x", "x", points[0], None, None, None)


def test_pictures_of_points_fill_a_square(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    written = write_embedding(str(tmp_path), "p", "p:00000", torch.ones(5, 1), None, torch.ones(5, 1, 2, 4), None)
    assert written.picture_size == (4, 2)
    with image.open(tmp_path / "p/sprite.png") as sprite:
        assert sprite.size == (12, 12)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Dropout()])

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x + y


def test_a_graph_has_a_node_for_each_operation_in_the_box_of_its_module() -> None:
    model = Net()
    nodes, _ = graph_nodes(model, (torch.ones(3, 2), torch.ones(2)))
    names = [node.name for node in nodes]
    assert names[:2] == ["input/x", "input/y"] and names[-1] == "output/output.1"
    assert "Net/ModuleList[layers]/Linear[0]/weight" in names
    linear = next(node for node in nodes if node.op.endswith("linear"))
    assert linear.name.startswith("Net/ModuleList[layers]/Linear[0]/") and linear.sizes == (3, 2)
    assert all(name in names for node in nodes for name in node.inputs)
    assert model.training and not any(module._forward_hooks for module in model.modules())


@installed
def test_a_graph_is_written(tmp_path: Path) -> None:
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    from minitorch_compile.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        writer.add_graph(Net(), (torch.ones(3, 2), torch.ones(2)))
    graph = read(tmp_path).Graph()
    assert isinstance(graph, GraphDef) and {"input/x", "output/output.1"} <= {node.name for node in graph.node}
