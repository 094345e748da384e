"""The pages of the API: each public name of the package with its signature and its docstring.

>>> as_markdown("The sum of *all*.\\n\\n>>> 1 + 1\\n2").splitlines()
['The sum of \\\\*all\\\\*.', '', '```pycon', '>>> 1 + 1', '2', '```']
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "minitorch_compile"
MODULES = (
    "", "nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "autograd", "func", "linalg",
    "fft", "special", "compiler", "fx", "export", "jit", "amp", "cuda", "profiler", "distributions", "sparse", "masked",
    "utils.data", "utils.checkpoint", "utils.benchmark", "backends.cudnn", "backends.cuda", "random", "testing",
)  # fmt: skip


def write_reference(folder: Path) -> list[str]:
    """A page for each public module, one for Tensor, and their names as Sphinx calls them."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for module in (importlib.import_module(f"{PACKAGE}.{part}".rstrip(".")) for part in MODULES):
        title = ("torch" + module.__name__.removeprefix(PACKAGE)).rstrip(".")
        (folder / f"{title}.md").write_text(page_of(title, module), encoding="utf-8")
        names.append(f"reference/{title}")
    tensor = importlib.import_module(PACKAGE).Tensor
    (folder / "torch.Tensor.md").write_text(
        "\n\n".join(["# torch.Tensor", *methods_of("torch.Tensor", tensor)]) + "\n", encoding="utf-8"
    )
    return [names[0], "reference/torch.Tensor", *names[1:]]


def page_of(title: str, module: ModuleType) -> str:
    parts = [f"# {title}", as_markdown(inspect.getdoc(module) or "")]
    for name, value in public(module):
        parts += entry("class" if inspect.isclass(value) else "function", f"{title}.{name}", value)
    return "\n\n".join(parts) + "\n"


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Functions, operations and classes that a module gives its users."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in sorted(names):
        value = getattr(module, name, None)
        if callable(value) and not isinstance(value, ModuleType) and inspect.getdoc(value) and name.isidentifier():
            if getattr(value, "__module__", PACKAGE).startswith(PACKAGE):
                yield name, value


def methods_of(title: str, kind: type) -> Iterator[str]:
    for name in sorted(dir(kind)):
        value = getattr(kind, name, None)
        if not name.startswith("_") and callable(value) and inspect.getdoc(value):
            yield from entry("method", f"{title}.{name}", value)


def entry(kind: str, name: str, value: Any) -> list[str]:
    """A directive of Sphinx's, from which the index is made, too."""
    return [f"`````{{py:{kind}}} {name}{signature_of(value)}\n\n{as_markdown(inspect.getdoc(value) or '')}\n`````"]


def signature_of(value: Any) -> str:
    """As Python writes it, without addresses; (...) where there is none."""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(...)"
    return re.sub(r"<[^<>]*>", "...", text.replace("minitorch_compile.", "torch.")).replace("\n", " ")


def as_markdown(text: str) -> str:
    """A docstring: its examples as code, and nothing in its sentences taken for Markdown but code."""
    lines, parts, example = text.splitlines(), [], False
    for line in lines:
        begins = line.lstrip().startswith(">>>")
        if begins and not example:
            parts.append("```pycon")
            example = True
        elif example and not line.strip():
            parts.append("```")
            example = False
        parts.append(line if example else escaped(line))
    return "\n".join([*parts, *(["```"] if example else [])])


def escaped(line: str) -> str:
    """Outside of `code`, what Markdown would take for emphasis, links, tags, titles or formulas; indents are kept."""
    pieces = re.split(r"(`+[^`]+`+)", line)
    plain = [piece if at % 2 else re.sub(r"([*_\[\]<>#$|{}~])", r"\\\1", piece) for at, piece in enumerate(pieces)]
    text = "".join(plain)
    indent = len(text) - len(text.lstrip())
    return "&nbsp;" * indent + text.lstrip() if indent > 3 else text  # what is indented so far would be code
