"""The catalogue of break reasons: each example breaks for its reason, each mended one does not, the page is current."""

import subprocess
import sys

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo.breaks.break_examples import EXAMPLES
from minitorch_compile.dynamo.breaks.break_reasons import REASONS, break_reason
from tools import break_page

# These have no program of their own: they are told together with another reason, as a warning, or if an option is set.
WITHOUT_EXAMPLE = {"function-not-split", "recompile-limit", "data-dependent-number"}


def test_every_reason_has_an_example():
    assert set(REASONS) - WITHOUT_EXAMPLE == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_breaks_for_its_reason_and_the_mended_one_does_not(name):
    text = break_page.message(REASONS[name])
    assert f"[{REASONS[name].id}]" in text
    assert EXAMPLES[name].mended
    mended = break_page.load(EXAMPLES[name].mended, f"{name}.py")
    torch.compile(mended, backend="eager", fullgraph=True)(torch.ones(3))


def test_the_page_is_up_to_date():
    command = [sys.executable, break_page.__file__, "--check"]  # another process: messages tell the depth of the stack
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_reason_is_found_by_its_id():
    assert break_reason("MTC-B05").name == "data-dependent-jump"
    assert "torch.where" in torch.compiler.break_reason("MTC-B05").page
    with pytest.raises(ValueError, match=r"no reason has the id 'MTC-B99'. Choose one of: MTC-B01, MTC-B02"):
        break_reason("MTC-B99")
