"""What must come back: a JSON Schema and everything derived from it.

The cue for the prompt, the grammar for the engine, the encoder for histories and the decoder for
replies are all made from one typed tree. Nothing here knows of a framework, an engine or a network.
"""

from raif_integrations.contract.contract import OutputContract, Wire
from raif_integrations.contract.report import Decoded, FieldError, Repair
from raif_integrations.contract.tree import Limit

__all__ = ["Decoded", "FieldError", "Limit", "OutputContract", "Repair", "Wire"]
