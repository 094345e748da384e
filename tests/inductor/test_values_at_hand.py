"""A loop that reads what another one of its kernel has computed takes the value, however the address is spelled."""

import minitorch_compile as torch


def test_one_place_under_two_names():
    """Rows of six in blocks of eighteen, and the same in one long column: neither spelling simplifies to the other."""

    def program(x, y):
        angle = torch.atan2(x, y.reshape(-1).repeat(5)[:324].reshape((2, 3, 9, 6)).abs() + 0.5)
        some = angle.reshape(-1)[117:][:12].exp()
        return (x * angle).reshape(108, 3).sum(0), some

    torch.manual_seed(0)
    x, y = torch.randn(2, 3, 9, 6), torch.randn(4, 3, 3, 2)
    for got, expected in zip(torch.compile(program)(x, y), program(x, y), strict=True):
        torch.testing.assert_close(got, expected)
