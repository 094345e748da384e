"""What shares memory, or is the same object, when it is saved, does so again when it is loaded."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import safetensors.numpy

import minitorch_compile as torch
from minitorch_compile import nn

from .round_trip import round_trip, saved

TOGETHER: dict[str, Callable[[torch.Tensor], list[torch.Tensor]]] = {
    "a view after its base": lambda x: [x, x[0:1]],
    "a view before its base": lambda x: [x[0:1], x],
    "views without their base": lambda x: [x[0:2], x[1:4]],
    "views far apart": lambda x: [x[0:1], x[5:6]],
    "a transpose and its base": lambda x: [x.view(2, 3).t(), x],
    "two transposes": lambda x: [x.view(2, 3).t(), x.view(2, 3).t()],
    "other bytes": lambda x: [x, x.view(torch.int32)],
    "parts of other bytes": lambda x: [x[2:4], x.view(torch.uint8)[3:9]],
    "complex numbers": lambda x: [torch.view_as_complex(x.view(3, 2)), x[1:]],
    "parts of complex numbers": lambda x: [torch.view_as_complex(x.view(3, 2)).imag, x],
    "expanded": lambda x: [x[1:2].expand(3, 4), x],
    "every other one": lambda x: [x[::2], x[1::2]],
    "an empty view": lambda x: [x[3:3], x[1:2]],
    "a parameter": lambda x: [x, nn.Parameter(x)],
    "a buffer": lambda x: [x, nn.Buffer(x[1:])],
    "detached": lambda x: [x, x.detach(), x.data],
    "the same": lambda x: [x, x],
}


@pytest.mark.parametrize("name", TOGETHER)
def test_tensors_share_their_memory_again(name: str) -> None:
    before = TOGETHER[name](torch.arange(6.0))
    after = round_trip(before)
    for old, new in zip(before, after, strict=True):
        assert (type(new), new.dtype, new.shape, new.stride()) == (type(old), old.dtype, old.shape, old.stride())
        assert torch.equal(new, old)
        assert new.storage() == after[0].storage()
        assert (new is after[0]) == (old is before[0])


def test_a_write_to_one_is_seen_by_the_other() -> None:
    whole, part = round_trip([x := torch.arange(6.0), x[0:1]])
    whole[0] = 7
    assert part.item() == 7
    assert x[0] == 0


def test_tied_weights_stay_one_parameter() -> None:
    weight = nn.Parameter(torch.ones(3))
    again = round_trip({"encoder": weight, "decoder": [weight]})
    assert again["encoder"] is again["decoder"][0]
    assert isinstance(again["encoder"], nn.Parameter)


ALONE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "row": lambda x: x[3],
    "column": lambda x: x[:, 1],
    "transposed": lambda x: x.t(),
    "one element": lambda x: x[2, 2],
    "none": lambda x: x[:0],
    "none of a transpose": lambda x: x.t()[:, :0],
    "expanded": lambda x: x[0, 0].expand(2, 10**12),
    "4-d in channels_last": lambda x: x.view(1, 2, 5, 10)[:, :, :, :8].contiguous(memory_format=torch.channels_last),
}


@pytest.mark.parametrize("name", ALONE)
def test_a_view_comes_back_with_its_strides(name: str) -> None:
    before = ALONE[name](torch.arange(100.0).view(10, 10))
    after = round_trip([before])[0]
    assert (after.shape, after.stride()) == (before.shape, before.stride())
    assert name == "expanded" or torch.equal(after, before)


def test_only_what_is_looked_at_is_written() -> None:
    large = torch.zeros(10**6)
    assert len(saved(large[5:8])) < 1000
    assert len(saved([large[5:8], large[100:200]])) < 2000


def test_other_readers_see_tensors_as_they_look() -> None:
    """Dense ones of any strides; the memory that several tensors share in part is not taken for one of them."""
    x = torch.arange(12.0)
    weight = torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last)
    state = {
        "t": x.view(3, 4).t(),
        "w": weight,
        "alone": torch.arange(6)[2:4],
        "q": (y := torch.ones(9))[:6],
        "k": y[3:],
    }
    theirs = safetensors.numpy.load(saved(state))
    assert sorted(theirs) == ["alone", "q#storage", "t", "w"]
    for name in ("t", "w", "alone"):
        assert theirs[name].tolist() == state[name].tolist()


def test_objects_that_stand_in_two_places_do_so_again() -> None:
    shared = [1, 2]
    again = round_trip({"a": shared, "b": (shared, {"c": shared}), "d": [1, 2]})
    assert again["a"] is again["b"][0] is again["b"][1]["c"]
    assert again["d"] is not again["a"]


@dataclass
class Node:
    """Something that may hold itself."""

    children: list[Any] = field(default_factory=list)


def test_containers_may_hold_themselves() -> None:
    items: list[Any] = [1]
    items.append(items)
    node = Node([{}])
    node.children[0]["parent"] = node
    again_items, again_node = round_trip([items, node])
    assert again_items[1] is again_items
    assert again_node.children[0]["parent"] is again_node


def test_a_tuple_that_holds_itself_is_refused() -> None:
    inner: list[Any] = []
    inner.append((inner, [inner]))
    assert round_trip(inner)[0][1][0][0][0]  # a list that holds itself by way of a tuple
    outer: Any = ([],)
    outer[0].append(outer)
    with pytest.raises(TypeError, match=r"checkpoint\[0\]\[0\] is a tuple that holds itself"):
        torch.save(outer, io.BytesIO())


def test_attributes_of_tensors_come_back() -> None:
    x = torch.ones(2)
    x.tag, parameter = {"x": [x]}, nn.Parameter(torch.ones(1))
    parameter.no_decay = True
    again = round_trip([x, parameter])
    assert again[0].tag["x"][0] is again[0]
    assert again[1].no_decay is True
