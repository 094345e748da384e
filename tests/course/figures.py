"""The figures in the lessons' prose: where each comes from. `test_figures.py` finds them, and compares.

A row has words of the prose, as they stand there (without code between backquotes), and where the figure is shown: a
check of the lesson's stored outputs, or of its code; or, for what no cell prints, a sentence that says why.

Whoever changes a figure, or the program behind it, is told by the test which row to look at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from minitorch_compile.course import lesson_minutes
from minitorch_compile.course.drawings.beside import recording
from minitorch_compile.dynamo.bytecode.instructions import INSTRUCTIONS
from minitorch_compile.kernel_library import chunk_lengths


@dataclass(frozen=True)
class Lesson:
    """What a lesson shows: the text of all outputs, and its code."""

    outputs: str
    code: str

    def has(self, pattern: str) -> bool:
        return re.search(pattern, self.outputs, re.MULTILINE) is not None

    def all(self, pattern: str) -> list[float]:
        """The numbers that the pattern's group finds in the outputs."""
        return [float(found.replace(",", "")) for found in re.findall(pattern, self.outputs, re.MULTILINE)]

    def number(self, pattern: str) -> float:
        return self.all(pattern)[0]

    def lines(self, *names: str) -> int:
        """How many lines that aren't empty the definitions of these names have, together."""
        bodies = [node for node in ast.walk(ast.parse(self.code)) if getattr(node, "name", None) in names]
        texts = [ast.get_source_segment(self.code, node) or "" for node in bodies]
        assert len(texts) >= len(names), names
        return sum(bool(line.strip()) for text in texts for line in text.splitlines())


Check = Callable[[Lesson], bool] | str

TORCH = "a fact about PyTorch 2.13, from its source: "
IDIOM = "no measurement"
MACHINE = "a fact about processors, the same in every manual"

TOUR: dict[str, Check] = {
    "150 words or six lines of code a minute": lambda it: (
        (lesson_minutes.WORDS_A_MINUTE, lesson_minutes.LINES_A_MINUTE) == (150, 6)
    ),
    "A fifth of the images": lambda it: it.number(r"(\d+) for the test") * 5 == 1800,
    "took as long as thousands of others": lambda it: (
        it.number(r"first compiled step took ([\d.]+) s") * 1000 > 1000 * it.number(r"^compiled +([\d.]+) ms")
    ),
    "in a few microseconds": "lesson 05 measures it, in the cell under 'What a check costs'",
    "Five lines: where": lambda it: bool(
        re.search(r"^Graph break in .*\n(.+\n){3,4}.+MTC-B07", it.outputs, re.MULTILINE)
    ),
    "nearly half a million lines of Python there": lambda it: 450_000 < it.number(r"^.*all +(495,026)$") < 500_000,
    "about sixty thousand here": lambda it: 55_000 < it.number(r"^all +([\d,]+)") < 65_000,
}

FIRST: dict[str, dict[str, Check]] = {
    "01": {
        "a tensor in forty lines": lambda it: (
            35 <= it.lines("View", "new", "swapped", "transpose", "select", "slice_", "expand") <= 50
        ),
        "fetches the 64 bytes": MACHINE,
        "The two lines below": "the two calls of print in the next cell",
        "several times slower": lambda it: (
            it.number(r"stepping by 4000 +([\d.,]+)") > 2 * it.number(r"stepping by 1 +([\d.,]+)")
        ),
        "nine lines generate a kernel": lambda it: it.lines("addition_kernel") == 9,
        "a par of 0 bytes": "the par of exercise 01.6",
    },
    "02": {
        "four terabytes. The fourth": "a million by a million numbers of four bytes",
        "four terabytes, worked out": "a million by a million numbers of four bytes",
        "half of the promise": IDIOM,
        "three hundred bytes of 1 don't add up to 44": lambda it: 300 % 256 == 44,
        "Nine lines. Don't pass over": lambda it: it.lines("dispatch") == 10,  # with its docstring
        "is two multiplications": lambda it: it.outputs.partition("backward\n")[2].count("watched: mul") >= 2,
        "Some microseconds, and more if a tape is wanted": lambda it: (
            1 < it.number(r"small \* small +([\d.]+)") < it.number(r"recorded \* small +([\d.]+)") < 20
        ),
        "some 800 rows, many of which": lambda it: 750 < operations() < 900,
        "some 800 rows. It puts": lambda it: 750 < operations() < 900,
    },
    "03": {
        "One byte, and the function": lambda it: it.has(r"repaired: +12"),
        "in some hundred and fifty lines": lambda it: (
            120
            < it.lines(
                "Returned", "Straight", "popn", "Calculator", "Looping", "Calling", "Catching", "Yielded", "Waiting"
            )
            < 180
        ),
        "is ten lines in": "the body of `Catching.step`",
        "a few simple handlers": IDIOM,
        "The first six handlers": lambda it: it.has(r"^Calculator +6 "),
        "Calls alone bring a fifth": lambda it: (
            18 <= it.number(r"^Calling .* (\d+)$") - it.number(r"^Looping .* (\d+)$") <= 23
        ),
        "one to five lines": "of the package's handlers of containers and formatting",
        "three of its handlers": "three of the four texts that the cell prints",
        "Five lines turned": lambda it: it.lines("Words") == 5,
        "fewer than a hundred, which": lambda it: 80 < len(INSTRUCTIONS) < 100,
        "with a tensor as price and 25 as percent": "the argument of the call below",
    },
    "04": {
        "five operations on tensors": lambda it: len(re.findall(r': "f32\[\d, \d\]" =', it.outputs)) >= 5,
        "Twenty lines, and we have": lambda it: 18 <= it.lines("StandIn", "trace_by_running") <= 24,
        "A few lines for constants": IDIOM,
        "between two instructions": IDIOM,
        "two of the fifteen instructions": lambda it: instructions_of_shifted(it) == 15,
        "More than a thousand instructions, for fourteen operations": lambda it: it.has(
            r"^1\d\d\d instructions executed, 14 operations"
        ),
        "The same five operations": lambda it: recording("04_graph").theirs.count('" = ') == 5,
        "in more than 50,000 lines; ours are about 60": TORCH + "torch/_dynamo/variables has 239 classes, 53,818 lines",
    },
    "05": {
        "needs a few microseconds for it": lambda it: all(
            each < 10 for each in it.all(r"guards +([\d.]+) microseconds")
        ),
        "Nine guards and one line": lambda it: it.has(r"(\A|\n)type\(invert\).*\n(.+\n){8}\nt0 = .*\nreturn"),
        "half of them in training": "the loops of the cell below",
        "costs twice the checks": lambda it: it.number(r"alternating: (\d+)") / it.number(r"two phases: +(\d+)") > 1.9,
        "your two lines, type and value": "the printed text of `equals`",
        "Forty times as many guards, and nothing like forty times as long": lambda it: (
            33 < quotient(it.all(r"(\d+) guards +[\d.]+ micro")) < 50
            and quotient(it.all(r"guards +([\d.]+) micro")) < 15
        ),
    },
    "06": {
        "a hundred innocent lines": IDIOM,
        "Put a few instructions before it": IDIOM,
        "Two instructions of ours": lambda it: it.has(r"LOAD_FAST.*stack0\D*\n.*JUMP"),
        "it costs a few bytes": IDIOM,
        "two lines later": "of the program above",
    },
    "07": {
        "Less than a hundred nanoseconds more": lambda it: (
            it.number(r"under the hook: (\d+) ns") - it.number(r"a call: (\d+) ns") < 100
        ),
        "some four thousand lines": TORCH + "torch/_dynamo/trace_rules.py has 4,219 lines",
        "would take most of a century": "fib(80) makes 7.6e16 calls; at 36 ns each that is 87 years",
    },
    "08": {
        "hundreds of times faster": lambda it: (
            100 < it.number(r"nudge_each +([\d.]+) ms") / it.number(r"walk_back +([\d.]+) ms") < 3000
        ),
        "in less than fifty lines": lambda it: (
            40 < it.lines("Node", "Var", "mul", "add", "sin", "exp", "total", "backward") < 50
        ),
        "A tape in twenty lines": lambda it: it.lines("Node", "Var", "mul", "add", "sin", "exp", "total") == 20,
        "sixty-five thousand visits": lambda it: it.has(r"15 additions: +65535 visits"),
        "Between two nodes": IDIOM,
        "4,000 bytes each": lambda it: it.number(r"checkpointed: +(\d+) bytes") == 0 and "torch.ones(1000, " in it.code,
        "A third of the memory": lambda it: 2.5 < it.number(r"all kept: +(\d+) bytes") / (10 * 4000) < 3.5,
        "The same few lines": "the function `walked`",
    },
    "09": {
        "some hundreds of tensors": IDIOM,
        "to more than 95 percent": lambda it: min(it.all(r"^(?:sgd|momentum|adamw) +([\d.]+) percent")) > 95,
        "a fifth of them set aside": lambda it: it.has(r"\[1437, 64\].*\[360, 64\]"),
        "Not five thousand numbers to train": lambda it: 64 * 64 + 64 + 64 * 10 + 10 == 4810,
        "more than 95 of 100 digits": lambda it: min(it.all(r"^(?:sgd|momentum|adamw) +([\d.]+) percent")) > 95,
        "four arrays of 262,144 bytes read, three written, seven in all": lambda it: (
            it.number(r"^1 kernel, ([\d,]+) bytes") == 7 * 262_144
        ),
        "a third of its bound squared": "the variance of a uniform number",
        "one file of about three thousand lines": TORCH + "torch/nn/modules/module.py has 3,053 lines",
    },
    "10": {
        "Three operations, for three rows": lambda it: it.has(r"^vmap: \['mul', 'sum', 'sqrt'\]"),
        "Three operations, for twelve pairs": lambda it: it.has(r"^\['sub', 'mul', 'sum'\]"),
        "There are hundreds of operations": lambda it: sum(it.all(r"(\d+)$")) > 200,
        "is these six lines": lambda it: it.lines("push_forward") == 8,  # with its first line and its docstring
    },
    "11": {
        "on a quarter of a million numbers": lambda it: "250_000" in it.code,
        "An interpreter for them takes fifteen lines": lambda it: (
            12 <= it.lines("shape_rule", "Fake", "call", "_") <= 16
        ),
        "In a graph of thousands of boxes": IDIOM,
        "five hundred times narrower": lambda it: (
            it.number(r"^read: tanh ([\d,]+)") / it.number(r"^cut: +rows columns ([\d,]+)") == 500
        ),
        "some hundreds of ATen operations": TORCH + "the core set alone has about 180",
    },
    "12": {
        "More than eight hundred.": lambda it: 800 < it.number(r"^(\d+) operations, among them") < 900,
        "not simply one of the prims": IDIOM,
        "A machine with fourteen instructions": lambda it: len(re.findall(r'"\w+"', machine_text(it.code))) == 14,
        "It takes three instructions": lambda it: it.code.count('("largest", ') + it.code.count('("stretched", ') == 2,
        "Seven instructions for one": lambda it: it.has(r"^t6 divide"),
        "Some prims are in every other": lambda it: (
            it.all(r"in (\d+) of them")[0] > 0.3 * it.number(r"^(\d+) operations come down")
        ),
        "within half an ulp is as good": "a definition",
        "A few ulps are normal": IDIOM,
        "Almost half of it computes nothing": lambda it: (
            0.35
            < sum(it.all(r"^(?:reshape|broadcast_in_dim|full) +#+ (\d+)")) / it.number(r"^prims +(\d+) nodes")
            < 0.6
        ),
        "A pass in ten lines": lambda it: it.lines("drop_zeros") <= 10,
        "that nine prims don't": lambda it: recorded_calls("prims\\.", it.outputs) >= 9,
        "no hundred prims express": IDIOM,
        "rules for a few hundred operations": TORCH + "torch/_refs and torch/_decomp",
        "about 180 operations": TORCH + "torch.export's core ATen set",
        "there are hundreds of them": TORCH + "torch/_inductor/fx_passes",
        "tested to two ulps": "tests/prims/accuracy.py",
        "rules for some hundreds of ops": lambda it: it.number(r"^(\d+) operations come down") > 300,
    },
    "13": {
        "numbers of four bytes: the input has 8 MB, the result has 8 MB": lambda it: it.has(
            r"reads +0 MB, writes 8 MB"
        ),
        "So 16 MB have to move": "8 MB and 8 MB",
        "it is nine times as much": lambda it: it.number(r"^all together (\d+) MB") == 9 * 16,
        "two million times the same number": "2048 by 1024",
        "many billions of additions": MACHINE,
        "taking apart are two lines each": IDIOM,
        "in some twenty lines that you can check": lambda it: 18 <= it.lines("Compute") <= 25,
        "about as fast as the third": lambda it: (
            it.number(r"^one loop +([\d.]+) ms") < 2 * it.number(r"^a copy +([\d.]+) ms")
        ),
        "Seven prims have become three loops": lambda it: it.has(r"^buf2 = store"),
        "counts as eight operations": "the account in inductor/lowering",
        "at two to three times the least": lambda it: all(
            16 <= each <= 24.1 for each in it.all(r"^(?:softmax|layer_norm) .* ([\d.]+)$")
        ),
        "well over a hundred operations": TORCH + "torch/_inductor/ops_handler.py",
        "some hundreds of rules": TORCH + "torch/_inductor/lowering.py",
        "boxes and two handlers": "the steps of mini/loops.py",
    },
    "14": {
        "fifty billion additions": MACHINE,
        "three or four billion numbers": MACHINE,
        "fewer than ten operations": "fifty billion by three or four",
        "you build one in about a hundred lines": lambda it: 80 < scheduler_lines(it) < 120,
        "only half of a wrong answer": lambda it: it.has(r"^\[50, 50, 50, 50\] \[10, 20, 50, 50\]"),
        "four thousand bytes in our case": lambda it: 1024 * 4 == 4096,
        "why your program has two kernels": IDIOM,
        "If two kernels share a buffer": IDIOM,
        "That's all. A hundred lines": lambda it: 80 < scheduler_lines(it) < 120,
        "Twenty megabytes": lambda it: it.has(r"^fused: \d+ kernels?, 20 MB"),
        "gets along with half of its bytes": "exercise 14.5",
        "a hundred times the memory": IDIOM,
        "320 bytes are alive, b and c, and we need 384": lambda it: it.has(r"^peak 384 of") and 64 * (2 + 3) == 320,
        "Seven operations": lambda it: it.has(r"^\d kernels?, [\d,]+ bytes"),
        "some microseconds": TORCH + "the launch of a CUDA kernel",
        "between two kernels, rewrite": "the exercises' titles",
        "it takes half of its bytes": "exercise 14.5",
        "between two kernels, puts": IDIOM,
    },
    "15": {
        "eight times slower": MACHINE,
        "at half the speed": MACHINE,
        "each of half the exponent": IDIOM,
        "Below one ulp, over the whole line": lambda it: max(it.all(r"worst: ([\d.]+) ulps")) < 1,
        "off by nine percent": lambda it: it.has(r"^one accumulator .* off by 9e-02"),
        "twice as coarse": "the distance of neighbours of a float doubles at each power of two",
        "for millions of additions": lambda it: "10_000_000" in it.code,
        "lines of 64 bytes": MACHINE,
        "is 32 lines of memory": MACHINE,
        "for some microseconds, then sleep": "inductor/runtime/pool.py",
        "some ten microseconds": "measured by benchmarks/, for a thread that sleeps",
        "more than 30 microseconds": lambda it: chunk_lengths.WORTHWHILE == 30_000,
        "1 ulp for most": TORCH + "sleef's functions of 1 ulp",
        "a few hundred lines of our own": "inductor/kernels/vecmath",
    },
    "16": {
        "nearly four megabytes": lambda it: 960 * 960 * 4 == 3_686_400,
        "b comes from far away 960 times": lambda it: "N = 960" in it.code,
        "has 18 kB": lambda it: 48 * 96 * 4 == 18_432,
        "that's 11 loads for 24 multiplications": lambda it: (8 + 3, 8 * 3) == (11, 24),
        "is about 18 operations on 8 bytes": lambda it: 'points["exp"] = (18 / 8' in it.code,
        "eight times as much to multiply": lambda it: 256 / 32 == 8,
        "It has two kernels": "the line that the cell prints",
    },
    "17": {
        "Twice the length is four times the scores, but only twice the rest": "the square of a double",
        "would have been sixteen megabytes": lambda it: 4 * 1024 * 1024 * 4 == 16 * 2**20,
        "the first touch of each 4096 bytes": MACHINE,
        "until half of the calls are spoilt": IDIOM,
    },
    "18": {
        "which is a good dozen operations": "what the MLP calls between its two products, in the drawing of its graph",
        "Two lines, of which you see one": "the drawing",
        "In prims some operations become several": IDIOM,
        "beats your eager one each time": lambda it: len(times_faster(it)) == 3 and min(times_faster(it)) > 1,
        "a graph of few simple operations": IDIOM,
        "some hundreds of operations, each": lambda it: operations() > 300,
        "a few dozen operations that all others": "the prims of mini, authoring/mini/prims.py",
        "with as few bytes as you can": "an exercise's title",
    },
    "19": {
        "in a dozen lines": lambda it: 6 <= it.lines("launch") + it.lines("reverse_each_block") <= 13,
        "Here are two kernels with the same work": "the table below has both",
        "*sectors* of 32 bytes": MACHINE,
        "more than a third of the register file": lambda it: (
            "(1024, 40, 0)" in it.code and 1 - 1024 * 40 / 65536 > 1 / 3
        ),
        "In the last two lines": "the loop over the four sums",
        "which come by one load of 16 bytes": lambda it: it.has(r"vectors\.load_4\("),
        "takes some 25 microseconds of Python": "measured on one H200, with numba-cuda 0.30: 24 to 32",
        "about two microseconds for twenty kernels": "measured on one H200: 1.6 to 2.5",
    },
}


def operations() -> int:
    from minitorch_compile.tensor.dispatch.op import table

    return len(table)


def times_faster(it: Lesson) -> list[float]:
    """The column of this name in the table of the capstone."""
    table = it.outputs[it.outputs.index("times faster") :]
    return [float(found) for found in re.findall(r"^(?:MLP|CNN|GPT) +[\d.,]+ +[\d.,]+ +([\d.]+)", table, re.MULTILINE)]


def quotient(pair: list[float]) -> float:
    return max(pair) / min(pair)


def machine_text(code: str) -> str:
    return code[code.index("MACHINE = {") : code.index("}\n\n", code.index("MACHINE = {"))]


def recorded_calls(pattern: str, text: str) -> int:
    return len(re.findall(pattern, text))


def instructions_of_shifted(it: Lesson) -> int:
    """The steps that the drawing of `shifted` shows; they are numbered from 0."""
    return int(it.all(r"^ *(\d+) +RETURN_VALUE")[-1]) + 1


def scheduler_lines(it: Lesson) -> int:
    return it.lines(
        *("Notes", "touched", "reads", "writes", "turns", "common_sizes", "row", "why_not", "needed", "between"),
        *("score", "in_order", "greedy"),
    )


FIGURES = {"00": TOUR, **FIRST}
