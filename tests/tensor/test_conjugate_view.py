"""Lazy conjugates and negatives: views with flipped signs, compared with what PyTorch answered to the same lines."""

import copy
import pickle

import numpy as np
import pytest

import minitorch_compile as torch

VALUES = [[1 + 2j, 3 - 4j], [5j, 6 + 0j]]


def whole(requires_grad=False):
    return torch.tensor(VALUES, requires_grad=requires_grad)


# (is_conj, is_neg, shape of the base or None), and the values as PyTorch printed them
VIEWS = {
    "conj": (lambda z: z.conj(), True, False, (2, 2), [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "conj of conj": (lambda z: z.conj().conj(), False, False, (2, 2), VALUES),
    "real of conj": (lambda z: z.conj().real, False, False, (2, 2), [[1, 3], [0, 6]]),
    "imag of conj": (lambda z: z.conj().imag, False, True, (2, 2), [[-2, 4], [-5, 0]]),
    "mH": (lambda z: z.mH, True, False, (2, 2), [[1 - 2j, -5j], [3 + 4j, 6 + 0j]]),
    "H": (lambda z: z.H, True, False, (2, 2), [[1 - 2j, -5j], [3 + 4j, 6 + 0j]]),
    "adjoint": (lambda z: z.adjoint(), True, False, (2, 2), [[1 - 2j, -5j], [3 + 4j, 6 + 0j]]),
    "row of conj": (lambda z: z.conj()[0], True, False, (2, 2), [1 - 2j, 3 + 4j]),
    "as_strided": (lambda z: z.conj().as_strided((2,), (1,)), True, False, (2, 2), [1 - 2j, 3 + 4j]),
    "flatten": (lambda z: z.conj().flatten(), True, False, (2, 2), [1 - 2j, 3 + 4j, -5j, 6 + 0j]),
    "reshape that copies": (lambda z: z.mH.reshape(4), False, False, None, [1 - 2j, -5j, 3 + 4j, 6 + 0j]),
    "detach": (lambda z: z.conj().detach(), True, False, None, [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "data": (lambda z: z.conj().data, True, False, None, [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "clone": (lambda z: z.conj().clone(), False, False, None, [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "resolve_conj": (lambda z: z.conj().resolve_conj(), False, False, None, [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "resolve_neg": (lambda z: z.conj().imag.resolve_neg(), False, False, None, [[-2, 4], [-5, 0]]),
    "resolve_conj of imag": (lambda z: z.conj().imag.resolve_conj(), False, True, (2, 2), [[-2, 4], [-5, 0]]),
    "contiguous": (lambda z: z.conj().contiguous(), True, False, (2, 2), [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "to the same dtype": (lambda z: z.conj().to(z.dtype), True, False, (2, 2), [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "to another dtype": (lambda z: z.conj().to(torch.cdouble), False, False, None, [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "negative of conj": (lambda z: torch._neg_view(z).conj(), True, True, (2, 2), [[-1 + 2j, -3 - 4j], [5j, -6 + 0j]]),
    "complex of negatives": (
        lambda z: torch.view_as_complex(torch._neg_view(torch.ones(3, 2))), False, True, (3, 2), [-1 - 1j] * 3),
    "sum": (lambda z: z.conj() + 1, False, False, None, [[2 - 2j, 4 + 4j], [1 - 5j, 7 + 0j]]),
    "product": (lambda z: z.mH @ z, False, False, None, [[30 + 0j, -5 - 40j], [-5 + 40j, 61 + 0j]]),
    "real": (lambda z: z.real, False, False, (2, 2), [[1, 3], [0, 6]]),
    "imag": (lambda z: z.imag, False, False, (2, 2), [[2, -4], [5, 0]]),
    "view_as_complex": (lambda z: torch.view_as_complex(torch.ones(3, 2)), False, False, (3, 2), [1 + 1j] * 3),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_views_say_which_signs_are_flipped_and_of_what_they_are_views(name):
    make, is_conj, is_neg, base, values = VIEWS[name]
    x = make(whole())
    assert (x.is_conj(), x.is_neg(), x._is_view()) == (is_conj, is_neg, base is not None)
    assert (None if x._base is None else tuple(x._base.shape)) == base
    np.testing.assert_array_equal(np.array(x.tolist()), np.array(values))


def test_the_base_is_the_tensor_itself_and_the_memory_its_own():
    z = whole()
    assert z.conj()._base is z and z.conj().imag._base is z and torch.view_as_real(z)._base is z
    assert z.conj().data_ptr() == z.data_ptr() and z.conj().untyped_storage() == z.untyped_storage()
    assert z.conj().untyped_storage().data_ptr() == z.untyped_storage().data_ptr()
    assert torch.is_conj(z.conj()) and torch.is_neg(z.conj().imag) and not z.conj().is_set_to(z)
    x = torch.ones(2)
    assert x.conj() is x and x.resolve_conj() is x and z.resolve_conj() is z and z.resolve_neg() is z


WRITES = {
    "mul_": (lambda z: z.conj().mul_(1j), [[2 - 1j, -4 - 3j], [5 + 0j, -6j]]),
    "fill_ a row": (lambda z: z.conj()[0].fill_(1j), [[-1j, -1j], [5j, 6 + 0j]]),
    "setitem": (lambda z: z.conj().__setitem__(0, 2j), [[-2j, -2j], [5j, 6 + 0j]]),
    "add_ to imag": (lambda z: z.conj().imag.add_(10), [[1 - 8j, 3 - 14j], [-5j, 6 - 10j]]),
    "copy_": (lambda z: z.conj().imag.copy_(torch.tensor([[1.0, 2], [3, 4]])), [[1 - 1j, 3 - 2j], [-3j, 6 - 4j]]),
    "copy_ from the view": (lambda z: z.copy_(z.conj()), [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "mul_ by the view": (lambda z: z.mul_(z.conj()), [[5 + 0j, 25 + 0j], [25 + 0j, 36 + 0j]]),
    "copy_ to itself": (lambda z: z.conj().copy_(z.conj()), VALUES),
    "mH": (lambda z: z.mH.add_(1j), [[1 + 1j, 3 - 5j], [4j, 6 - 1j]]),
    "out=": (lambda z: torch.add(z, 1j, out=z.conj()), [[1 - 3j, 3 + 3j], [-6j, 6 - 1j]]),
    "conj_physical_": (lambda z: z.conj().conj_physical_(), [[1 - 2j, 3 + 4j], [-5j, 6 + 0j]]),
    "index_put_": (
        lambda z: z.conj().index_put_((torch.tensor([0]),), torch.tensor(1j)), [[-1j, -1j], [5j, 6 + 0j]]),
    "real": (lambda z: z.conj().real.fill_(7), [[7 + 2j, 7 - 4j], [7 + 5j, 7 + 0j]]),
    "set imag": (lambda z: setattr(z.conj(), "imag", torch.ones(2, 2)), [[1 - 1j, 3 - 1j], [-1j, 6 - 1j]]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_writes_through_a_view_reach_the_memory_with_the_other_sign(name):
    write, expected = WRITES[name]
    z = whole()
    write(z)
    assert z.tolist() == expected and z._version == 1


REFUSED = {
    "numpy": (lambda z: z.conj().numpy(), "conjugate bit set"),
    "numpy of negatives": (lambda z: z.conj().imag.numpy(), "negative bit set"),
    "asarray": (lambda z: np.asarray(z.conj()), "conjugate bit set"),
    "view_as_real": (lambda z: torch.view_as_real(z.conj()), "unresolved conjugated tensors"),
    "bytes": (lambda z: z.conj().view(torch.float32), "not supported for conjugate view tensors"),
    "bytes of negatives": (lambda z: torch._neg_view(torch.ones(3)).view(torch.int32), "negative bit set"),
    "a leaf": (lambda z: z.requires_grad_().conj().mul_(2), "a view of a leaf Variable"),
    "parts of a leaf": (lambda z: z.requires_grad_().imag.mul_(2), "a view of a leaf Variable"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_only_look_at_memory_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(RuntimeError, match=message):
        call(whole())


def test_numpy_by_force_and_copies_by_other_ways_have_the_values():
    v = whole().conj()
    expected = np.conj(np.array(VALUES, np.complex64))
    np.testing.assert_array_equal(v.numpy(force=True), expected)
    for x in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert x.tolist() == v.tolist()
    assert torch.empty(0, dtype=v.dtype).set_(v).tolist() == VALUES  # set_ looks at the memory


def test_raw_memory_of_a_flipped_view_is_read_flipped_and_not_written():
    buffer = whole().conj().storage.buffer
    assert buffer.tolist() == [1 - 2j, 3 + 4j, -5j, 6 + 0j]
    with pytest.raises(ValueError, match="read-only"):
        buffer[0] = 1


def squares(y):
    """A real number in which every part of y has another weight."""
    y = torch.view_as_real(y.resolve_conj()) if y.is_complex() else y
    return (y * y * torch.arange(1.0, 1 + y.numel()).reshape(y.shape)).sum()


def inplace_conj_view(z):
    y = z * 1
    v = y.conj()
    v.mul_(2 + 1j)
    return v * y


def view_of_what_is_overwritten(z):
    y = z * 1
    v = y.conj()
    y.mul_(2 + 1j)
    return v * y


def inplace_imag(z):
    y = z * 1
    v = y.conj().imag
    v.mul_(z.real)
    return y + v


def inplace_row_of_conj(z):
    y = z * 1
    y.conj()[0].mul_(z[1])
    return y


def real_part_of_what_is_overwritten(z):
    y = z * 1
    r = y.real
    y.mul_(1 + 2j)
    return torch.complex(r * r, y.imag)


def complex_view_of_real_numbers(z):
    x = torch.view_as_real(z) * 1.0
    c = torch.view_as_complex(x)
    c.mul_(1j)
    c.conj()[0].mul_(z[0])
    return x


def overwritten_below_a_complex_view(z):
    x = torch.view_as_real(z) * 1.0
    c = torch.view_as_complex(x)
    x.mul_(2)
    return c.conj() * c


def written_from_outside(z):
    y = torch.zeros(2, 2, dtype=torch.complex64)
    y.conj().copy_(z)
    y.real.copy_(z.imag)
    return y * z


def negatives(z):
    y = z.real.clone()
    v = torch._neg_view(y)
    v[0].mul_(z.imag[1])
    y.add_(1)
    return v * y


def base_is_a_conjugate(z):
    y = (z * 1).detach().conj().detach()
    y[0].mul_(z[1])
    y.imag.add_(z.imag)
    return y


PROGRAMS = [
    inplace_conj_view, view_of_what_is_overwritten, inplace_imag, inplace_row_of_conj, real_part_of_what_is_overwritten,
    complex_view_of_real_numbers, overwritten_below_a_complex_view, written_from_outside, negatives,
    base_is_a_conjugate,
]  # fmt: skip
RECORDED = {  # of the last one with resolve_conj(): PyTorch's CopySlices refuses a base that is a conjugate
    "inplace_conj_view": [(500 + 1000j), (22500 - 30000j), 62500j, (155400 + 25900j)],
    "view_of_what_is_overwritten": [(500 + 1000j), (22500 - 30000j), 62500j, (155400 + 25900j)],
    "inplace_imag": [(18 + 10j), (834 - 558j), 0j, (96 + 576j)],
    "inplace_row_of_conj": [(100 + 100j), (720 - 1212j), (-20 + 120j), (1200 + 328j)],
    "real_part_of_what_is_overwritten": [(-76 + 232j), (16004 - 31928j), (-19880 + 40060j), (2208 - 3376j)],
    "complex_view_of_real_numbers": [(40 + 80j), (1200 - 1600j), 50j, (96 + 14j)],
    "overwritten_below_a_complex_view": [(320 + 640j), (14400 - 19200j), 40000j, (99456 + 16576j)],
    "written_from_outside": [(8 + 84j), (800 - 2584j), (-250 + 5500j), (178 + 1104j)],
    "negatives": [(4320 + 0j), (512 + 0j), (12 + 864j), (5488 + 1536j)],
    "base_is_a_conjugate": [28j, 184j, (-36 + 68j), (988 + 216j)],
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_follow_writes_through_conjugates_and_parts(program):
    z = torch.tensor([[1 + 2j, 3 - 4j], [5j, 6 + 1j]], requires_grad=True)
    squares(program(z)).backward()
    np.testing.assert_allclose(z.grad.flatten().numpy(), RECORDED[program.__name__], rtol=1e-5)
    assert not z.grad.is_conj() and not z.grad.is_neg()


@pytest.mark.parametrize("program", PROGRAMS[:-1], ids=lambda f: f.__name__)  # the last one detaches half of it
def test_second_derivatives_follow_them_too(program):
    """Compared with the difference of first derivatives a little to the left and to the right."""

    def slope(by, create_graph=False):
        re = torch.tensor([[1.0, 3], [0, 6]]).add(by).requires_grad_()
        z = torch.complex(re, torch.tensor([[2.0, -4], [5, 1]]))
        return torch.autograd.grad(squares(program(z)), re, create_graph=create_graph)[0].sum(), re

    first, re = slope(0.0, create_graph=True)
    (again,) = torch.autograd.grad(first, re)
    difference = (slope(0.01)[0] - slope(-0.01)[0]).item() / 0.02
    assert again.sum().item() == pytest.approx(difference, rel=2e-2)


def test_a_result_saved_inside_a_written_view_is_differentiated_twice():
    x = torch.ones(3, 2, requires_grad=True)
    y = x * 1
    y[0].exp_()
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (g * g).sum().backward()
    expected = [[873.5703, 873.5703], [8, 8], [8, 8]]
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)


def write_through_conj(z):
    z.conj().mul_(2j)
    return z * 2


def write_to_imag_of_conj(z):
    y = z * 1
    y.conj().imag.add_(3)
    return y, y.conj()


def conj_of_what_is_overwritten(z):
    v = z.conj()
    z.add_(1j)
    return v * 1, v


def asks(z):
    return z.conj() if z.is_conj() else z * 2


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "aot_eager_decomp_partition", "inductor"])
@pytest.mark.parametrize("function", [write_through_conj, write_to_imag_of_conj, conj_of_what_is_overwritten, asks])
def test_compiled_code_does_the_same_to_tensors_and_their_conjugates(function, backend):
    compiled = torch.compile(function, backend=backend)
    for argument in (lambda z: z, lambda z: z.conj(), lambda z: z.t()):
        seen = []
        for f in (function, compiled):
            z = whole()
            results = f(argument(z))
            results = results if isinstance(results, tuple) else (results,)
            seen.append(([(x.tolist(), x.is_conj()) for x in results], z.tolist(), z._version))
        assert seen[0] == seen[1]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor", "loops"])
def test_compiled_kernels_read_negatives(backend):
    compiled = torch.compile(lambda x: x * 2 + 1, backend=backend)
    x = torch.arange(6.0).reshape(2, 3)
    assert compiled(x).tolist() == [[1, 3, 5], [7, 9, 11]]
    assert compiled(torch._neg_view(x)).tolist() == [[1, -1, -3], [-5, -7, -9]]


def test_compiled_code_refuses_windows_of_memory_that_holds_other_numbers():
    def f(z):
        y = z * 1
        y.conj().as_strided((2,), (1,)).mul_(2j)
        return y

    with pytest.raises(Exception, match="of conjugates, or of parts of complex numbers"):
        torch.compile(f, backend="aot_eager")(whole())
