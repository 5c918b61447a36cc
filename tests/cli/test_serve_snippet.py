"""Where the server is, and the code for its clients."""

from __future__ import annotations

import ast
import textwrap

import pytest

from raif_integrations import ChatRaifVLLM, RaifVLLM
from raif_integrations.cli.serving.address import answers, base_url, demands_key
from raif_integrations.cli.serving.flags import VllmFlags
from raif_integrations.cli.serving.snippet import ServedAt, client_snippet
from tests.support.stub_server import Answer, StubServer

URL = "http://localhost:8000/v1"


@pytest.mark.parametrize(
    ("flags", "url"),
    [
        ([], URL),
        (["--port", "8001"], "http://localhost:8001/v1"),
        (["--host", "0.0.0.0"], URL),
        (["--host=::"], URL),
        (["--host", "10.0.0.7"], "http://10.0.0.7:8000/v1"),
        (["--host", "fd00::7"], "http://[fd00::7]:8000/v1"),
        (["--ssl-keyfile", "k", "--ssl-certfile", "c"], "https://localhost:8000/v1"),
        (["--uds", "/run/vllm.sock"], None),
        (["--headless"], None),
    ],
)
def test_the_address_follows_the_flags(flags: list[str], url: str | None) -> None:
    assert base_url(VllmFlags(flags)) == url


@pytest.mark.parametrize(
    ("flags", "environment", "keyed"),
    [
        ([], {}, False),
        (["--api-key", "k"], {}, True),
        ([], {"VLLM_API_KEY": "k"}, True),
        ([], {"VLLM_API_KEY": ""}, False),
    ],
)
def test_a_key_is_demanded_where_one_is_set(
    flags: list[str], environment: dict[str, str], keyed: bool
) -> None:
    assert demands_key(VllmFlags(flags), environment) == keyed


def test_a_server_answers_once_its_health_is_good() -> None:
    with StubServer() as server:
        api = f"{server.root}/v1"
        assert not answers(api)
        server.on("/health", Answer(status=503))
        assert not answers(api)
        server.on("/health", Answer())
        assert answers(api)
    assert not answers(api)


def code_of(snippet: str) -> list[ast.Module]:
    """The blocks of code in a snippet."""
    lines = textwrap.dedent(snippet.partition("\n\n")[2]).splitlines()
    code = [line if line.startswith("    ") else "" for line in lines]
    return [ast.parse(textwrap.dedent(block)) for block in "\n".join(code).split("\n\n") if block.strip()]


@pytest.mark.parametrize("adapters", [(), ("raif", "other")])
@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("plugin", [True, False])
def test_the_code_runs(adapters: tuple[str, ...], keyed: bool, plugin: bool) -> None:
    snippet = client_snippet(ServedAt(URL, "smollm2", adapters, plugin, keyed))
    langchain, llama_index, openai = code_of(snippet)
    names: dict[str, object] = {}
    exec(compile(langchain, "langchain", "exec"), names)
    llm = names["llm"]
    assert isinstance(llm, ChatRaifVLLM)
    assert (llm.base_url, llm.adapter) == (URL, adapters[0] if adapters else None)
    exec(compile(llama_index, "llama_index", "exec"), names)
    assert isinstance(names["llm"], RaifVLLM)
    call = ast.unparse(openai)
    assert f"model='{adapters[0] if adapters else 'smollm2'}'" in call
    assert ("tools=" in call) == plugin
    assert ("VLLM_API_KEY" in snippet) == keyed
    assert all(name in snippet for name in ("smollm2", *adapters))
