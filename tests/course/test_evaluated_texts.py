"""What a check evaluates is its own text, or is evaluated where the learner's code is."""

from __future__ import annotations

import ast

from .notebooks import ROOT

CHECKS = ROOT / "authoring" / "checks"
OF_THEIR_OWN = {
    "lesson_01_tensors_strides_views/prediction.py",
    "lesson_07_frame_hook/captured_functions.py",
    "lesson_07_frame_hook/program_text.py",
    "lesson_08_autograd/gradients.py",
    "lesson_13_loop_ir_and_lowering/index_values.py",  # the learner's, but nothing is in it that could call
}


def runs_text(function: ast.AST) -> bool:
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id in ("eval", "exec") for called in calls)


def of_the_judge(tree: ast.AST) -> list[ast.AST]:
    """The functions that run in the judge."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [each for each in functions if "there" not in map(ast.unparse, each.decorator_list)]


def test_no_text_of_the_learners_is_run_in_the_judge():
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in CHECKS.rglob("*.py")}
    running = {path for path, tree in trees.items() if any(map(runs_text, of_the_judge(tree)))}
    assert {path.relative_to(CHECKS).as_posix() for path in running} == OF_THEIR_OWN
