"""The copies of views: the numbers of the view, in row-major memory of their own, with a gradient."""

import pytest

import minitorch_compile as torch

CALLS = {
    "alias": (),
    "detach": (),
    "as_strided": ((2, 2), (1, 2)),
    "diagonal": (1,),
    "permute": ((1, 0),),
    "select": (0, 1),
    "split": (2, 0),
    "squeeze": (),
    "t": (),
    "transpose": (0, 1),
    "unbind": (1,),
    "unfold": (1, 2, 1),
    "unsqueeze": (0,),
    "view": ((4, 3),),
    "expand": ((2, 3, 4),),
}


def parts(value):
    return value if isinstance(value, (tuple, list)) else (value,)


@pytest.mark.parametrize("name", CALLS)
def test_it_has_what_the_view_shows_in_memory_of_its_own(name):
    x = torch.arange(12.0).reshape(3, 4)
    view = x if name == "alias" else getattr(x, name)(*CALLS[name])
    copies = getattr(torch, f"{name}_copy")(x, *CALLS[name])
    for shown, copy in zip(parts(view), parts(copies), strict=True):
        assert copy.tolist() == shown.tolist()
        assert copy.is_contiguous()
        assert copy.data_ptr() != x.data_ptr() and copy._base is None


def test_a_range_has_pytorchs_defaults():
    x = torch.arange(12.0).reshape(3, 4)
    assert torch.slice_copy(x).tolist() == x.tolist()
    assert torch.slice_copy(x, 1, 0, None, 2).tolist() == x[:, ::2].tolist()


def test_pairs_are_complex_numbers_and_back():
    pairs = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    numbers = torch.view_as_complex_copy(pairs)
    assert numbers.tolist() == [1 + 2j, 3 + 4j]
    assert torch.view_as_real_copy(numbers).tolist() == pairs.tolist()


def test_gradients_pass_through_and_detached_copies_have_none():
    x = torch.ones(2, 3, requires_grad=True)
    torch.t_copy(x).sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2
    assert not torch.detach_copy(x).requires_grad


def test_compiled_it_is_the_same():
    x = torch.randn(3, 4)
    f = torch.compile(lambda x: torch.transpose_copy(x, 0, 1) * 2, fullgraph=True)
    assert torch.equal(f(x), x.t() * 2)
