"""An op is listed in one place, its declaration: the namespaces have what is declared, and the stubs say it to editors.

Where TORCH_PYTHON names a Python that has PyTorch, the names and parameters in the stubs are compared with PyTorch's.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import minitorch_compile as torch
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.declare import composite, pointwise, visible_in
from minitorch_compile.tensor.dispatch.op import Array, Op, Tensor
from tools import stubs

ORACLE = Path(__file__).with_name("torch_signatures.py")
NAMESPACES = {
    "torch": torch,
    "functional": torch.nn.functional,
    "linalg": torch.linalg,
    "fft": torch.fft,
    "special": torch.special,
}

DECLARATION = re.compile(r"^@(pointwise|reduction|view|kernel_op|factory|composite|functional)\(|^\w+ = alias\(", re.M)

# ------------------------------------------------------------------------------------------ what is declared is there


@pytest.mark.parametrize("space", NAMESPACES)
def test_a_namespace_has_what_is_declared_for_it(space: str) -> None:
    declared = visible_in(space)
    assert declared
    assert {name: getattr(NAMESPACES[space], name) for name in declared} == declared


@pytest.mark.parametrize("space", ["torch", "functional", "fft"])
def test_a_namespace_has_no_other_ops(space: str) -> None:
    assert {name for name, value in vars(NAMESPACES[space]).items() if isinstance(value, Op)} == set(visible_in(space))


def test_the_op_table_is_the_module_of_its_ops() -> None:
    assert {name: getattr(ops, name) for name in ops.table if "." not in name} == {
        name: op for name, op in ops.table.items() if "." not in name
    }


@pytest.mark.parametrize("package", [ops, torch.nn.functional], ids=["ops", "functional"])
def test_every_file_of_ops_is_imported(package: ModuleType) -> None:
    """A new file is one more name in the list of its folder's `__init__.py`."""
    there = {path.stem for path in Path(str(package.__file__)).parent.glob("*.py")} - {"__init__"}
    loaded = {declared_in(op) for op in ops.table.values()}
    declaring = {name for name in there if DECLARATION.search(source_of(package, name))}
    assert declaring
    assert declaring - loaded == set()


def declared_in(op: Op) -> str:
    assert op.declared_at is not None
    return Path(op.declared_at[0]).stem


def source_of(package: ModuleType, name: str) -> str:
    return Path(str(package.__file__)).with_name(f"{name}.py").read_text(encoding="utf-8")


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Op]]:
    """The op table, as it was again afterwards."""
    before = dict(ops.table)
    yield ops.table
    ops.table.clear()
    ops.table.update(before)


def test_a_declaration_says_where_an_op_is_visible(table: dict[str, Op]) -> None:
    @pointwise()
    def half(input: Array) -> Array:
        return input / 2

    @pointwise(torch=False)
    def third(input: Array) -> Array:
        return input / 3

    @composite(functional=True, torch=False)
    def quarter(input: Tensor) -> Tensor:
        return input / 4

    @composite(torch=False)
    def linalg_quarter(input: Tensor) -> Tensor:
        return input / 4

    new = {
        space: {name for name, op in visible_in(space).items() if op.kernel.__module__ == __name__}
        for space in NAMESPACES
    }
    assert new == {
        "torch": {"half", "half_"},
        "functional": {"quarter"},
        "linalg": {"quarter"},
        "fft": set(),
        "special": set(),
    }
    assert {name for name, op in table.items() if "method" in op.namespaces and op.kernel.__module__ == __name__} == {
        "half", "half_", "third", "third_",
    }  # fmt: skip


def test_two_ops_cannot_have_one_name_in_a_namespace(table: dict[str, Op]) -> None:
    @composite(functional=True)
    def mish(input: Tensor) -> Tensor:
        return input

    with pytest.raises(ValueError, match="F.mish and ops.mish are both declared to be functional's 'mish'"):
        visible_in("functional")


# ------------------------------------------------------------------------------------------ what the stubs say


def test_the_stubs_are_up_to_date() -> None:
    assert stubs.out_of_date() == [], "run python tools/stubs.py"


@pytest.mark.parametrize("module", [*NAMESPACES.values(), ops], ids=[*NAMESPACES, "ops"])
def test_a_stub_names_all_that_the_module_offers(module: ModuleType) -> None:
    body = ast.parse(stubs._file(module.__name__).read_text(encoding="utf-8")).body
    named = {name for node in body for name in names_of(node)}
    offered = {name for name, value in vars(module).items() if not name.startswith("_") and not is_module(value)}
    assert offered - named == set()


def is_module(value: object) -> bool:
    return isinstance(value, ModuleType)


def names_of(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.ImportFrom):
        yield from (name.asname or name.name for name in node.names)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        yield ast.unparse(target)


def test_an_editor_knows_that_what_is_made_is_a_tensor() -> None:
    """Else it offers no method after `x = torch.ones(3)`, the most usual line."""
    text = stubs.stub_of_face(torch)
    returned = {
        f.name: ast.unparse(f.returns) for f in ast.parse(text).body if isinstance(f, ast.FunctionDef) and f.returns
    }
    makers = [
        *stubs.MAKERS,
        "ones",
        "zeros_like",
        "rand",
        "randn",
        "randint",
        "arange",
        "linspace",
        "full",
        "eye",
        "stack",
    ]
    assert {name: returned[name] for name in makers} == dict.fromkeys(makers, "Tensor")


def test_annotations_are_said_in_words_that_no_op_hides() -> None:
    assert stubs.annotation("int | Sequence[int] | None") == "_int | Sequence[_int] | None"
    assert stubs.annotation("Array", and_numbers=True) == "Tensor | _Number"
    assert stubs.annotation("Thing[int]") == "Any"


def test_a_long_definition_has_a_parameter_a_line() -> None:
    assert list(stubs.definition("softmax", ops.softmax)) == [
        "def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Any = None) -> Tensor:",
        '    """exp(x) / sum(exp(x)) along `dim`, computed after subtracting the maximum."""',
    ]
    assert next(stubs.definition("conv2d", ops.conv2d)) == "def conv2d("
    assert all(len(line) <= stubs.WIDTH for line in stubs.definition("conv2d", ops.conv2d))


# ------------------------------------------------------------------------------------------ PyTorch's own

OURS_ONLY = {  # parts of nn.functional that are methods here, and a product that is only a function there
    "Tensor": {"_vector_norm", "elu_", "hardsigmoid_", "hardswish_", "hardtanh_", "leaky_relu_", "spmm"}
}
# What is not a parameter there. Most are written otherwise: PyTorch says *size, `from` (a word of Python's) or Tensor.
MORE_PARAMETERS = {
    "torch": {
        **dict.fromkeys(("empty", "ones", "rand", "randn", "zeros"), "sizes"),
        **dict.fromkeys(("celu", "rrelu", "selu", "threshold"), "inplace"),  # of nn.functional: one op here
        "split": "split_size",
        "true_divide": "rounding_mode",  # a second name of div
        "unique_consecutive": "dim return_counts return_inverse",  # *args there
    },
    "Tensor": {
        **dict.fromkeys(("new_empty", "new_ones", "new_zeros"), "sizes"),
        **dict.fromkeys(("dsplit", "hsplit", "tensor_split", "vsplit"), "indices_or_sections"),
        **dict.fromkeys(("true_divide", "true_divide_"), "rounding_mode"),
        **dict.fromkeys(("random_", "uniform_"), "low"),
        "split": "split_size_or_sections",
    },
    "nn.functional": {"layer_norm": "cudnn_enable"},  # of torch.layer_norm: one op here
    "linalg": {
        "lu_factor": "pivot",  # not in the docstring's first line
        "matrix_rank": "tol",  # its older parameters
        "norm": "A",
        "pinv": "rcond",
    },
    "special": {"round": "decimals"},
}
OTHER_WORDS = {  # where no form of PyTorch's has its parameters among ours
    "Tensor": {"uniform_"},  # `from`
    "linalg": {"lu_factor", "matrix_power", "vector_norm"},  # as they are documented, not as they are called
}
ANYWHERE = {"self", "input", "out", "device", "layout", "pin_memory", "requires_grad", "args", "kwargs"}
LEFT_OUT = ANYWHERE | {
    "dtype",
    "memory_format",
    "generator",
    "names",
}  # where PyTorch has them, and another form hasn't


@pytest.fixture(scope="module")
def pytorch() -> dict[str, dict[str, list[list[str]]]]:
    python = os.environ.get("TORCH_PYTHON")
    if not python:
        pytest.skip("set TORCH_PYTHON to a Python that has PyTorch")
    answer = subprocess.run([python, str(ORACLE)], capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def ours(space: str) -> dict[str, set[str]]:
    """The parameters in a stub, by the name of the function."""
    module = {"Tensor": stubs.METHODS, "torch": stubs.PACKAGE}.get(space, f"{stubs.PACKAGE}.{space}")
    body = ast.parse(stubs._file(module).read_text(encoding="utf-8")).body
    if space == "Tensor":
        body = next(node.body for node in body if isinstance(node, ast.ClassDef))
    return {node.name: _parameters(node.args) for node in body if isinstance(node, ast.FunctionDef)}


def _parameters(arguments: ast.arguments) -> set[str]:
    starred = [argument for argument in (arguments.vararg,) if argument is not None]
    return {argument.arg for argument in (*arguments.args, *starred, *arguments.kwonlyargs)}


SPACES = ["torch", "Tensor", "nn.functional", "linalg", "fft", "special"]


@pytest.mark.parametrize("space", SPACES)
def test_every_name_is_one_of_pytorch(space: str, pytorch: dict[str, dict[str, list[list[str]]]]) -> None:
    assert set(ours(space)) - set(pytorch[space]) == OURS_ONLY.get(space, set())


@pytest.mark.parametrize("space", SPACES)
def test_every_parameter_is_one_of_pytorch(space: str, pytorch: dict[str, dict[str, list[list[str]]]]) -> None:
    more = {
        name: " ".join(sorted(parameters.difference(ANYWHERE, *pytorch[space][name])))
        for name, parameters in ours(space).items()
        if pytorch[space].get(name)
    }
    assert {name: words for name, words in more.items() if words} == MORE_PARAMETERS.get(space, {})


@pytest.mark.parametrize("space", SPACES)
def test_a_form_of_pytorch_is_among_our_parameters(space: str, pytorch: dict[str, dict[str, list[list[str]]]]) -> None:
    missing = {
        name
        for name, parameters in ours(space).items()
        if "args" not in parameters and pytorch[space].get(name)
        and not any(set(form) - LEFT_OUT <= parameters for form in pytorch[space][name])
    }  # fmt: skip
    assert missing == OTHER_WORDS.get(space, set())
