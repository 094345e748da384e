"""The machine that kernels are compiled for: all that a plan, a kernel or a key on disk needs to know of a processor.

Nothing else asks the processor. `current()` is what Numba compiles for: this machine, or the one that NUMBA_CPU_NAME
and NUMBA_CPU_FEATURES describe. LLVM knows how wide its vectors are and what it can do: a few functions are compiled
for it, and their instructions tell. So a name is enough, and nothing here needs a table of processors.

>>> avx512 = named("skylake-avx512", triple="x86_64-unknown-linux-gnu")
>>> avx512.vector_bytes, avx512.registers, avx512.can("float16"), avx512.can("bfloat16")
(64, 32, True, False)
>>> neon = named("generic", triple="aarch64-unknown-linux-gnu")
>>> neon.vector_bytes, neon.registers, neon.can("fma")
(16, 32, True)

Numbers that depend on it, such as how many rows a tile has, are declared with `machine_number`. They are functions, of
which native code makes constants. Tests (and whoever wants to read code for another machine) set another one:

>>> @machine_number
... def rows(machine):
...     return 12 if machine.registers == 32 else 6
>>> with using(avx512):
...     rows()
12
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
from numba import config
from numba.core.registry import cpu_target
from numba.extending import overload

from minitorch_compile import logs
from minitorch_compile.tensor.cpu import target_processor as named_processor  # noqa: F401 (a name means that processor)
from minitorch_compile.tensor.cpu.thread_count import usable_cores

log = logs.artifact("machine")

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")  # where Linux says what the first core has
USUAL_CACHES = (1 << 15, 1 << 19, 1 << 23)  # bytes, where the system doesn't say


@dataclass(frozen=True)
class Machine:
    """`features` are LLVM's, on top of those of `cpu`; `instructions` those of PROBES (and AMX) that it has."""

    cpu: str
    features: str
    triple: str
    vector_bytes: int
    registers: int  # that hold a vector each
    instructions: frozenset[str]
    caches: tuple[int, int, int]  # bytes of the first (for data), second and third level
    cores: int  # that this process may use

    def can(self, instruction: str) -> bool:
        """Whether it has such instructions: "fma", "float16", "bfloat16", "vnni" or "amx"."""
        return instruction in self.instructions

    @property
    def level_2(self) -> int:
        """Bytes of the second-level cache."""
        return self.caches[1]

    @property
    def key(self) -> str:
        """All that machine code and its plans depend on. Kernels know no cores: they are given ranges."""
        return f"{replace(self, cores=0, instructions=frozenset())} {sorted(self.instructions)}"

    def __str__(self) -> str:
        sizes = ", ".join(f"{size >> 10} kB" for size in self.caches)
        can = ", ".join(sorted(self.instructions)) or "none of the optional instructions"
        vectors = f"{self.registers} registers of {self.vector_bytes} bytes"
        return f"{self.cpu} ({self.triple}): {vectors}; {can}; caches of {sizes}; {self.cores} cores"


# ------------------------------------------------------------------------------------------------ found out


# Functions that are compiled for a processor, and the instruction which shows that it has what is asked for.
PROBES = {
    "fma": (
        "float @probe_fma(float %a, float %b, float %c)",
        "%r = call float @llvm.fma.f32(float %a, float %b, float %c)\n ret float %r",
        r"\s(vfn?m|fn?m)add",
    ),
    "float16": (
        "float @probe_half(half %a)",
        "%r = fpext half %a to float\n ret float %r",
        r"\s(vcvtph2psx?|vcvtsh2ss|fcvt)\s",
    ),
    "bfloat16": (
        "<4 x bfloat> @probe_bfloat(<4 x float> %a)",
        "%r = fptrunc <4 x float> %a to <4 x bfloat>\n ret <4 x bfloat> %r",
        r"\s(vcvtneps2bf16|bfcvtn?)",
    ),
    "vnni": (
        "<4 x i32> @probe_dot(<4 x i32> %sum, <8 x i16> %a, <8 x i16> %b)",
        """%x = sext <8 x i16> %a to <8 x i32>
 %y = sext <8 x i16> %b to <8 x i32>
 %products = mul nsw <8 x i32> %x, %y
 %even = shufflevector <8 x i32> %products, <8 x i32> %products, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
 %odd = shufflevector <8 x i32> %products, <8 x i32> %products, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
 %pairs = add <4 x i32> %even, %odd
 %r = add <4 x i32> %sum, %pairs
 ret <4 x i32> %r""",
        r"\svpdpwssd",
    ),
}
WIDTH = (
    "void @probe_width(ptr %p)",
    "%a = load <16 x float>, ptr %p, align 4\n %b = fadd <16 x float> %a, %a\n"
    " store <16 x float> %b, ptr %p, align 4\n ret void",
)
VECTOR_NAMES = {"zmm": 64, "ymm": 32}  # of x86's registers; narrower ones have 16 bytes


def described(cpu: str, features: str, triple: str) -> Machine:
    """The machine of this name, with the caches and cores of the one that this is."""
    is_x86 = triple.startswith(("x86_64", "i686"))
    text = _assembly(cpu, features, triple)
    bodies = dict(re.findall(r"^_?probe_(\w+):(.*?)(?=^_?probe_|\Z)", text, re.MULTILINE | re.DOTALL))
    vector_bytes = max((size for name, size in VECTOR_NAMES.items() if name in bodies["width"]), default=16)
    found = {
        name
        for name, (head, _, shown_by) in PROBES.items()
        if re.search(shown_by, bodies[head.partition("@probe_")[2].partition("(")[0]])
    }
    if "+amx-tile" in features.split(","):  # a matrix in tiles is nothing that other code could become
        found.add("amx")
    registers = 16 if is_x86 and vector_bytes < 64 else 32
    return Machine(cpu, features, triple, vector_bytes, registers, frozenset(found), cache_sizes(), usable_cores())


def _assembly(cpu: str, features: str, triple: str) -> str:
    """What LLVM makes of the probes."""
    functions = [(head, body) for head, body, _ in PROBES.values()]
    text = "\n".join(f"define {head} {{\n {body}\n}}" for head, body in [*functions, WIDTH])
    machine = target_of(triple).create_target_machine(cpu=cpu, features=features, opt=2)
    module = llvm.parse_assembly(
        f'target triple = "{triple}"\ndeclare float @llvm.fma.f32(float, float, float)\n{text}'
    )
    return str(machine.emit_assembly(module))


def target_of(triple: str) -> llvm.Target:
    """LLVM's part for one kind of processor. RuntimeError if there is none."""
    if triple != llvm.get_process_triple():
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(triple)


def cache_sizes() -> tuple[int, int, int]:
    """The bytes of the caches that hold data, level by level, as far as the system says."""
    sizes = dict(enumerate(USUAL_CACHES, 1))
    for folder in sorted(CACHES.glob("index*")):
        level, kind, size = ((folder / name).read_text("ascii").strip() for name in ("level", "type", "size"))
        known = re.fullmatch(r"(\d+)([KMG]?)", size)
        if kind != "Instruction" and known and int(level) in sizes:
            sizes[int(level)] = int(known[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[known[2]]
    return sizes[1], sizes[2], sizes[3]


# ------------------------------------------------------------------------------------------------ asked for


_set: list[Machine] = []  # those that `using` has set, the innermost last


@cache
def host() -> Machine:
    """What Numba compiles for in this process."""
    code = cpu_target.target_context.codegen()
    machine = described(code._get_host_cpu_name(), code._tm_features, llvm.get_process_triple())
    log(str(machine))
    return machine


@cache
def named(cpu: str, features: str = "", triple: str | None = None) -> Machine:
    """The machine that LLVM knows under this name; its caches and cores are taken to be this one's."""
    return described(cpu, features, triple or llvm.get_process_triple())


def current() -> Machine:
    """The machine that kernels are planned and written for."""
    return _set[-1] if _set else host()


@contextmanager
def using(machine: Machine) -> Iterator[Machine]:
    """Inside, kernels are planned and written for that machine. They can be looked at; they are not run here."""
    _set.append(machine)
    try:
        yield machine
    finally:
        _set.pop()


def check_compiles_here() -> None:
    """RuntimeError where another machine is set: Numba would compile its plans for this one."""
    if current().key != host().key:
        raise RuntimeError(
            f"machine: kernels for {current().cpu} can't be compiled here, where Numba compiles for {host().cpu}; "
            "leave `using`, or start Python with NUMBA_CPU_NAME"
        )


Number = int | Callable[[], int]


def value_of(number: Number) -> int:
    """A number, or what a `machine_number` is now."""
    return number if isinstance(number, int) else number()


def machine_number(rule: Callable[[Machine], int]) -> Callable[[], int]:
    """A number that depends on the machine, as a function; a call of it in native code is a constant."""

    def ask() -> int:
        return rule(current())

    ask.__name__, ask.__qualname__ = rule.__name__, rule.__qualname__
    ask.__module__, ask.__doc__ = rule.__module__, rule.__doc__
    if not config.DISABLE_JIT:

        @overload(ask)
        def _native() -> Callable[[], int]:
            number = ask()
            return lambda: number

    return ask
