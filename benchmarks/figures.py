"""Shows the results of a run of the benchmarks as tables, and puts them into the documentation.

    python benchmarks/figures.py .benchmarks [--update docs/performance.md]

With ``--update`` each block of the page between ``<!-- figures: NAME -->`` and ``<!-- end -->`` becomes the
table of the benchmark of that name, ``machine`` the machine they ran on. Blocks without a result stay as
they are.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end -->)", re.S)


def main() -> None:
    """Prints all tables, and updates the page if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="folder with a JSON file for each benchmark")
    parser.add_argument("--update", type=Path, metavar="PAGE", help="Markdown page with blocks to fill in")
    options = parser.parse_args()
    found = results(options.results)
    tables = {name: table(result) for name, result in found.items()}
    if found:
        tables["machine"] = machine_line(next(iter(found.values())))
    for name, text in tables.items():
        sys.stdout.write(f"\n{name}\n{text}")
    if options.update is not None:
        smoke = [name for name, result in found.items() if result["smoke"]]
        if smoke:
            parser.exit(1, f"{', '.join(smoke)}: results of a smoke run do not go into the documentation.\n")
        page = options.update.read_text(encoding="utf-8")
        options.update.write_text(filled(page, tables), encoding="utf-8")


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The results in a folder that have the common form, by the benchmark's name."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(result, dict) and {"ratios", "machine", "smoke"} <= result.keys():
            found[path.stem] = result
    return found


def table(result: Mapping[str, Any]) -> str:
    """A benchmark's ratios as a Markdown table."""
    lines = ["| what | ratio | goal | measured |", "|---|---|---|---|"]
    for ratio in result["ratios"]:
        details = ", ".join(f"{name} {_number(value)}" for name, value in ratio["details"].items())
        lines.append(f"| {ratio['name']} | {ratio['value']:.2f} | {_goal(ratio)} | {details} |")
    return "\n".join(lines) + "\n"


def machine_line(result: Mapping[str, Any]) -> str:
    """What the benchmarks ran on, in a line."""
    machine = result["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    return f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}; {packages}.\n"


def filled(page: str, tables: Mapping[str, str]) -> str:
    """The page with its blocks filled in."""
    return BLOCK.sub(lambda block: block[1] + tables.get(block[2], _inside(block)) + block[3], page)


def _inside(block: re.Match[str]) -> str:
    return block[0][len(block[1]) : -len(block[3])]


def _goal(ratio: Mapping[str, Any]) -> str:
    if ratio["at_most"] is not None:
        goal = f"≤ {ratio['at_most']:g}"
    elif ratio["at_least"] is not None:
        goal = f"≥ {ratio['at_least']:g}"
    else:
        return ""
    return goal if ratio["met"] else f"{goal}, missed"


def _number(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, (int, float)) else str(value)


if __name__ == "__main__":
    main()
