"""How much of vLLM's own throughput is left when LangChain's ``batch`` goes through the embedded engine.

    python benchmarks/embedded_throughput.py [--model DIR] [--smoke] [--json FILE]

64 extractions by ``with_structured_output(...).batch`` take turns with vLLM's ``AsyncLLM`` alone: the same
engine, the same prompts as tokens, the same sampling parameters and grammars, all requests at once,
nothing decoded. What a person waits counts. The goal is at least 0.95 of the raw throughput.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import measuring
import model_folder
from raif_integrations import ChatRaifVLLM, EmbeddedEngine
from raif_integrations.engines.embedded.loaded import LoadedEngine

QUESTION = "How much of the raw throughput of AsyncLLM do 64 extractions by batch reach?"
GOAL = 0.95

NAMES = ("Ada Moreau", "Tomás Rivera", "Ingrid Solheim", "Kwame Mensah")
CITIES = ("Lyon", "Quito", "Bergen", "Accra")
FIRMS = ("Moreau Optics", "Andes Freight", "Fjord Audio", "Volta Solar")


class Contact(BaseModel):
    """A person's contact details."""

    name: str
    company: str
    city: str
    email: str


def texts(count: int) -> list[str]:
    """Texts to extract from, all different."""
    return [
        f"Note {number}: {NAMES[number % 4]} of {FIRMS[number // 4 % 4]} called from "
        f"{CITIES[number // 16 % 4]}; reach them at contact{number}@example.org. Extract the contact."
        for number in range(count)
    ]


def main() -> None:
    """Measures, and reports."""
    parser = measuring.parser(__doc__)
    parser.add_argument("--model", type=Path, metavar="DIR", help="model folder; the small model by default")
    options = parser.parse_args()
    count, rounds = (8, 1) if options.smoke else (64, 5)
    arguments = {"max_model_len": 1024, "max_num_seqs": 64}
    with EmbeddedEngine(options.model or model_folder.small_model(), engine_args=arguments) as engine:
        chat = ChatRaifVLLM(
            engine=engine, temperature=0, max_tokens=16 if options.smoke else 48, repair_attempts=0
        )
        extraction = chat.with_structured_output(Contact, include_raw=True)
        prompts = texts(count)
        with recorded(engine) as calls:
            extraction.batch(prompts)
        times = measuring.in_turn(
            {"batch": lambda: extraction.batch(prompts), "raw": lambda: raw(engine, calls)},
            rounds=rounds,
            clock=time.perf_counter,
        )
    ratio = measuring.median_ratio(times["raw"], times["batch"])
    details = {f"{side}_s": round(min(seconds), 3) for side, seconds in times.items()}
    found = measuring.Ratio(f"{count} extractions, of raw", ratio, at_least=GOAL, details=details)
    measuring.report(options, QUESTION, [found])


@contextmanager
def recorded(engine: EmbeddedEngine) -> Iterator[list[tuple[Any, Any, Any]]]:
    """Prompt, sampling parameters and adapter of each request that vLLM is given meanwhile."""
    calls: list[tuple[Any, Any, Any]] = []

    async def vllm(loaded: LoadedEngine) -> Any:
        return loaded._engine

    llm = engine._run(vllm)
    generate = llm.generate

    def recording(prompt: Any, parameters: Any, request_id: str, **more: Any) -> Any:
        calls.append((prompt, parameters.clone(), more.get("lora_request")))
        return generate(prompt, parameters, request_id, **more)

    llm.generate = recording
    try:
        yield calls
    finally:
        del llm.generate


def raw(engine: EmbeddedEngine, calls: list[tuple[Any, Any, Any]]) -> None:
    """Gives vLLM the same requests again, without anything around it."""

    async def one(llm: Any, prompt: Any, parameters: Any, adapter: Any) -> None:
        request_id = uuid.uuid4().hex
        async for _ in llm.generate(prompt, parameters.clone(), request_id, lora_request=adapter):
            pass

    async def everything(loaded: LoadedEngine) -> None:
        await asyncio.gather(*(one(loaded._engine, *call) for call in calls))

    engine._run(everything)


if __name__ == "__main__":
    main()
