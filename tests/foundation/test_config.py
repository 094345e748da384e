"""Options are checked when set, and come back after a patch."""

import pytest

from minitorch_compile import config


def test_an_unknown_option_is_an_attribute_error_that_lists_the_valid_ones():
    with pytest.raises(AttributeError, match="no option named 'speed'.*drawing_node_limit"):
        config.speed = 3
    with pytest.raises(AttributeError, match="no option named 'speed'.*drawing_node_limit"):
        config.speed
    with pytest.raises(AttributeError, match="no option named 'speed'"):
        config.patch(speed=3)


@pytest.mark.parametrize("value", ["10", 1.5, True, None])
def test_a_value_of_the_wrong_type_is_a_type_error_that_names_the_option(value):
    with pytest.raises(TypeError, match="config.drawing_node_limit: expected int, but got"):
        config.drawing_node_limit = value


@pytest.mark.parametrize(
    "patch",
    [
        lambda: config.patch(drawing_node_limit=7),
        lambda: config.patch("drawing_node_limit", 7),
        lambda: config.patch({"drawing_node_limit": 7}),
    ],
)
def test_patch_lasts_for_the_block_in_each_spelling(patch):
    before = config.drawing_node_limit
    with patch():
        assert config.drawing_node_limit == 7
    assert config.drawing_node_limit == before


def test_patch_restores_after_an_exception():
    before = config.drawing_node_limit
    with pytest.raises(KeyError), config.patch(drawing_node_limit=7):
        raise KeyError
    assert config.drawing_node_limit == before


def test_a_decorated_function_is_patched_on_each_call():
    @config.patch(drawing_node_limit=7)
    def limit():
        return config.drawing_node_limit

    assert [limit(), limit()] == [7, 7]
    assert config.drawing_node_limit != 7


def test_describe_has_a_line_for_each_option():
    table = config.describe()
    assert all(name in table and option.text in table for name, option in config.options().items())


def test_a_choice_is_checked_and_listed():
    from typing import Annotated, Literal

    mode = config.Option("mode", Annotated[Literal["fast", "slow"], "how quickly"], "fast")
    with pytest.raises(ValueError, match=r"config.mode: expected one of \['fast', 'slow'\], but got 'medium'"):
        mode.check("medium")
