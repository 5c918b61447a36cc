"""RAIF speculation: drafts for vLLM's speculative decoding, made from the cue and the prompt.

About half of the tokens of a reply in RAIF are keys, separators and line breaks that the cue decides, and
most values stand in the prompt. So a draft needs no second model: the next key is read from the cue, the
rest of a value from the prompt. vLLM verifies every draft, at any temperature and under any grammar, so that
replies stay what they are; a wrong draft costs a little time.

What lives here, from the outside in:

* ``configuration``: :func:`speculative_config`, the argument vLLM is started with;
* ``proposer``: the class vLLM loads, and ``verification``, which checks how vLLM verifies drafts; the only
  modules that import vLLM;
* ``batch``: which state belongs to which row of a batch, and how much is drafted;
* ``reply``: one reply while it is written;
* ``course``, ``fields``, ``prompts``: the cue of a prompt, and where a reply stands in it;
* ``copying``: values that stand in the prompt;
* ``vocabulary``: between tokens and text.

Importing this package imports neither vLLM nor a tokenizer.
"""

from raif_integrations.engines.speculation.configuration import (
    DEFAULT_SPECULATION,
    DRAFT_TOKENS,
    Speculation,
    check_speculation,
    has_seam,
    refused_sampling,
    speculative_config,
)

__all__ = [
    "DEFAULT_SPECULATION",
    "DRAFT_TOKENS",
    "Speculation",
    "check_speculation",
    "has_seam",
    "refused_sampling",
    "speculative_config",
]
