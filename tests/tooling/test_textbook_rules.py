"""The rules that keep the code readable as a textbook: small rooms, full names, nothing hidden, no machine's paths."""

import ast
import os
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = sorted(file for place in ("minitorch_compile", "authoring/checks") for file in (ROOT / place).rglob("*.py"))
CODE = PACKAGE + sorted((ROOT / "tools").rglob("*.py"))
NOT_OURS = {".venv", ".git", "build", "work", "dist", "htmlcov"}
# Where signatures are PyTorch's, or those of the ops that a rule is about: public functions and classes, `_` for rules.
PYTORCHS = ("_functorch", "autograd", "distributed", "fx", "jit", "nn", "optim", "prims", "profiler", "sparse", "utils")
PYTORCHS += ("hub.py", "testing.py")
OPS = "tensor/ops"  # here what computes an op takes the op's parameters, too
# Inner loops of convolutions, which take numbers one by one: in records, those over shifted planes took 5 % longer.
INNER_LOOPS = {
    "channels_last.py": {"add_channels", "add_products", "gather_rows", "multiply_channels", "multiply_groups",
                         "multiply_pixels", "pack_tap", "tile_at"},
    "convolution.py": {"add_products", "slide_kinds"},
    "shifted_planes.py": {"deal_planes", "slide"},
}  # fmt: skip
TEXT = {".py", ".md", ".toml", ".yml", ".ipynb", ".lock", ".svg", ".txt"}
VAGUE_NAMES = {"utils.py", "util.py", "helpers.py", "helper.py", "misc.py", "common.py"}


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def our_files() -> Iterator[Path]:
    """Every file of the checkout, the generated ones left out."""
    for folder, subfolders, files in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if name not in NOT_OURS and "cache" not in name]
        yield from (Path(folder, name) for name in files)


def functions(file: Path) -> Iterator[tuple[str, int]]:
    """(name, number of lines) of each function in a file."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or 0) - node.lineno + 1


def code_lines(file: Path) -> Iterator[int]:
    """The number of lines of each function in a file, its docstring counted as one."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            says = first if ast.get_docstring(node, clean=False) is not None else None
            yield (node.end_lineno or 0) - node.lineno + 1 - ((says.end_lineno or 0) - says.lineno if says else 0)


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller sees: not `self`, nor the context that Numba gives to what writes LLVM."""
    takes = function.args
    named = [a.arg for a in (*takes.posonlyargs, *takes.args)]
    of_itself = bool(named) and named[0] in ("self", "cls", "typing_context")
    return len(named) - of_itself + len(takes.kwonlyargs) + bool(takes.vararg) + bool(takes.kwarg)


def may_have_many_parameters(file: Path, name: str) -> bool:
    """Whether someone else decides what a function takes: PyTorch, an op, or the LLVM that `meaning` stands for."""
    path = file.relative_to(ROOT / "minitorch_compile")
    if path.parts[:2] == ("inductor", "kernels"):
        return name == "meaning" or name in INNER_LOOPS.get(file.name, ())
    public = name in ("_", "__init__") or not name.startswith("_")
    places = path.parts[0] in PYTORCHS or path.as_posix() == "compiler/compile.py"
    return path.as_posix().startswith(OPS) or (places and public)


def swallows_everything(node: ast.AST) -> bool:
    """Whether this is `except Exception: pass`, or broader."""
    if not (isinstance(node, ast.ExceptHandler) and isinstance(node.body[0], ast.Pass)):
        return False
    return node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))


def leaves_the_encoding_open(node: ast.AST) -> bool:
    """Whether text is read or written here in whatever encoding the user's locale names."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    is_text = "text" in given and isinstance(given["text"], ast.Constant) and given["text"].value is True
    of_a_file = (name == "read_text" and not node.args) or (name == "write_text" and len(node.args) == 1)
    return (of_a_file or is_text) and "encoding" not in given


def place(file: Path, node: ast.AST | None = None) -> str:
    return f"{file.relative_to(ROOT)}" + (f":{node.lineno}" if node is not None else "")  # type: ignore[attr-defined]


def test_no_file_is_longer_than_900_lines() -> None:
    assert [place(file) for file in CODE if file.read_text(encoding="utf-8").count("\n") > 900] == []


def test_text_is_read_and_written_in_utf8_whatever_the_locale_is() -> None:
    found = [place(file, node) for file in CODE for node in ast.walk(tree(file)) if leaves_the_encoding_open(node)]
    assert found == []


def test_every_file_is_named_after_the_one_thing_in_it() -> None:
    assert [place(file) for file in CODE if file.name in VAGUE_NAMES] == []


def test_every_file_begins_with_its_docstring() -> None:
    assert [place(file) for file in CODE if tree(file).body and not ast.get_docstring(tree(file))] == []


def test_no_function_is_longer_than_59_lines() -> None:
    assert [f"{place(file)}: {name}" for file in CODE for name, lines in functions(file) if lines > 59] == []


def test_no_function_takes_more_than_8_parameters() -> None:
    many = [
        f"{place(file, node)}: {node.name}"
        for file in PACKAGE
        for node in ast.walk(tree(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and parameters(node) > 8
        and not may_have_many_parameters(file, node.name)
    ]
    assert many == []


def test_most_functions_are_short() -> None:
    lengths = [lines for file in PACKAGE for lines in code_lines(file)]
    assert statistics.median(lengths) <= 4
    assert statistics.quantiles(lengths, n=10)[8] <= 14


def test_nothing_is_imported_unnamed() -> None:
    stars = [
        place(file, node)
        for file in CODE
        for node in ast.walk(tree(file))
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]
    assert stars == []


def test_no_exception_is_swallowed_unseen() -> None:
    assert [place(file, node) for file in CODE for node in ast.walk(tree(file)) if swallows_everything(node)] == []


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    here = [f"{ROOT}/", f"{Path.home()}/."]
    texts = [file for file in our_files() if file.suffix in TEXT]
    assert [place(file) for file in texts if any(path in file.read_text(encoding="utf-8") for path in here)] == []
