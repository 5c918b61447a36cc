"""What a vLLM server has to be started with so that the plugin takes part. Needs no vLLM."""

from __future__ import annotations

PARSER_NAME = "raif"
"""Name of the tool parser and of the reasoning parser. raif-vllm uses the same one on vLLM before 0.29."""


def server_flags() -> list[str]:
    """The arguments that turn RAIF on for a vLLM server.

    ``--enable-auto-tool-choice`` is what makes vLLM use a tool parser at all. The reasoning parser is
    the seam through which a request with a ``response_format`` and no tools reaches a plugin. The
    backend is pinned because an engine keeps the first one it needs, and RAIF's grammars are EBNF. JSON
    that vLLM still guides itself comes without optional white space, of which models write without end
    (vLLM issue 38696); only the server can say so, a request cannot (issue 48765).

    Returns:
        Arguments to append to ``vllm serve MODEL``.
    """
    return [
        "--enable-auto-tool-choice",
        *("--tool-call-parser", PARSER_NAME),
        *("--reasoning-parser", PARSER_NAME),
        *("--structured-outputs-config", '{"backend":"xgrammar","disable_any_whitespace":true}'),
    ]
