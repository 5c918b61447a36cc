"""RAIF inside a vLLM server (0.29 or newer): any OpenAI client's tools and response formats travel as RAIF.

vLLM finds :func:`register` through the entry point group ``vllm.general_plugins`` and calls it in each of
its processes. The plugin takes part where the server is started with the arguments of
:func:`~raif_integrations.vllm_plugin.flags.server_flags`; any other server is left as it is.

What happens to a request, in order:

1. ``renderer``: before the chat template, the schema is shown as a RAIF cue in the last user turn, and
   the tools are hidden from the template.
2. ``tool_parser``, asked by vLLM to adjust the request: RAIF's grammar replaces vLLM's JSON guidance.
3. ``tool_parser`` and ``reasoning_parser``: what the model writes is decoded, while it is written.

``plan`` decides what a request asks for, ``binding`` keeps that with the request, ``reading`` turns text into
events; the three know nothing of vLLM. What differs between releases of vLLM is in ``vllm_api``.
"""

from __future__ import annotations

from raif_integrations.vllm_plugin.registration import register

__all__ = ["register"]
