"""How to use the server that has just started, as code to copy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

_FRAMEWORKS = """\
LangChain
    from raif_integrations import ChatRaifVLLM
    llm = ChatRaifVLLM({arguments})

LlamaIndex
    from raif_integrations import RaifVLLM
    llm = RaifVLLM({arguments})
"""
_KEY_NOTE = "\nBoth read the server's key from the environment variable VLLM_API_KEY.\n"
_OPENAI = """\
{title}
{os}    from openai import OpenAI
    client = OpenAI(base_url={base_url}, api_key={key})
    client.chat.completions.create(model={name}, messages=[...]{more})
"""


@dataclass(frozen=True, slots=True)
class ServedAt:
    """A server as its clients see it.

    Attributes:
        base_url: Base URL of its API.
        model: Name of the base model.
        adapters: Names of the adapters.
        plugin: The plugin is at work there, so that any client gets RAIF.
        keyed: It demands a key.
    """

    base_url: str
    model: str
    adapters: Sequence[str] = ()
    plugin: bool = False
    keyed: bool = False


def client_snippet(server: ServedAt) -> str:
    """Code for LangChain, LlamaIndex and the plain ``openai`` package."""
    base_url = json.dumps(server.base_url)
    arguments = f"base_url={base_url}"
    if server.adapters:
        arguments += f", adapter={json.dumps(server.adapters[0])}"
    text = _FRAMEWORKS.format(arguments=arguments)
    if server.keyed:
        text += _KEY_NOTE
    text += "\n" + _OPENAI.format(
        title=(
            "Any OpenAI client; its `tools` and `response_format` go over RAIF"
            if server.plugin
            else "Any OpenAI client, for chat; tools and structured output are the business of the two above"
        ),
        base_url=base_url,
        os="    import os\n" if server.keyed else "",
        key='os.environ["VLLM_API_KEY"]' if server.keyed else '"none"',
        name=json.dumps(server.adapters[0] if server.adapters else server.model),
        more=", tools=[...]" if server.plugin else "",
    )
    names = [server.model, *(f"{name} (adapter)" for name in server.adapters)]
    return f"Ready at {server.base_url}, serving {', '.join(names)}.\n\n{indent(text, '  ')}"
