"""What a notebook shows of a module."""

from minitorch_compile import nn


def test_every_module_and_parameter_is_there_once() -> None:
    model = nn.Sequential(nn.Linear(3, 2, bias=False), nn.BatchNorm1d(2), nn.Sequential(nn.ReLU()))
    page = model._repr_html_()
    for text in ("<b>Linear</b>(in_features=3", "weight [2, 3]", "<b>Sequential</b> 10 parameters", "<b>ReLU</b>"):
        assert page.count(text) == 1
    assert "running_mean [2] fixed" in page
    assert page.count("<details") == page.count("</details>") == 2


def test_names_cannot_break_the_page() -> None:
    class Odd(nn.Module):
        def extra_repr(self) -> str:
            return "<script>"

    assert "<script>" not in nn.ModuleDict({"a<b": Odd()})._repr_html_()
