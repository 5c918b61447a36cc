"""The class vLLM loads: ``{"method": "custom_class", "model": "…speculation.proposer.RaifProposer"}``.

Beside ``verification`` the only module of this package that imports vLLM. vLLM imports it in the process of
its workers.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from vllm.platforms import current_platform
from vllm.tokenizers import cached_tokenizer_from_config

from raif_integrations.engines.speculation.batch import Drafter
from raif_integrations.engines.speculation.verification import is_sound
from raif_integrations.engines.speculation.vocabulary import Vocabulary

# Tokens that a step computes in about the time of a few: below, memory limits it, above, arithmetic.
_CPU_BUDGET: Final = 96
_BUDGET: Final = 512

_logger = logging.getLogger(__name__)


class RaifProposer:
    """Drafts what the cue and the prompt already decide. vLLM verifies every draft.

    Args:
        vllm_config: vLLM's configuration.
    """

    def __init__(self, vllm_config: Any) -> None:
        config = vllm_config.model_config
        most = vllm_config.speculative_config.num_speculative_tokens
        tokenizer = cached_tokenizer_from_config(config)
        self._drafter: Drafter | None = None
        if not is_sound():
            _logger.warning("No RAIF drafts: this vLLM does not verify drafts at a temperature rightly")
            return
        try:
            vocabulary = Vocabulary(tokenizer, _ends(config, tokenizer))
        except TypeError as error:
            _logger.warning("No RAIF drafts for this model: %s", error)
            return
        budget = _CPU_BUDGET if current_platform.is_cpu() else _BUDGET
        self._drafter = Drafter(vocabulary, most, budget)

    def load_model(self, *_: Any, **__: Any) -> None:
        """There is no model to load."""

    def propose(
        self,
        sampled_token_ids: Sequence[Sequence[int]],
        num_tokens: Any,
        token_ids: Any,
        slot_mappings: Any = None,
    ) -> list[list[int]]:
        """Drafts for a step; see ``create_custom_proposer`` of vLLM.

        Args:
            sampled_token_ids: The tokens each request of the batch got.
            num_tokens: How many tokens each row has, as a NumPy array.
            token_ids: All tokens of each row, as a two-dimensional NumPy array.
            slot_mappings: Where their keys and values lie; not used.

        Returns:
            For each request the tokens that probably come next.
        """
        if self._drafter is None:
            return [[] for _ in sampled_token_ids]
        lengths = num_tokens[: len(sampled_token_ids)].tolist()
        return self._drafter.drafts(sampled_token_ids, lengths, token_ids)


def _ends(config: Any, tokenizer: Any) -> list[int]:
    """The tokens that end a reply; the tokenizer's own first."""
    given = (config.try_get_generation_config() or {}).get("eos_token_id")
    listed = given if isinstance(given, list) else [given]
    ends = dict.fromkeys([getattr(tokenizer, "eos_token_id", None), *listed])
    return [end for end in ends if isinstance(end, int)]
