"""What ``raif-integrations serve`` is made of.

``flags`` reads the vLLM flags a user gave; ``command_line`` adds ours, from ``adapters``,
``model_template``, ``plugin`` and ``speculation``; ``process`` runs it, ``address`` knows where it is,
``snippet`` says how to use it. Nothing here imports vLLM: the server does, in a process of its own.
"""
