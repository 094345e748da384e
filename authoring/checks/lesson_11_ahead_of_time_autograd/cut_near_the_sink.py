"""Exercise 11.1: of all narrowest cuts, the one nearest to the sink."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.aot import min_cut_partition
from minitorch_compile.aot.partitioning.max_flow import FlowNetwork
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.measures.cutting import joint_graph
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.tensor import empty_fake

CUT_NEAR_THE_SINK = Exercise(
    "11.1",
    "the other narrowest cut",
    answer="cut_near_the_sink",
    minutes=15,
    place="aot.minimum_cut",
    hints=(
        "The lesson walks from the source, along pipes with room left. Walk from the sink instead, against the flow.",
        "A point belongs to the sink's side if more could still flow from it to a point of that side:"
        " network.residual[start][point] > 0.",
        "Call network.maximum_flow(source, sink) first. Then collect behind = {sink, ...}, and give the edges that"
        " start outside of it and end in it.",
    ),
)
SECTION = "The narrowest place"
Pipes = dict[tuple[str, str], float]
ONE_AFTER_THE_OTHER: Pipes = {("source", "a"): 5, ("a", "b"): 5, ("b", "sink"): 5}
NETWORKS: list[Pipes] = [
    {("source", "a"): 3, ("a", "sink"): 2},
    ONE_AFTER_THE_OTHER,
    {("source", "a"): 3, ("source", "b"): 2, ("a", "b"): 1, ("a", "sink"): 1, ("b", "sink"): 4},
    {("source", "a"): 2, ("a", "b"): 1, ("a", "c"): 1, ("b", "sink"): 1, ("c", "sink"): 4},
    {("source", "a"): 4, ("a", "sink"): 1, ("b", "a"): 9, ("source", "b"): 1},
]


def network_of(pipes: Pipes) -> FlowNetwork:
    network = FlowNetwork()
    for (start, end), width in pipes.items():
        network.add_edge(start, end, width)
    return network


def near_sides(pipes: Pipes) -> Iterable[set[str]]:
    """All ways to put the points on the source's side or on the sink's."""
    inner = sorted({point for pipe in pipes for point in pipe} - {"source", "sink"})
    for count in range(len(inner) + 1):
        for chosen in itertools.combinations(inner, count):
            yield {"source", *chosen}


def crossing(pipes: Pipes, near: set[str]) -> set[tuple[str, str]]:
    return {(start, end) for start, end in pipes if start in near and end not in near and pipes[start, end] > 0}


def width(pipes: Pipes, cut: Iterable[tuple[str, str]]) -> float:
    return sum(pipes[pipe] for pipe in cut)


def truth(pipes: Pipes) -> set[tuple[str, str]]:
    """By trying all: the largest source's side of those whose cut is narrowest."""
    cuts = [(width(pipes, crossing(pipes, near)), -len(near), crossing(pipes, near)) for near in near_sides(pipes)]
    return min(cuts, key=lambda cut: cut[:2])[2]


def random_pipes(seed: int) -> Pipes:
    r = random.Random(seed)
    points = ["source", "a", "b", "c", "d", "sink"]
    pairs = [(a, b) for a, b in itertools.permutations(points, 2) if a != "sink" and b != "source" and r.random() < 0.5]
    return {**{pair: r.randrange(1, 6) for pair in pairs}, ("source", "a"): 3, ("d", "sink"): 3}


def separates(pipes: Pipes, cut: set[tuple[str, str]]) -> bool:
    found, waiting = {"source"}, ["source"]
    for point in waiting:
        for start, end in pipes:
            if start == point and end not in found and (start, end) not in cut:
                found.add(end)
                waiting.append(end)
    return "sink" not in found


def judge(answer: Callable[..., Any], pipes: Pipes) -> None:
    got, expected = outcome(answer, (network_of(pipes), "source", "sink")), truth(pipes)
    fact = f"pipes {pipes}: expected {sorted(expected)}"
    if not isinstance(got, set) or not all(pipe in pipes for pipe in got):
        raise WrongAnswer(f"{fact}, got {got!r}", "A set of pipes is wanted, each as (start, end).")
    cut = {pipe for pipe in got if pipes[pipe] > 0}
    if cut == expected:
        return
    fact = f"{fact}, got {sorted(got)}"
    if not separates(pipes, cut):
        raise WrongAnswer(fact, leak(pipes, got))
    if width(pipes, cut) > width(pipes, expected):
        raise WrongAnswer(fact, wider(pipes, got))
    raise WrongAnswer(
        fact, "As narrow, but nearer to the source. More would be made again than need be: begin at the sink."
    )


def leak(pipes: Pipes, got: set[Any]) -> str:
    if not got:
        return (
            "Nothing is cut, and water still comes through. Which points are on the sink's side, once the flow has run?"
        )
    return "Water still comes through. A pipe is cut if it starts on the source's side and ends on the sink's."


def wider(pipes: Pipes, got: set[Any]) -> str:
    network = network_of(pipes)
    network.maximum_flow("source", "sink")
    full = {(start, end) for start, end in pipes if network.residual[start][end] == 0}
    if got == full:
        return "Those are all the pipes that are full. A full pipe need not lie in the cut: look at its two ends."
    into_sink = {pipe for pipe in pipes if pipe[1] == "sink"}
    if got == into_sink:
        return (
            "Those are the pipes into the sink. More points belong to its side: those from which there is room to it."
        )
    return "It separates the two, and it is wider than need be."


@CUT_NEAR_THE_SINK.case("small networks", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for pipes in NETWORKS:
        judge(answer, pipes)


@CUT_NEAR_THE_SINK.case("forty random networks", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for seed in range(40):
        judge(answer, random_pipes(seed))


@CUT_NEAR_THE_SINK.case("in the package's partitioner", points=1, section="The package's own")
def _(answer: Callable[..., Any]) -> None:
    joint = joint_graph(lambda x, w: (x @ w).sin().exp(), empty_fake((4, 4)), empty_fake((4, 4)).requires_grad_())
    expected = min_cut_partition(joint).report.bytes
    try:
        with splice("aot.minimum_cut", answer):
            got = min_cut_partition(joint).report.bytes
            x = torch.ones(3, requires_grad=True)
            torch.compile(lambda x: x.sin().exp(), backend="aot_eager")(x).sum().backward()
    except NotImplementedError:
        raise
    except Exception as error:
        raise WrongAnswer(f"(x @ w).sin().exp(): {type(error).__name__}: {error}") from error
    if got != expected:
        raise WrongAnswer(
            f"(x @ w).sin().exp(): {got} bytes are saved, and {expected} would do",
            "There the points are no strings: take them as they are.",
        )
