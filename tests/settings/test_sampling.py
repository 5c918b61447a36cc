"""Sampling settings of a model object and of one call."""

import pytest

from raif_integrations.engines.base import Sampling
from raif_integrations.errors import ConfigurationError
from raif_integrations.sampling import merge_sampling


def test_a_call_overrides_the_model_and_none_does_not():
    merged = merge_sampling({"temperature": 0.5, "seed": 1}, {"temperature": 0, "seed": None, "top_k": 5})
    assert merged == Sampling(temperature=0, seed=1, top_k=5)


def test_stop_strings_are_added_not_replaced():
    assert merge_sampling({"stop": ["a"]}, {}, stop=None).stop == ("a",)
    assert merge_sampling({"stop": ["a", "b"]}, {}, stop=["b", "c"]).stop == ("a", "b", "c")
    assert merge_sampling({"stop": None}, {}, stop="ab").stop == ("ab",)
    assert merge_sampling({"stop": []}, {}, stop=[""]).stop == ()


def test_further_parameters_of_vllm_go_into_extra():
    merged = merge_sampling(
        {"extra": {"min_p": 0.1, "anything": 1}}, {"repetition_penalty": 1.1, "min_p": 0.2}
    )
    assert merged.extra == {"min_p": 0.2, "anything": 1, "repetition_penalty": 1.1}


def test_openais_newer_name_for_the_limit():
    assert merge_sampling({"max_tokens": 5}, {"max_completion_tokens": 7}).max_tokens == 7


def test_an_unknown_name_is_refused_with_a_guess():
    with pytest.raises(ConfigurationError, match=r"'temprature'.*'temperature'"):
        merge_sampling({}, {"temprature": 0})


@pytest.mark.parametrize(
    ("name", "value"),
    [("temperature", -1), ("top_p", 1.5), ("max_tokens", 0), ("frequency_penalty", 3)],
)
def test_a_value_out_of_range_is_refused_by_name(name, value):
    with pytest.raises(ConfigurationError, match=f"{name} is"):
        merge_sampling({name: value}, {})
