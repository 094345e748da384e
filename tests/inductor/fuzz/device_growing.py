"""Random programs for a GPU: mostly what its kernels are about, rows and columns of many sizes, transposes, what is
broadcast along either; with fewer lines of the sheets than other programs have (`growing.py`), and no random numbers,
which a GPU's generator makes otherwise.

>>> program = grow_for_device(3)
>>> program.device, program.sizes_are in CHANGES
('cuda', True)
"""

from __future__ import annotations

from dataclasses import replace

import minitorch_compile as torch
from tests.inductor.fuzz.growing import Grower, Rejected
from tests.inductor.fuzz.programs import Program
from tests.inductor.fuzz.thresholds import CHANGES
from tests.inductor.fuzz.vocabulary import UNARY

# Lengths that vectors divide and that they don't, of rows that a thread, a warp or a block has, and squares' edges.
SIZES: tuple[tuple[int, ...], ...] = (
    *((1,), (31,), (64,), (500,), (1027,), (0, 64)),
    *((33, 36), (64, 48), (40, 17), (3, 260), (5, 131), (2, 520), (1, 2052), (130, 9), (300, 4), (17, 64)),
    *((4, 20, 16), (2, 33, 18), (20, 1, 40), (3, 5, 7, 8), (2, 16, 4, 17)),
)
FLOATS = ("float32", "float64", "float16", "bfloat16")
ELEMENTS = (*FLOATS[:1] * 6, *FLOATS * 2, "complex64", "int8", "int16", "int32", "int64", "uint8", "bool")
ELSEWHERE = ("cpu", "histogram(")  # what ends in main memory, and what PyTorch has for it alone
LINES = """
{0}.sum(0) * 0.1
{0}.sum(-1) * 0.1
{0}.mean()
{0}.amax(0)
{0}.amin(-1, keepdim=True) + {0}
{0} - {0}.amax(0)
({0} * 0.1).exp().sum((0, -1))
(1 + {0} * 0.01).prod(-1)
torch.log_softmax({0}, 0)
torch.logsumexp({0}, -1)
F.layer_norm({0}, {0}.shape[-1:])
F.rms_norm({0}, {0}.shape[-1:])
{0}.var(0, keepdim=True) + {0}
{0} / (1 + {0}.abs().sum(-1, keepdim=True))
{0}.transpose(0, -1).contiguous() * 2
{0}.transpose(0, -1) + {0}.amax()
{0}.transpose(0, -1).contiguous().softmax(-1)
{0} + {0}.sum(-1).unsqueeze(-1) * 0.1
{0}.argmax(0)
{0}.argmin()
{0}.any(-1)
({0} > 0).all(0)
({0} > 0).sum(0)
torch.cumsum({0}, -1) * 0.1
F.pad({0}, (1, 2))
{0}.index_select(0, torch.arange({0}.shape[0] - 1, -1, -2).abs())
{0}[:, torch.tensor([0, -1, 1])]
{0}.roll(1, -1)
torch.where({0} > {0}.mean(), {0}, 0)
{0}.view({0}.shape[0], -1).t()
{0}.clamp(-1, 1).norm(dim=-1)
torch.stack([{0}, {0} * 2], -1)
{0}.contiguous().view(-1)[1:]
torch.conj({0}) * {0}
{0}.to(torch.float64).sum(-1)
{0}.long().sum(0)
""".strip().splitlines()


class DeviceGrower(Grower):
    """Grows a program that is compiled for a GPU."""

    sizes, elements, most_elements, largest_value = SIZES, ELEMENTS, 5000, 400.0
    lengths, likely = (1, 1, 2, 2, 2, 3, 4), (2, 4, 8, 2, 1)
    unary_lines = (*LINES, *LINES, *(line for line in UNARY if "dropout" not in line and "rand" not in line))

    def run(self, line: str) -> None:
        if any(word in line for word in ELSEWHERE):
            raise Rejected("not for a GPU")
        super().run(line)
        after = torch.get_rng_state()
        torch.manual_seed(self.program.seed)
        if not torch.equal(after, torch.get_rng_state()):
            raise Rejected("draws random numbers")


def grow_for_device(seed: int) -> Program:
    """The program of a seed, for the current GPU."""
    program = DeviceGrower(seed).grow()
    return replace(program, device="cuda", sizes_are=sorted(CHANGES)[seed % len(CHANGES)])
