"""One turn of a conversation: a contract, a conversation and an engine give text, tool calls or a value.

Framework-free. :func:`run_turn` and :func:`stream_turn`, with their async twins, are all the
adapters need. What only a turn under way needs (contracts and JSON Schema's validators) is loaded
with the first one, so that importing an adapter stays cheap.
"""

from raif_integrations.turn.drive import arun_turn, astream_turn, first_prompt, run_turn, stream_turn
from raif_integrations.turn.types import (
    InvalidToolCall,
    NamedTool,
    Prompting,
    RaifReport,
    ReasoningDelta,
    TextDelta,
    Tool,
    ToolCall,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolChoice,
    TurnEvent,
    TurnOptions,
    TurnRequest,
    TurnResult,
    Wire,
)

__all__ = [
    "InvalidToolCall",
    "NamedTool",
    "Prompting",
    "RaifReport",
    "ReasoningDelta",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolChoice",
    "TurnEvent",
    "TurnOptions",
    "TurnRequest",
    "TurnResult",
    "Wire",
    "arun_turn",
    "astream_turn",
    "first_prompt",
    "run_turn",
    "stream_turn",
]
