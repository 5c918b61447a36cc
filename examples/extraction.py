"""A folder of texts becomes a file of objects, one line of JSON each, written as they come.

    python examples/extraction.py examples/texts invoices.jsonl
    python examples/extraction.py texts invoices.jsonl --base-url http://localhost:8000/v1 --adapter raif

Run it again after an interruption or with new texts: what is in the file already is not asked again.
A text that gave no object is named at the end, is not in the file, and is tried again by the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from chat_options import add_model_options, chat_model
from raif_integrations import ChatRaifVLLM
from raif_integrations.engines.base import Engine

BAR_WIDTH = 30


class LineItem(BaseModel):
    """One line of an invoice."""

    item: str
    quantity: int
    price: float


class Invoice(BaseModel):
    """An invoice."""

    invoice_number: str
    company: str
    items: list[LineItem]
    total: float


async def extract(chat: ChatRaifVLLM, texts: Sequence[Path], output: Path, *, width: int) -> dict[str, str]:
    """Reads an invoice from each text that has none in the output yet.

    Args:
        chat: The model to ask.
        texts: The files to read.
        output: File the objects are added to.
        width: How many texts are under way at once.

    Returns:
        The reason for each text that gave no invoice, by its name.
    """
    done = finished(output)
    waiting = [text for text in texts if text.name not in done]
    answered = len(texts) - len(waiting)
    show_progress(answered, len(texts))
    model = chat.with_structured_output(Invoice)
    contents = [text.read_text(encoding="utf-8") for text in waiting]
    failures: dict[str, str] = {}
    replies: Any = model.abatch_as_completed(contents, {"max_concurrency": width}, return_exceptions=True)
    with output.open("a", encoding="utf-8") as file:
        async for index, reply in replies:
            name = waiting[index].name
            if isinstance(reply, Invoice):
                line = {"source": name, "value": reply.model_dump(mode="json")}
                print(json.dumps(line, ensure_ascii=False), file=file, flush=True)
            else:
                failures[name] = str(reply)
            answered += 1
            show_progress(answered, len(texts))
    return failures


def finished(output: Path) -> set[str]:
    """Names of the texts whose objects are in the output; a last line that was cut off is removed."""
    if not output.exists():
        return set()
    whole, newline, rest = output.read_text(encoding="utf-8").rpartition("\n")
    if rest:
        output.write_text(whole + newline, encoding="utf-8")
    return {json.loads(line)["source"] for line in whole.splitlines()}


def show_progress(done: int, total: int) -> None:
    """Draws the progress bar over the one before."""
    filled = BAR_WIDTH * done // total if total else BAR_WIDTH
    bar = "#" * filled + "." * (BAR_WIDTH - filled)
    print(f"\r[{bar}] {done}/{total}", end="", file=sys.stderr, flush=True)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="folder with .txt files")
    parser.add_argument("output", type=Path, help="file of JSON lines to write or to go on with")
    parser.add_argument("--width", type=int, default=8, help="texts under way at once (default: %(default)s)")
    add_model_options(parser)
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None, engine: Engine | None = None) -> int:
    """Reads the folder.

    Args:
        given: The command line, or ``None`` for the program's own.
        engine: An engine that runs already, in place of one of its own.

    Returns:
        How many texts gave no object.
    """
    options = arguments(given)
    texts = sorted(options.folder.glob("*.txt"))
    failures = asyncio.run(extract(chat_model(options, engine), texts, options.output, width=options.width))
    print(file=sys.stderr)
    for name, reason in failures.items():
        print(f"{name}: {reason}", file=sys.stderr)
    print(f"{len(texts) - len(failures)} of {len(texts)} texts are in {options.output}")
    return len(failures)


# vLLM starts processes that import this file again; only the first may run it.
if __name__ == "__main__":
    sys.exit(bool(main()))
