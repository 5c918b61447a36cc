"""vLLM in this process.

What lives here, from the outside in:

* ``engine``: :class:`EmbeddedEngine`, the public class;
* ``loop``: the thread and event loop it owns, and the bridges to it;
* ``settings``, ``locations``, ``adapters``, ``arguments``, ``spawn``: its arguments, checked before a
  model is loaded;
* ``loaded``, ``sampling``, ``results``, ``failures``: one request on the started engine;
* ``vllm_api``: everything that is taken from vLLM, with the differences between its versions.

Rules a change must keep: only ``vllm_api`` imports vLLM, and nothing imports ``vllm_api``, ``failures``
or ``loaded`` before the engine starts; everything that touches vLLM's engine runs on its loop.
"""

from raif_integrations.engines.embedded.engine import EmbeddedEngine

__all__ = ["EmbeddedEngine"]
