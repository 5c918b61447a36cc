"""What the plugin keeps with a request, from the rendering of its prompt to the end of its reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raif_integrations.vllm_plugin.plan import Plan
from raif_integrations.vllm_plugin.thinking import Thinking

_ATTRIBUTE = "_raif_integrations"


@dataclass(slots=True)
class Binding:
    """A plan and the state of its request.

    Attributes:
        plan: What the request asks for.
        thinking: How the reply may begin.
        endings: Texts of the tokens that end a reply.
        stops: Stop strings that the client set and does not want to see.
        applied: The request was changed to carry the plan's constraint.
        tool_choice: The request's own tool choice.
        text: The request's own ``text`` (Responses API), while it is taken away from vLLM.
    """

    plan: Plan
    thinking: Thinking = Thinking.NONE
    endings: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    applied: bool = False
    tool_choice: Any = None
    text: Any = None


def bind(request: Any, binding: Binding) -> None:
    """Keeps a binding with its request; copies of the request carry it too.

    vLLM's requests are Pydantic models that accept extra fields. An attribute set around Pydantic is
    neither validated nor part of what the request says of itself, and goes when the request goes.
    """
    object.__setattr__(request, _ATTRIBUTE, binding)


def binding_of(request: Any) -> Binding | None:
    """The binding of a request, if it has one."""
    found = getattr(request, _ATTRIBUTE, None)
    return found if isinstance(found, Binding) else None


class Decoding:
    """Whether this server decodes at all: only a tool parser can.

    Attributes:
        is_on: vLLM has made the plugin's tool parser, which it does when it starts.
    """

    is_on = False
