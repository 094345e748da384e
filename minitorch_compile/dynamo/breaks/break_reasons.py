"""The catalogue of graph break reasons: data, so that a page, a log line and an error all say the same.

Each reason has an id that stays, what happened in one sentence, and a hint on what the author of the line can do.

>>> print(REASONS["data-dependent-value"])
MTC-B07  data-dependent value
    The line needs the tensor's data, which does not exist while tracing.
    Hint: keep the value in a tensor (torch.where, masking), or move the line outside the compiled function.
"""

from __future__ import annotations

from dataclasses import dataclass

from minitorch_compile.dynamo.breaks.break_examples import EXAMPLES


@dataclass(frozen=True)
class BreakReason:
    """One row of the catalogue. `name` is the short form used in the tracer's own code."""

    id: str
    name: str
    explanation: str
    hint: str

    @property
    def title(self) -> str:
        return self.name.replace("-", " ").replace("data dependent", "data-dependent")

    def __str__(self) -> str:
        return f"{self.id}  {self.title}\n    {self.explanation}\n    Hint: {self.hint}"

    @property
    def page(self) -> str:
        """The entry of the catalogue in Markdown: what happened, what to do, a program that breaks and one that does
        not."""
        parts = [f"## {self.id} {self.title}", self.explanation, f"*What to do:* {self.hint}"]
        example = EXAMPLES.get(self.name)
        if example is not None:
            parts += ["```python\n" + example.breaks + "```"]
            parts += ["*Instead:*", "```python\n" + example.mended + "```"] if example.mended else []
        return "\n\n".join(parts) + "\n"

    def _repr_markdown_(self) -> str:
        return self.page


_ROWS = (
    BreakReason(
        "MTC-B01",
        "unsupported-call",
        "The function is written in C or unknown to the tracer, so what it does to its arguments can't be followed.",
        "call it outside the compiled function, or write it in Python or in tensor operations.",
    ),
    BreakReason(
        "MTC-B02",
        "explicit-break",
        "graph_break() asks for a break here.",
        "remove the call to graph_break().",
    ),
    BreakReason(
        "MTC-B03",
        "input-output",
        "Printing, logging and files act on the world outside while the graph has not run yet.",
        "move the line out of the compiled function, or print after it returned.",
    ),
    BreakReason(
        "MTC-B04",
        "disabled-function",
        "The function is marked with disable(), so it always runs as plain Python.",
        "remove the mark, or call the function outside the compiled region.",
    ),
    BreakReason(
        "MTC-B05",
        "data-dependent-jump",
        "Which way the branch goes depends on a tensor's data, which does not exist while tracing.",
        "torch.where computes both sides and selects; or move the check outside.",
    ),
    BreakReason(
        "MTC-B06",
        "generator-frame",
        "A generator or coroutine is suspended and resumed, which a compiled function can't be.",
        "compile the functions that the generator calls.",
    ),
    BreakReason(
        "MTC-B07",
        "data-dependent-value",
        "The line needs the tensor's data, which does not exist while tracing.",
        "keep the value in a tensor (torch.where, masking), or move the line outside the compiled function.",
    ),
    BreakReason(
        "MTC-B08",
        "unsupported-tensor-access",
        "This attribute or method of a tensor does something other than compute a new tensor.",
        "use a tensor operation instead, or move the line outside the compiled function.",
    ),
    BreakReason(
        "MTC-B09",
        "unsupported-store",
        "The store runs code, or changes an object, that the tracer can't replay after the graph.",
        "store into a plain object, list or dict; or do it outside.",
    ),
    BreakReason(
        "MTC-B10",
        "unsupported-object",
        "The object's class is written in C or overrides how Python works with it; the tracer can't look inside.",
        "take the numbers or tensors out of it before the compiled function is called.",
    ),
    BreakReason(
        "MTC-B11",
        "function-not-split",
        "The function can't be split where it breaks, so it runs as plain Python; what it calls is compiled.",
        "put the line that breaks, with what belongs to it, into a function of its own.",
    ),
    BreakReason(
        "MTC-B12",
        "raised-exception",
        "The function ends with an exception; it was run as plain Python, which raises it with the right traceback.",
        "nothing to do if the exception is meant.",
    ),
    BreakReason(
        "MTC-B13",
        "autograd-call",
        "The line runs or changes the autograd tape in a way that a graph can't: hooks, a history that lives on.",
        "call backward() on what the function itself computed from leaves; leave the rest outside.",
    ),
    BreakReason(
        "MTC-B14",
        "unrebuildable-value",
        "A value that lives on after the graph was made while tracing, in a way the generated code can't make again.",
        "return or store plain values: tensors, numbers, lists, dicts, objects of Python classes.",
    ),
    BreakReason(
        "MTC-B15",
        "data-dependent-shape",
        "The shape of the result depends on the tensor's data, which does not exist while tracing.",
        "use a masked form of fixed shape, or move the line outside.",
    ),
    BreakReason(
        "MTC-B16",
        "aliased-inputs-mutated",
        "Two inputs share memory and one of them is written in place; a graph treats its inputs as separate.",
        "clone one of them, or write the result into a new tensor.",
    ),
    BreakReason(
        "MTC-B17",
        "unsupported-syntax",
        "The tracer does not follow this statement.",
        "write it in another way, or move it to a function outside.",
    ),
    BreakReason(
        "MTC-B18",
        "outside-state",
        "The call reads the clock, the environment or a random generator, which a compiled function would freeze.",
        "read the value outside and pass it in, or use torch's random functions.",
    ),
    BreakReason(
        "MTC-B19",
        "metaclass-or-descriptor",
        "The class overrides attribute access, creation or comparison in a way the tracer does not follow.",
        "use plain attributes and methods in compiled code.",
    ),
    BreakReason(
        "MTC-B20",
        "recursion-limit",
        "Calls inside the traced function are nested deeper than the tracer follows.",
        "turn the recursion into a loop, or compile the function that is called.",
    ),
    BreakReason(
        "MTC-B21",
        "wrong-arguments",
        "The arguments don't fit the function's signature; the real call reports it.",
        "correct the call.",
    ),
    BreakReason(
        "MTC-B22",
        "missing-rule",
        "The operation has no shape rule for these arguments, so its result can't be foreseen.",
        "use another operation, or move the line outside.",
    ),
    BreakReason(
        "MTC-B23",
        "recompile-limit",
        "The function was compiled for many different inputs; new ones run as plain Python.",
        "see the log recompiles for what keeps changing; pass it as a tensor, or make it the same at each call.",
    ),
    BreakReason(
        "MTC-B24",
        "data-dependent-number",
        "The line must know a number that only the data tell: a size, or what .item() gave.",
        "torch._check(condition) says what always holds; torch.where computes both sides of a branch.",
    ),
)

REASONS: dict[str, BreakReason] = {row.name: row for row in _ROWS}


def break_reason(id: str) -> BreakReason:
    """The row of the catalogue with this id, as messages name it: `break_reason("MTC-B05")`.

    ValueError, listing the ids, for an unknown one.
    """
    for row in _ROWS:
        if row.id == id:
            return row
    known = ", ".join(row.id for row in _ROWS)
    raise ValueError(f"break_reason: no reason has the id {id!r}. Choose one of: {known}.")
