"""What importing the LangChain chat model costs, beside importing LangChain's own base class alone.

    python benchmarks/import_time.py [--rounds N] [--json FILE]

Each import runs in a fresh interpreter, the statements taking turns in one run; the CPU time of the whole
process counts, so waiting for a disk does not, and what starting Python costs is taken off. All modules
are compiled beforehand, as pip does when it installs them. The lowest of the rounds counts for each
statement. The goal is 1.1 times LangChain's base class.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

GOAL = 1.1

NOTHING = "pass"
CORE = "from langchain_core.language_models import BaseChatModel"
OURS = "from raif_integrations import ChatRaifVLLM"
STATEMENTS = (NOTHING, CORE, OURS)


def main() -> None:
    """Measures and prints."""
    options = arguments()
    lowest = dict.fromkeys(STATEMENTS, float("inf"))
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for statement in STATEMENTS:
            cpu_seconds(statement, environment)
        for statement in options.rounds * STATEMENTS:
            lowest[statement] = min(lowest[statement], cpu_seconds(statement, environment))
    core, ours = lowest[CORE] - lowest[NOTHING], lowest[OURS] - lowest[NOTHING]
    print(f"{core:6.3f} s  {CORE}")
    print(f"{ours:6.3f} s  {OURS}")
    print(f"{ours / core:6.2f} times (goal: {GOAL})")
    if options.json is not None:
        options.json.write_text(json.dumps({"core_s": core, "ours_s": ours, "goal": GOAL}), encoding="utf-8")


def cpu_seconds(statement: str, environment: Mapping[str, str]) -> float:
    """CPU time of a fresh interpreter that executes a statement, in seconds, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="imports of each kind (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="also write the result to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
