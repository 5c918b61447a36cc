"""A vLLM server as an engine, over its OpenAI-compatible API.

``engine`` is the entry. ``steps`` holds what happens between HTTP exchanges, written once as generators;
``exchange`` drives them, blocking or awaiting, on the ``openai`` SDK's clients of ``clients``. ``request``
and ``reply`` know the JSON on the wire, ``events`` the stream, ``errors`` and ``retries`` what can go wrong.
``detection`` finds out what a server is, ``decoding`` what may be left to it.
"""

from raif_integrations.engines.server.engine import ServerEngine

__all__ = ["ServerEngine"]
