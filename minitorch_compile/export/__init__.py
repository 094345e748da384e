"""torch.export: a module as a graph that stands alone, with its weights, and can be kept in a file without code.

>>> import minitorch_compile as torch
>>> class Scaled(torch.nn.Module):
...     def forward(self, x, y):
...         return {"product": (x * y).relu()}
>>> program = export(Scaled(), (torch.ones(2, 3), torch.ones(3)), dynamic_shapes=({0: Dim("batch")}, None))
>>> print(program.graph.compact())
x, y -> ((x * y).relu(),)
>>> program.module()(torch.ones(5, 3), torch.ones(3))["product"].shape
torch.Size([5, 3])

The graph is the tracer's, with `fullgraph=True`; `run_decompositions()` makes one of ops of it, without writes.
"""

from minitorch_compile.export import dynamic_shapes, exported_program, graph_signature
from minitorch_compile.export.archives import load, save
from minitorch_compile.export.dynamic_shapes import Dim, dims
from minitorch_compile.export.exported_program import ExportedProgram
from minitorch_compile.export.exporting import draft_export, export, register_dataclass, unflatten
from minitorch_compile.export.graph_signature import ExportGraphSignature

__all__ = [
    "Dim",
    "ExportGraphSignature",
    "ExportedProgram",
    "dims",
    "draft_export",
    "dynamic_shapes",
    "export",
    "exported_program",
    "graph_signature",
    "load",
    "register_dataclass",
    "save",
    "unflatten",
]
