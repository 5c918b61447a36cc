"""Whether the server drafts: RAIF speculation for what its models write."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from raif_integrations.cli.serving.flags import Flags, VllmFlags
from raif_integrations.engines.speculation import Speculation, has_seam, speculative_config


@dataclass(frozen=True, slots=True)
class SpeculationUse:
    """A decision.

    Attributes:
        reason: What was decided and why.
        flags: The flags that switch it on.
    """

    reason: str
    flags: Flags = field(default_factory=dict)


def use_speculation(choice: Speculation, given: VllmFlags, *, cpu: bool) -> SpeculationUse:
    """Decides on speculation.

    Args:
        choice: What the user wants.
        given: The user's own flags.
        cpu: The model runs without a GPU.

    Raises:
        ConfigurationError: ``choice`` is ``on`` and vLLM cannot, or the user gave another method.
    """
    config = speculative_config(choice, engine_args=given.as_engine_args(), cpu=cpu)
    if config is not None:
        return SpeculationUse(
            "on; keys come from the cue and values from the prompt, and vLLM verifies them",
            {"speculative-config": json.dumps(config, separators=(",", ":"))},
        )
    if "speculative-config" in given:
        return SpeculationUse("as your own --speculative-config says")
    if choice == "off":
        return SpeculationUse("off, as --speculation off says")
    if not has_seam():
        return SpeculationUse("off, because this vLLM does not load drafting classes of others")
    if not cpu:
        return SpeculationUse("off, because it is not measured on GPUs yet; --speculation on switches it on")
    return SpeculationUse("off, because vLLM does not take it together with the other options")
