"""save and load for traced programs: a file of names, numbers and tensors, in which there is no code.

>>> import io
>>> from minitorch_compile import ones
>>> from minitorch_compile.jit.tracing import trace
>>> file = io.BytesIO()
>>> save(trace(lambda x: x.exp() * 2, ones(2)), file)
>>> _ = file.seek(0)
>>> load(file)(ones(1))
tensor([5.4366])

A file may only name operations of this package; what else it says is data.
"""

from __future__ import annotations

import os
from typing import Any

from minitorch_compile import serialization
from minitorch_compile.jit.traced_module import (
    PARTS,
    Reference,
    ScriptModule,
    Step,
    TopLevelTracedModule,
    TracedProgram,
    module_of,
)
from minitorch_compile.pytree import tree_flatten
from minitorch_compile.tensor.dispatch.op import find
from minitorch_compile.tensor.memory.memory_format import layout, memory_format
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

FORMAT = "minitorch_compile traced program 1"
PLAIN = (bool, int, float, complex, str, type(None), dtype)


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Writes a traced module. AttributeError for one that isn't traced; RuntimeError for what a file can't hold."""
    if isinstance(m, ScriptModule) and not isinstance(m, TopLevelTracedModule):
        raise RuntimeError(
            f"torch.jit.save: {getattr(m, 'original_name', type(m).__name__)} is scripted, so its branches and loops"
            " are code, which the file can't hold. Save the state_dict() and script the module where you load it, or"
            " trace it"
        )
    if not isinstance(m, TopLevelTracedModule):
        raise AttributeError(
            f"{type(m).__name__!r} object can't be saved by torch.jit.save, which takes what torch.jit.trace gives;"
            " save(model.state_dict(), file) keeps the weights"
        )
    if _extra_files:
        raise NotImplementedError("torch.jit.save: _extra_files are not offered; write them beside the archive")
    program = m.program
    if program.scripts:
        raise RuntimeError(
            f"torch.jit.save: the trace calls scripted code ({', '.join(program.scripts)}), which the file can't hold;"
            " trace that part, too"
        )
    for name, structure, leaves in program.inputs:
        if len(leaves) != 1 or structure != tree_flatten(None if leaves[0] is None else 0)[1]:
            raise RuntimeError(f"torch.jit.save: argument {name!r} is a container of tensors, which a file can't hold")
    serialization.save(
        {
            "format": FORMAT,
            "inputs": [[name, _plain(leaves)] for name, _, leaves in program.inputs],
            "attributes": dict(program.attributes),
            "constants": dict(program.constants),
            "steps": [[step.name, step.op, _plain(step.args), _plain(step.kwargs)] for step in program.steps],
            "result": _plain(program.result),
            "fixed_sizes": program.fixed_sizes,
            "state": {name: tensor.detach() for name, tensor in [*m.named_parameters(), *m.named_buffers()]},
            "parameters": [name for name, _ in m.named_parameters()],
            "training": m.training,
            "name": m.original_name,
        },
        f,
    )


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> Any:
    """Reads what `save` wrote. RuntimeError for another file; AttributeError if it names an operation there isn't."""
    if isinstance(f, (str, os.PathLike)) and not os.path.exists(f):
        raise ValueError(f"The provided filename {f} does not exist")
    read = serialization.load(f, map_location=map_location)
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise RuntimeError(
            "torch.jit.load: the file is no traced program of this package; archives of TorchScript hold code, which is"
            " never run. Trace the program here, and load its state_dict"
        )
    program = TracedProgram(attributes=read["attributes"], constants=read["constants"])
    for name, leaves in read["inputs"]:
        program.add_input(name, None, _filled(leaves))
    for name, op, args, kwargs in read["steps"]:
        if op not in PARTS:
            find(op)
        program.steps.append(Step(name, op, _filled(args), _filled(kwargs)))
    program.finish(_filled(read["result"]))
    program.fixed_sizes = bool(read["fixed_sizes"])
    made = module_of(program, read["state"], read["parameters"])
    made.original_name = read["name"]
    return made.train(read["training"])


def _plain(value: Any) -> Any:
    """A value as data: what it is, and its parts. RuntimeError for an object that a file can't hold."""
    if type(value) is Reference:
        return ["reference", value.name]
    if isinstance(value, (memory_format, layout)):
        raise RuntimeError(f"torch.jit.save: {value} can't be kept in a file")
    if isinstance(value, PLAIN):
        return ["value", value]
    if isinstance(value, (list, tuple)) and not isinstance(value, TensorBase):
        return ["list" if isinstance(value, list) else "tuple", [_plain(item) for item in value]]
    if isinstance(value, slice):
        return ["slice", [_plain(part) for part in (value.start, value.stop, value.step)]]
    if value is Ellipsis:
        return ["ellipsis", None]
    if isinstance(value, dict):
        return ["dict", {name: _plain(item) for name, item in value.items()}]
    raise RuntimeError(f"torch.jit.save: an argument of the type {type(value).__name__} can't be kept in a file")


def _filled(kept: Any) -> Any:
    """The value that `_plain` took apart."""
    kind, content = kept
    if kind == "list":
        return [_filled(item) for item in content]
    if kind == "tuple":
        return tuple(_filled(item) for item in content)
    if kind == "slice":
        return slice(*map(_filled, content))
    if kind == "dict":
        return {name: _filled(item) for name, item in content.items()}
    return Reference(content) if kind == "reference" else Ellipsis if kind == "ellipsis" else content


ScriptModule.save = save  # type: ignore[attr-defined]
