"""The entry point: known to vLLM, harmless everywhere, and silent on servers that do not ask for RAIF."""

from __future__ import annotations

import logging
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest
from prometheus_client import REGISTRY
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.reasoning import ReasoningParserManager
from vllm.renderers.hf import HfRenderer
from vllm.renderers.registry import RENDERER_REGISTRY
from vllm.tool_parsers import ToolParserManager
from vllm.utils.argparse_utils import FlexibleArgumentParser

from raif_integrations import __version__
from raif_integrations.vllm_plugin import register, vllm_api
from raif_integrations.vllm_plugin.flags import PARSER_NAME, server_flags
from raif_integrations.vllm_plugin.metrics import GAUGE, announce
from raif_integrations.vllm_plugin.renderer import RaifRenderer


def test_vllm_takes_the_flags() -> None:
    register()
    parsed = make_arg_parser(FlexibleArgumentParser()).parse_args([*server_flags()])
    assert parsed.enable_auto_tool_choice
    assert parsed.tool_call_parser == parsed.reasoning_parser == PARSER_NAME
    assert parsed.structured_outputs_config.backend == "xgrammar"


def test_the_flags_need_no_vllm() -> None:
    code = (
        "import sys; from raif_integrations.vllm_plugin.flags import server_flags; server_flags();"
        "assert not {'vllm', 'torch', 'openai'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_registering_twice_changes_nothing() -> None:
    register()
    before = dict(ToolParserManager.lazy_parsers), dict(RENDERER_REGISTRY.renderers)
    register()
    assert (ToolParserManager.lazy_parsers, RENDERER_REGISTRY.renderers) == before
    for manager in (ToolParserManager, ReasoningParserManager):
        assert PARSER_NAME in manager.list_registered()
    assert ToolParserManager.get_tool_parser(PARSER_NAME).engine_based_streaming
    assert ReasoningParserManager.get_reasoning_parser(PARSER_NAME).engine_based_streaming


def test_this_vllm_has_what_is_needed() -> None:
    assert vllm_api.missing_seams() == []


def test_a_vllm_without_the_seams_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(vllm_api._SEAMS, "vllm.no_such_module", ("Anything",))
    monkeypatch.setitem(vllm_api._SEAMS, "vllm.renderers", ("ChatParams.no_such_field",))
    monkeypatch.setattr(vllm_api, "register_parsers", pytest.fail)
    monkeypatch.setattr(logging.getLogger("vllm"), "propagate", True)
    with caplog.at_level(logging.WARNING):
        register()
    assert "vllm.no_such_module" in caplog.text
    assert "ChatParams.no_such_field" in caplog.text
    assert "raif-vllm 0.2.0" in caplog.text


def test_an_error_never_stops_vllm(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("something else moved")

    monkeypatch.setattr(vllm_api, "register_renderer", broken)
    monkeypatch.setattr(logging.getLogger("vllm"), "propagate", True)
    with caplog.at_level(logging.ERROR):
        register()
    assert "something else moved" in caplog.text
    assert "without RAIF" in caplog.text


class _Config:
    """As much of vLLM's configuration as chooses a renderer."""

    def __init__(self, parser: str) -> None:
        self.structured_outputs_config = type("Settings", (), {"reasoning_parser": parser})()


@pytest.mark.parametrize("parser", ["", "qwen3", PARSER_NAME])
def test_only_servers_started_with_raif_get_its_renderer(
    monkeypatch: pytest.MonkeyPatch, parser: str
) -> None:
    register()
    made = []
    monkeypatch.setattr(HfRenderer, "__init__", lambda self, config, tokenizer: made.append(type(self)))
    carried = []
    monkeypatch.setattr(vllm_api, "carry_requests", lambda: carried.append(True))
    module, maker = RENDERER_REGISTRY.renderers["hf"]
    assert getattr(import_module(module), maker) is RENDERER_REGISTRY.load_renderer_cls("hf")
    RENDERER_REGISTRY.load_renderer("hf", _Config(parser), None)
    assert made == [RaifRenderer if parser == PARSER_NAME else HfRenderer]
    assert bool(carried) == (parser == PARSER_NAME)


def test_the_gauge_is_one() -> None:
    announce()
    announce()
    assert REGISTRY.get_sample_value(GAUGE, {"version": __version__}) == 1
