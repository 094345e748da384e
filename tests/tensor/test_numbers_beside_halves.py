"""Numbers beside float16 and bfloat16 tensors: most ops round them to the tensor's dtype first; a product or a quotient
takes them as they are. What PyTorch computes is recorded; compiled code computes the same."""

import pytest

import minitorch_compile as torch
from minitorch_compile.nn import functional as F

RECORDED = {
    "x + s": (
        [0.7001953125, 1.2001953125, 1.900390625, 3.298828125],
        [0.703125, 1.203125, 1.8984375, 3.3125],
    ),
    "s - x": (
        [0.5, 0.0, -0.69970703125, -2.099609375],
        [0.5, 0.0, -0.6953125, -2.09375],
    ),
    "x * s": (
        [0.05999755859375, 0.360107421875, 0.77978515625, 1.619140625],
        [0.06005859375, 0.361328125, 0.77734375, 1.625],
    ),
    "x / s": (
        [0.1666259765625, 1.0, 2.166015625, 4.5],
        [0.1669921875, 1.0, 2.15625, 4.5],
    ),
    "x // s": (
        [0.0, 1.0, 2.0, 4.0],
        [0.0, 1.0, 2.0, 4.0],
    ),
    "x % s": (
        [0.0999755859375, 0.0, 0.099609375, 0.298828125],
        [0.10009765625, 0.0, 0.09375, 0.296875],
    ),
    "x ** s": (
        [0.2509765625, 0.73583984375, 1.169921875, 1.814453125],
        [0.25, 0.73828125, 1.171875, 1.8203125],
    ),
    "s ** x": (
        [0.9501953125, 0.73583984375, 0.51513671875, 0.251953125],
        [0.94921875, 0.73828125, 0.515625, 0.25390625],
    ),
    "x == s": (
        [False, True, False, False],
        [False, True, False, False],
    ),
    "torch.add(x, y, alpha=s)": (
        [1.1201171875, 0.7802734375, 1.83984375, 3.958984375],
        [1.125, 0.78125, 1.8359375, 3.96875],
    ),
    "torch.lerp(x, y, s)": (
        [1.060546875, 0.420166015625, 1.0595703125, 2.33984375],
        [1.0625, 0.421875, 1.0546875, 2.34375],
    ),
    "torch.addcmul(x, y, x, value=s)": (
        [0.201904296875, 0.7080078125, 2.001953125, 6.09765625],
        [0.2021484375, 0.7109375, 1.9921875, 6.09375],
    ),
    "torch.addcdiv(x, y, x, value=s)": (
        [10.3046875, 0.89990234375, 1.71484375, 3.166015625],
        [10.3125, 0.90234375, 1.7109375, 3.171875],
    ),
    "F.leaky_relu(-x, s)": (
        [-0.05999755859375, -0.360107421875, -0.77978515625, -1.619140625],
        [-0.06005859375, -0.361328125, -0.77734375, -1.625],
    ),
    "F.elu(-x, s)": (
        [-0.057098388671875, -0.270751953125, -0.4365234375, -0.5595703125],
        [-0.05712890625, -0.271484375, -0.435546875, -0.55859375],
    ),
    "x + torch.tensor(s)": (
        [0.7001953125, 1.2001953125, 1.900390625, 3.298828125],
        [0.703125, 1.203125, 1.8984375, 3.3125],
    ),
    "x * torch.tensor(s)": (
        [0.05999755859375, 0.360107421875, 0.77978515625, 1.619140625],
        [0.06005859375, 0.361328125, 0.77734375, 1.625],
    ),
    "torch.tensor(s) * x": (
        [0.05999755859375, 0.360107421875, 0.77978515625, 1.6201171875],
        [0.060302734375, 0.361328125, 0.78125, 1.625],
    ),
    "x / torch.tensor(s)": (
        [0.1666259765625, 1.0, 2.166015625, 4.5],
        [0.1669921875, 1.0, 2.15625, 4.5],
    ),
    "torch.tensor(s) / x": (
        [6.00390625, 1.0, 0.461669921875, 0.2222900390625],
        [6.0, 1.0, 0.462890625, 0.22265625],
    ),
    "torch.atan2(x, torch.tensor(s))": (
        [0.1650390625, 0.78515625, 1.138671875, 1.3515625],
        [0.1650390625, 0.78515625, 1.1328125, 1.3515625],
    ),
    "x.clone().mul_(s)": (
        [0.05999755859375, 0.360107421875, 0.77978515625, 1.619140625],
        [0.06005859375, 0.361328125, 0.77734375, 1.625],
    ),
    "x.clone().add_(y, alpha=s)": (
        [1.1201171875, 0.7802734375, 1.83984375, 3.958984375],
        [1.125, 0.78125, 1.8359375, 3.96875],
    ),
    "x.clone().div_(s)": (
        [0.1666259765625, 1.0, 2.166015625, 4.5],
        [0.1669921875, 1.0, 2.15625, 4.5],
    ),
}  # of float16 and of bfloat16
DTYPES = (torch.float16, torch.bfloat16)


@pytest.mark.parametrize("run", [lambda function: function, torch.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize("place", range(2), ids=["float16", "bfloat16"])
@pytest.mark.parametrize("program", RECORDED)
def test_numbers_beside_tensors_of_two_bytes(program, place, run):
    x = torch.tensor([0.1, 0.6, 1.3, 2.7], dtype=DTYPES[place])
    y = torch.tensor([1.7, 0.3, 0.9, 2.1], dtype=DTYPES[place])
    function = eval(f"lambda x, y, s: {program}", {"torch": torch, "F": F})
    assert run(function)(x, y, 0.6).tolist() == RECORDED[program][place]


def test_a_step_beside_a_wider_number_is_one_of_the_half():
    x = torch.tensor([0.2515]).half()
    for step in (torch.nextafter, torch.compile(torch.nextafter)):
        assert step(x, torch.tensor(1.0, dtype=torch.float64)).tolist() == [0.251708984375]


@pytest.mark.parametrize("run", [lambda f: f, torch.compile], ids=["eager", "compiled"])
def test_the_next_bfloat16_is_one_of_its_own_steps_away(run):
    x, towards = torch.tensor([[1.0, -1.0, 0.0, 3.0], [2.0, 2.0, -1.0, 3.0]]).bfloat16()
    assert (run(torch.nextafter)(x, towards) - x).tolist() == [2**-7, 2**-8, -(2.0**-133), 0]
