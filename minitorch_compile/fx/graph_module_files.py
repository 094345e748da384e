"""Graph modules in files: pickled, or as a package of Python source.

What is saved is the code, not the graph: it is run on proxies when it is loaded, and so becomes a graph again.

>>> import pickle
>>> from minitorch_compile.fx import symbolic_trace
>>> again = pickle.loads(pickle.dumps(symbolic_trace(lambda x: x.relu() + 1)))
>>> print(again.graph.compact())
x -> x.relu() + 1
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx.code_generator import import_lines
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.nn.module import Module
from minitorch_compile.serialization import save

if TYPE_CHECKING:
    from minitorch_compile.fx.graph_module import GraphModule

# Modules that their repr makes again.
WRITTEN_AS_REPR = (
    "Linear", "Conv1d", "Conv2d", "Conv3d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "ReLU", "Dropout",
)  # fmt: skip
MODULE = """\
import os
import pickle

{imports}
from torch.nn import *


class {name}(torch.nn.Module):
    def __init__(self):
        super().__init__()
{members}
        self.load_state_dict(torch.load(os.path.join(os.path.dirname(__file__), "state_dict.pt")))
{code}"""


def pickled(module: GraphModule) -> Any:
    """What `GraphModule.__reduce__` returns."""
    from minitorch_compile.fx.graph_module import reduce_graph_module

    code = module.graph.python_code("self")
    left_out = ("_graph", "forward", "_function", "_line_map", "_module_hooks", "code")
    body = {name: value for name, value in vars(module).items() if name not in left_out}
    traces = {node.name: node.stack_trace for node in module.graph.nodes if node.stack_trace}
    body |= {"_code": code.src, "_graph_class": type(module), "_tracer_cls": module.graph._tracer_cls}
    if type(module).__name__ == "LazyGraphModule" or _is_local(module.graph._tracer_cls):
        body["_tracer_cls"] = None
    return reduce_graph_module, (body | {"_stack_traces": traces}, import_lines(code))


def _is_local(cls: type | None) -> bool:
    return cls is not None and "<locals>" in cls.__qualname__


def unpickled(body: dict[str, Any], import_block: str) -> GraphModule:
    """The graph module that `pickled` took apart."""
    from minitorch_compile.fx.tracer import Tracer

    body = dict(body)
    cls, tracer_cls = body.pop("_graph_class"), body.pop("_tracer_cls") or Tracer
    traces = body.pop("_stack_traces")
    forward = function_from_source(import_block + body.pop("_code"), "forward", {})

    class KeepModules(tracer_cls):  # type: ignore[misc, valid-type]
        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    root = type("CodeOnlyModule", (Module,), {"forward": forward})()
    vars(root).update({**body, "_module_hooks": None})
    graph = KeepModules().trace(root)
    graph._tracer_cls = tracer_cls
    for node in graph.nodes:
        if node.name in traces:
            node.stack_trace = traces[node.name]
    if "_in_spec" in body:
        graph = _with_pytree_code(graph, root, body)
    module = cls(root, graph, body["class_name"])
    for name, value in body.items():
        if name not in vars(module) and not name.startswith("_"):
            setattr(module, name, value)
    module.meta, module.training = body["meta"], body["training"]
    for kind in ("_parameters", "_buffers", "_modules"):
        for name, value in body[kind].items():
            vars(module)[kind].setdefault(name, value)
    return module


def _with_pytree_code(graph: Any, root: Any, body: dict[str, Any]) -> Any:
    """The graph of code that takes its arguments apart: the taking apart is the code's, not the graph's."""
    raise NotImplementedError(
        "pickle: this graph module takes containers apart (symbolic_trace with concrete_args that are containers);"
        " trace it again where it is needed"
    )


# ---------------------------------------------------------------------------------------------- a folder


def write_folder(module: GraphModule, folder: Any, module_name: str) -> None:
    """See `GraphModule.to_folder`."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    save(module.state_dict(), place / "state_dict.pt")
    members = [_member(name, child, place) for name, child in module.named_children()]
    members += [
        _tensor(name, value, "torch.nn.Parameter(torch.empty({}))") for name, value in module._parameters.items()
    ]
    for name, value in module._buffers.items():
        members.append(_tensor(name, value, "torch.empty({})", "register_buffer"))
    code = module.graph.python_code("self")
    text = MODULE.format(
        imports=import_lines(code).rstrip().replace("from torch", "from minitorch_compile"),
        name=module_name,
        members="\n".join(f"        {line}" for line in members if line),
        code="\n".join(f"    {line}".rstrip() for line in code.src.split("\n")),
    ).replace("from torch.nn import *", "from minitorch_compile.nn import *")
    (place / "module.py").write_text(text.rstrip() + "\n", encoding="utf-8")
    (place / "__init__.py").write_text("from .module import *\n", encoding="utf-8")


def _member(name: str, child: Module, place: Path) -> str:
    """The line that makes a child module, whose parameters come from state_dict.pt afterwards."""
    if type(child).__name__ in WRITTEN_AS_REPR and type(child).__module__.startswith("minitorch_compile.nn"):
        return f'self.add_module("{name}", {child!r})'
    (place / f"{name}.pickle").write_bytes(pickle.dumps(child))
    file = f'os.path.join(os.path.dirname(__file__), "{name}.pickle")'
    return f'self.add_module("{name}", pickle.loads(open({file}, "rb").read()))'


def _tensor(name: str, value: Any, how: str, register: str = "register_parameter") -> str:
    if value is None:
        return ""
    made = how.format(f"{list(value.shape)}, dtype={value.dtype}")
    return f'self.{register}("{name}", {made})'
