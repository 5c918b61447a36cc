"""Asks all items by several methods on one engine, and keeps what was answered.

A run can be stopped and taken up again: every answer is kept in a file, with the seconds it took, and
only what is not there yet is asked.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from answers_items import Item
from answers_methods import Answer, Method
from answers_scoring import Score
from raif_integrations.engines.base import Constraint, Engine, GrammarConstraint, Request, Sampling

Progress: TypeAlias = Callable[[str, int, int], None]
"""Takes a method's label, the number of items it has answered in this run, and of how many."""

_PROBE: Final = [{"role": "user", "content": "-"}]
_ONE_TOKEN: Final = Sampling(temperature=0.0, max_tokens=1)
_ROUNDS: Final = 2
_BAR: Final = 28


@dataclass(slots=True)
class Record:
    """Everything one method answered.

    Attributes:
        answers: By the item's id.
        seconds: Wall time of the answers.
        compile_seconds: Wall time of the first use of each grammar or schema, before the answers.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    seconds: float = 0.0
    compile_seconds: float = 0.0


class Records:
    """The records of all methods, in a file if there is one.

    Args:
        settings: What the answers depend on (model, adapters, versions, limits).
        path: File to keep them in; read if it is there.

    Attributes:
        notes: Further facts of the run, kept with the answers.

    Raises:
        ValueError: The file holds answers that were made with other settings.
    """

    def __init__(self, settings: Mapping[str, Any], path: Path | None = None) -> None:
        self.settings = dict(settings)
        self.notes: dict[str, Any] = {}
        self._path = path
        self._records: dict[str, Record] = {}
        if path is not None and path.exists():
            self._read(json.loads(path.read_text(encoding="utf-8")))

    def __getitem__(self, method: str) -> Record:
        return self._records.setdefault(method, Record())

    def waiting(self, method: Method, items: Sequence[Item]) -> list[Item]:
        """The items that a method has not answered yet."""
        return [item for item in items if item.id not in self[method.key].answers]

    def to_dict(self) -> dict[str, Any]:
        """The records as JSON data."""
        return {name: asdict(record) for name, record in self._records.items()}

    def save(self, **more: Any) -> None:
        """Writes the file, with further entries if there are any."""
        if self._path is not None:
            kept = {**more, "settings": self.settings, "notes": self.notes, "records": self.to_dict()}
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def _read(self, kept: Mapping[str, Any]) -> None:
        before = kept["settings"]
        differing = sorted(
            name for name in before.keys() & self.settings if before[name] != self.settings[name]
        )
        if differing:
            raise ValueError(
                f"{self._path} holds answers made with other settings ({', '.join(differing)}). "
                "Remove it, or name another file."
            )
        self.settings = before | self.settings
        self.notes = dict(kept.get("notes", {}))
        for name, record in kept["records"].items():
            answers = {
                item_id: Answer(**(answer | {"score": Score(**answer["score"])}))
                for item_id, answer in record["answers"].items()
            }
            self._records[name] = Record(answers, record["seconds"], record["compile_seconds"])


@dataclass(frozen=True, slots=True)
class Pace:
    """How many items are asked side by side, and until when.

    Attributes:
        side_by_side: Items in work at a time.
        until: Time of ``time.perf_counter`` from which no further items are begun, or ``None``.
    """

    side_by_side: int = 32
    until: float | None = None

    @property
    def is_over(self) -> bool:
        """No further items are begun."""
        return self.until is not None and time.perf_counter() > self.until


def run(
    engine: Engine,
    methods: Sequence[Method],
    items: Sequence[Item],
    records: Records,
    pace: Pace | None = None,
    *,
    progress: Progress = lambda what, done, of: None,
) -> bool:
    """Asks what is not answered yet, method after method, in the order of the items.

    Args:
        engine: Who generates; loaded before the first second counts.
        methods: Ways of asking.
        items: What to ask.
        records: Where answers are kept; saved after every group of items.
        pace: How fast.
        progress: Told after every answer.

    Returns:
        Whether everything is answered.
    """
    pace = pace or Pace()
    _ = engine.info
    for method in methods:
        record = records[method.key]
        waiting = records.waiting(method, items)
        size = _ROUNDS * pace.side_by_side
        for start in range(0, len(waiting), size):
            if pace.is_over:
                return False
            group = waiting[start : start + size]
            asyncio.run(
                _Group(engine, method, group, pace.side_by_side).ask(record, progress, start, len(waiting))
            )
            records.save()
    return True


class _Group:
    """Some items that are asked side by side."""

    def __init__(self, engine: Engine, method: Method, items: Sequence[Item], side_by_side: int) -> None:
        self._engine = engine
        self._method = method
        self._items = items
        self._gate = asyncio.Semaphore(side_by_side)

    async def ask(self, record: Record, progress: Progress, done: int, of: int) -> None:
        """Asks the items and adds the answers to the record."""
        start = time.perf_counter()
        await self._compile()
        compiled = time.perf_counter()

        async def answer(item: Item) -> Answer:
            nonlocal done
            async with self._gate:
                given = await self._method.answer(self._engine, item)
            done += 1
            progress(self._method.label, done, of)
            return given

        answers = await asyncio.gather(*map(answer, self._items))
        record.compile_seconds += compiled - start
        record.seconds += time.perf_counter() - compiled
        record.answers.update({item.id: given for item, given in zip(self._items, answers, strict=True)})

    async def _compile(self) -> None:
        """Has the engine compile grammars and schemas, which it keeps; one token is generated for each."""
        constraints = {_text(one): one for item in self._items for one in self._method.constraints(item)}

        async def use(constraint: Constraint) -> None:
            async with self._gate:
                await self._engine.agenerate(Request(_PROBE, sampling=_ONE_TOKEN, constraint=constraint))

        await asyncio.gather(*map(use, constraints.values()))


def _text(constraint: Constraint) -> str:
    if isinstance(constraint, GrammarConstraint):
        return constraint.ebnf
    return json.dumps(constraint.schema)


def bar(what: str, done: int, of: int) -> None:
    """Draws a progress bar on standard error: over the last one on a terminal, else some lines."""
    filled = _BAR * done // max(of, 1)
    line = f"{what:34} [{'#' * filled}{'.' * (_BAR - filled)}] {done}/{of}"
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{line}" + ("\n" if done == of else ""))
    elif done % 50 == 0 or done == of:
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
