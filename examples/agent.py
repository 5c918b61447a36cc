"""An agent with two tools answers two questions.

    python examples/agent.py
    python examples/agent.py --question "What is 12 plus 30?"
    python examples/agent.py --base-url http://localhost:8000/v1 --adapter raif

Beside this package it needs LangChain's agents: ``pip install langchain``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from chat_options import add_model_options, chat_model
from raif_integrations import ChatRaifVLLM
from raif_integrations.engines.base import Engine

QUESTIONS = ("What's the weather in Oslo?", "What is 17 plus 25?")


def get_weather(city: str) -> dict[str, str]:
    """Get the current weather for a city."""
    weather, temperature = {"Oslo": ("snow", "-3 C"), "Lima": ("sunny", "24 C")}.get(city, ("rain", "12 C"))
    return {"weather": weather, "temperature": temperature}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def answer(chat: ChatRaifVLLM, question: str) -> str:
    """Lets the agent work on a question and prints every step of it.

    Returns:
        The answer.
    """
    agent: Any = create_agent(chat, tools=[get_weather, add])
    print(f"\n{question}")
    said = ""
    for step in agent.stream({"messages": [("human", question)]}, stream_mode="updates"):
        for update in step.values():
            for message in update["messages"]:
                said = show(message) or said
    return said


def show(message: AnyMessage) -> str:
    """Prints a message of the agent and returns what it says to the user, if anything."""
    if isinstance(message, ToolMessage):
        print(f"  result  {message.text}")
    elif isinstance(message, AIMessage):
        for call in message.tool_calls:
            given = ", ".join(f"{key}={value!r}" for key, value in call["args"].items())
            print(f"  call    {call['name']}({given})")
        for broken in message.invalid_tool_calls:
            print(f"  broken  {broken['error']}")
        if message.text:
            print(f"  answer  {message.text}")
            return message.text
    return ""


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--question", action="append", help="what to ask; may be given several times")
    add_model_options(parser)
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None, engine: Engine | None = None) -> list[str]:
    """Asks the questions one after the other.

    Args:
        given: The command line, or ``None`` for the program's own.
        engine: An engine that runs already, in place of one of its own.

    Returns:
        The answers.
    """
    options = arguments(given)
    chat = chat_model(options, engine)
    return [answer(chat, question) for question in options.question or QUESTIONS]


# vLLM starts processes that import this file again; only the first may run it.
if __name__ == "__main__":
    main()
