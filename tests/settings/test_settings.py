"""From constructor settings to an engine."""

import copy
import gc
import pickle
import weakref

import pytest
from pydantic import SecretStr

from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.engines.server import ServerEngine
from raif_integrations.errors import ConfigurationError
from raif_integrations.settings import EngineHolder, EngineSettings, engine_identity, resolve_prompting
from tests.support.scripted_engine import ScriptedEngine

URL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "Neither model nor base_url"),
        ({"model": ""}, "Neither model nor base_url"),
        ({"base_url": "localhost:8000"}, "base_url is 'localhost:8000'"),
        ({"base_url": ""}, "base_url is ''"),
        ({"base_url": URL, "engine_args": {"dtype": "float16"}}, "engine_args is given beside base_url"),
        ({"base_url": URL, "adapters": {"a": "b"}}, "adapters is given beside base_url"),
        ({"base_url": URL, "tokenizer": "t"}, "tokenizer is given beside base_url"),
        ({"base_url": URL, "chat_template": "{{ x }}"}, "chat_template is given beside base_url"),
        ({"model": "m", "default_headers": {"a": "b"}}, "default_headers is given without base_url"),
        ({"model": "m", "timeout": 0}, "timeout is 0"),
        ({"base_url": URL, "max_retries": -1}, "max_retries is -1"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        EngineSettings(**settings).validate()


@pytest.mark.parametrize(
    ("settings", "target"),
    [
        ({"model": "m"}, None),
        ({"model": "m", "adapter": "folder/raif-small"}, "raif-small"),
        ({"model": "m", "adapter": "folder/raif-small/"}, "raif-small"),
        ({"model": "m", "adapter": "mine", "adapters": {"mine": "folder/x"}}, "mine"),
        ({"base_url": URL}, None),
        ({"base_url": URL, "model": "org/m"}, "org/m"),
        ({"base_url": URL, "model": "org/m", "adapter": "org/raif"}, "org/raif"),
    ],
)
def test_which_name_a_request_asks_for(settings, target):
    assert EngineSettings(**settings).target == target


def test_equal_settings_share_a_server_engine_as_long_as_it_is_open():
    settings = EngineSettings(base_url=URL, api_key=SecretStr("k"), default_headers={"a": "b"})
    engine = settings.create()
    assert isinstance(engine, ServerEngine)
    same = EngineSettings(base_url=URL, api_key=SecretStr("k"), default_headers={"a": "b"})
    assert same.create() is engine
    assert EngineSettings(base_url=URL, api_key=SecretStr("other")).create() is not engine
    engine.close()
    assert settings.create() is not engine


def test_a_server_engine_is_not_kept_without_a_user():
    reference = weakref.ref(EngineSettings(base_url=URL, model="only-here").create())
    gc.collect()
    assert reference() is None


@pytest.fixture
def model_folder(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    adapter = tmp_path / "raif-x"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text('{"r": 8}')
    return tmp_path


def test_an_embedded_engine_is_shared_and_not_started(model_folder):
    settings = EngineSettings(model=str(model_folder), adapter=str(model_folder / "raif-x"))
    engine = settings.create()
    assert isinstance(engine, EmbeddedEngine)
    assert settings.create() is engine
    assert engine.unfinished_requests == 0
    base_only = EngineSettings(
        model=str(model_folder), adapters={"raif-x": str(model_folder / "raif-x")}
    ).create()
    assert base_only is engine
    engine.close()


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"config\.json"):
        EngineSettings(model=str(tmp_path)).create()


def test_a_holder_keeps_its_engine_until_the_settings_change():
    holder = EngineHolder()
    one = EngineSettings(base_url=URL, model="one")
    engine = holder.get(one)
    assert holder.get(EngineSettings(base_url=URL, model="one")) is engine
    assert copy.deepcopy(holder).get(one) is engine
    assert holder.get(EngineSettings(base_url=URL, model="two")) is not engine
    assert isinstance(pickle.loads(pickle.dumps(holder)), EngineHolder)


def test_the_key_is_not_shown():
    assert "hush" not in repr(EngineSettings(base_url=URL, api_key=SecretStr("hush")))


def test_engines_are_told_apart():
    one, two = ScriptedEngine([]), ScriptedEngine([])
    assert engine_identity(one) == engine_identity(one)
    assert engine_identity(one) != engine_identity(two)


@pytest.mark.parametrize(
    ("prompting", "names", "expected"),
    [
        ("auto", ("org/RAIF-llama",), "trained"),
        ("auto", (None, "models/raif-x/"), "trained"),
        ("auto", ("raif/llama",), "auto"),
        ("auto", ("llama", None), "auto"),
        ("primer", ("raif",), "primer"),
        ("trained", ("llama",), "trained"),
    ],
)
def test_how_a_schema_is_shown(prompting, names, expected):
    assert resolve_prompting(prompting, *names) == expected
