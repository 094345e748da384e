"""FlopCounterMode: the counts of PyTorch 2.13 for the same program, attention apart, which it counts on GPUs only."""

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.utils.flop_counter import FlopCounterMode


def test_products_and_convolutions_are_counted():
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(3, 4)).sum().backward()
        nn.functional.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 3, 3))
    counts = counter.get_flop_counts()
    assert {op.name: count for op, count in counts["Global"].items()} == {"addmm": 288, "mm": 384, "convolution": 7776}
    assert counter.get_total_flops() == 8448
    assert {name: sum(parts.values()) for name, parts in counts.items() if name != "Global"} == {
        "Sequential": 288,
        "Sequential.0": 192,
        "Sequential.2": 96,
    }
    assert counter.get_table().splitlines()[2].split() == ["Global", "8,448", "100.00%"]
    assert nn.Module.__call__.__name__ != "counted"


def test_a_program_may_count_in_its_own_way():
    with FlopCounterMode(display=False, custom_mapping={torch.exp: lambda shape, out_shape: 7}) as counter:
        torch.ones(2).exp()
    assert counter.get_total_flops() == 7
