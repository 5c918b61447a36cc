"""What the embedded engine checks before it loads vLLM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from raif_integrations.engines.base import GrammarConstraint, JsonConstraint, Sampling
from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.engines.embedded.adapters import (
    LoadableAdapter,
    load_adapter,
    lora_arguments,
    parse_adapters,
)
from raif_integrations.engines.embedded.arguments import complete
from raif_integrations.engines.embedded.sampling import (
    constraint_arguments,
    limit_tokens,
    sampling_parameters,
)
from raif_integrations.errors import (
    ConfigurationError,
    ContextLengthError,
    EngineClosedError,
    RaifIntegrationsError,
    RequestError,
)

KNOWN = ("model", "max_model_len", "max_num_seqs", "enforce_eager", "structured_outputs_config", "dtype")
RANKS = (8, 16, 32, 64)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder


def make_adapter(folder: Path, **config: Any) -> Path:
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def test_making_an_engine_loads_neither_vllm_nor_torch() -> None:
    code = (
        "import sys; from raif_integrations.engines import EmbeddedEngine; EmbeddedEngine('org/model');"
        "print(sorted({'vllm', 'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param({}, "`model`", id="no model"),
        pytest.param({"model": " "}, "`model` is empty", id="blank model"),
        pytest.param({"model": "/no/such/folder"}, "'/no/such/folder', and nothing is there", id="no folder"),
        pytest.param({"model": Path("relative")}, "'relative', and nothing is there", id="no such path"),
        pytest.param({"model": "org/model", "timeout": 0}, "`timeout` is 0", id="timeout"),
        pytest.param({"model": "org/model", "engine_args": {"model": "x"}}, "as `model`", id="model twice"),
        pytest.param(
            {"model": "org/model", "engine_args": {"lora_modules": []}}, "as `adapters`", id="lora_modules"
        ),
        pytest.param({"model": "org/model", "engine_args": {1: 2}}, "name 1", id="name is no string"),
        pytest.param(
            {"model": "org/model", "chat_template": "nowhere.jinja"}, "'nowhere.jinja'", id="template"
        ),
        pytest.param(
            {"model": "org/model", "adapters": "org/adapter"}, "one path", id="adapters is a string"
        ),
        pytest.param({"model": "org/model", "adapters": {"": "org/adapter"}}, "without a name", id="no name"),
        pytest.param(
            {"model": "org/model", "adapters": {"a": ""}}, r"adapters\['a'\]` is empty", id="no path"
        ),
        pytest.param(
            {"model": "org/model", "adapters": ["org/adapter", "other/adapter"]},
            "two adapters",
            id="same name",
        ),
    ],
)
def test_arguments_that_cannot_work_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        EmbeddedEngine(**arguments)


def test_a_model_folder_without_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no config\.json"):
        EmbeddedEngine(tmp_path)


def test_an_adapter_given_as_the_model_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds a LoRA adapter"):
        EmbeddedEngine(make_adapter(tmp_path / "adapter", r=8))


@pytest.mark.parametrize("name", ["params.json", "config.json"])
def test_models_in_either_format_are_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    assert not EmbeddedEngine(tmp_path).closed


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, r"no adapter_config\.json"), ("{", "cannot be read"), ('{"peft_type": "IA3"}', "no rank")],
)
def test_a_folder_without_an_adapter_is_refused(
    model: Path, tmp_path: Path, content: str | None, message: str
) -> None:
    folder = tmp_path / "adapter"
    folder.mkdir()
    if content is not None:
        (folder / "adapter_config.json").write_text(content)
    with pytest.raises(ConfigurationError, match=message):
        EmbeddedEngine(model, adapters=[folder])


def test_adapters_without_names_are_named_after_their_folder(tmp_path: Path) -> None:
    folder = make_adapter(tmp_path / "mine", r=8)
    assert [adapter.name for adapter in parse_adapters([folder, "org/other"])] == ["mine", "other"]


def test_the_highest_rank_of_an_adapter_counts_and_ids_are_unique(tmp_path: Path) -> None:
    folder = make_adapter(tmp_path / "mine", r=8, rank_pattern={"q_proj": 24})
    adapters = [load_adapter(adapter, folder) for adapter in parse_adapters({"a": folder, "b": folder})]
    assert [adapter.rank for adapter in adapters] == [24, 24]
    assert adapters[0].id != adapters[1].id
    assert lora_arguments(adapters, {}, RANKS, cpu=False) == {
        "enable_lora": True,
        "max_loras": 2,
        "max_lora_rank": 32,
    }


def test_without_a_gpu_one_slot_stays_empty_for_the_base_model() -> None:
    assert lora_arguments(adapter_of_rank(8), {}, RANKS, cpu=True)["max_loras"] == 2
    with pytest.warns(UserWarning, match="max_loras=1 .* 2 slots"):
        lora_arguments(adapter_of_rank(8), {"max_loras": 1}, RANKS, cpu=True)


def adapter_of_rank(rank: int) -> list[LoadableAdapter]:
    return [LoadableAdapter("mine", Path("mine"), rank, 1)]


@pytest.mark.parametrize(
    ("rank", "given", "message"),
    [
        (32, {"max_lora_rank": 16}, "rank 32, above max_lora_rank=16.*Set max_lora_rank to 32"),
        (65, {}, "rank 65.* up to rank 64"),
        (8, {"enable_lora": False}, "enable_lora=False"),
    ],
)
def test_adapters_the_engine_has_no_room_for_are_refused(
    rank: int, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        lora_arguments(adapter_of_rank(rank), given, RANKS, cpu=False)


def test_without_adapters_nothing_is_set_for_them() -> None:
    assert lora_arguments([], {}, RANKS, cpu=True) == {}


def test_an_unknown_engine_argument_is_named_with_its_neighbours() -> None:
    with pytest.raises(ConfigurationError, match=r"no 'max_model_length'\. Did you mean 'max_model_len'"):
        complete({"max_model_length": 1}, {}, known=KNOWN, cpu=False)


def test_the_users_engine_arguments_win() -> None:
    given = {"enforce_eager": False, "max_model_len": 100, "dtype": "float32"}
    completed = complete(given, {"model": "m", "dtype": "auto"}, known=KNOWN, cpu=True)
    assert completed.items() >= {"model": "m", **given}.items()


@pytest.mark.parametrize("cpu", [True, False])
def test_defaults_for_machines_without_a_gpu_stay_there(cpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)
    known = (*KNOWN, "kv_cache_memory_bytes")
    completed = complete({}, {"model": "m"}, known=known, cpu=cpu)
    assert ("enforce_eager" in completed, "kv_cache_memory_bytes" in completed) == (cpu, cpu)


def test_a_cache_size_the_user_chose_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    known = (*KNOWN, "kv_cache_memory_bytes", "gpu_memory_utilization")
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)
    by_argument = complete({"gpu_memory_utilization": 0.3}, {}, known=known, cpu=True)
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "8")
    by_variable = complete({}, {}, known=known, cpu=True)
    for completed in (by_argument, by_variable):
        assert completed.keys().isdisjoint({"kv_cache_memory_bytes", "max_model_len"})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"backend": "xgrammar", "disable_any_whitespace": True}),
        ({"disable_any_whitespace": False}, {"backend": "xgrammar", "disable_any_whitespace": False}),
        ({"backend": "guidance"}, {"backend": "guidance", "disable_any_whitespace": True}),
        ({"backend": "auto"}, {"backend": "auto"}),
    ],
)
def test_the_grammar_backend_is_pinned_unless_the_user_chose_one(
    given: dict[str, Any], expected: dict[str, Any]
) -> None:
    arguments = {"structured_outputs_config": given} if given else {}
    assert complete(arguments, {}, known=KNOWN, cpu=False)["structured_outputs_config"] == expected


def test_a_requests_settings_stand_over_the_models_own() -> None:
    sampling = Sampling(temperature=0.0, stop=("\n",), extra={"min_p": 0.1})
    defaults = {"temperature": 0.7, "top_p": 0.8}
    assert sampling_parameters(sampling, defaults, known=("min_p",)) == {
        "temperature": 0.0,
        "top_p": 0.8,
        "stop": ["\n"],
        "min_p": 0.1,
    }


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"min_pp": 1}, "no 'min_pp'. Did you mean 'min_p'"),
        ({"n": 2}, "'n'"),
        ({"temperature": 1}, "'temperature'"),
    ],
)
def test_extra_sampling_settings_that_cannot_be_set_are_named(extra: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        sampling_parameters(Sampling(extra=extra), {}, known=("min_p", "n", "temperature"))


@pytest.mark.parametrize(
    ("asked", "default", "expected"),
    [(None, None, 90), (None, 50, 50), (None, 500, 90), (20, 50, 20), (90, None, 90)],
)
def test_the_reply_may_fill_the_room_that_is_left(
    asked: int | None, default: int | None, expected: int
) -> None:
    limits = {} if default is None else {"max_tokens": default}
    parameters = limits if asked is None else {"max_tokens": asked}
    limit_tokens(parameters, asked=asked, prompt_tokens=10, max_model_len=100)
    assert parameters["max_tokens"] == expected


@pytest.mark.parametrize(
    ("asked", "prompt_tokens", "message"),
    [
        (None, 100, "100 tokens.* holds 100"),
        (None, 250, "250 tokens.* holds 100"),
        (91, 10, "max_tokens=91.*100"),
    ],
)
def test_what_does_not_fit_the_context_is_refused_with_both_numbers(
    asked: int | None, prompt_tokens: int, message: str
) -> None:
    with pytest.raises(ContextLengthError, match=message):
        limit_tokens({}, asked=asked, prompt_tokens=prompt_tokens, max_model_len=100)


def test_constraints_are_named_as_vllm_names_them() -> None:
    assert constraint_arguments(GrammarConstraint('root ::= "a"')) == {"grammar": 'root ::= "a"'}
    assert constraint_arguments(JsonConstraint({"type": "null"})) == {"json": {"type": "null"}}


def test_equal_arguments_share_an_engine_until_it_is_closed(model: Path, tmp_path: Path) -> None:
    adapter = make_adapter(tmp_path / "mine", r=8)
    first = EmbeddedEngine.shared(model, adapters=[adapter], engine_args={"dtype": "auto", "seed": 1})
    same = EmbeddedEngine.shared(
        str(model), adapters={"mine": str(adapter)}, engine_args={"seed": 1, "dtype": "auto"}
    )
    other = EmbeddedEngine.shared(model, adapters=[adapter])
    assert first is same
    assert first is not other
    first.close()
    fresh = EmbeddedEngine.shared(model, adapters=[adapter], engine_args={"dtype": "auto", "seed": 1})
    assert fresh is not first
    for engine in (fresh, other):
        engine.close()


async def test_a_closed_engine_says_so_without_starting(model: Path) -> None:
    from raif_integrations.engines.base import Request

    request = Request([{"role": "user", "content": "Hello"}])
    with EmbeddedEngine(model) as engine:
        assert not engine.closed
    engine.close()
    assert engine.closed
    assert engine.unfinished_requests == 0
    for call in (
        engine.start,
        lambda: engine.generate(request),
        lambda: engine.generate_many([request]),
        lambda: list(engine.stream(request)),
        lambda: engine.count_tokens("Hello"),
        lambda: engine.info,
    ):
        with pytest.raises(EngineClosedError, match="was closed"):
            call()
    with pytest.raises(EngineClosedError):
        await engine.agenerate(request)
    with pytest.raises(EngineClosedError):
        await engine.agenerate_many([request])
    with pytest.raises(EngineClosedError):
        [delta async for delta in engine.astream(request)]


def test_every_configuration_error_is_one_of_the_packages_own() -> None:
    with pytest.raises(RaifIntegrationsError) as caught:
        EmbeddedEngine()
    assert isinstance(caught.value, ValueError)
    assert caught.value.hint
