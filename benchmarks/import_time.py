"""What importing the LangChain chat model costs, beside importing LangChain's own base class alone.

    python benchmarks/import_time.py [--smoke] [--json FILE]

Each import runs in a fresh interpreter, the statements taking turns in one run; the CPU time of the whole
process counts, so waiting for a disk does not, and what starting Python costs is taken off. All modules
are compiled beforehand, as pip does when it installs them. The lowest of the rounds counts for each
statement. The goal is at most 1.1 times LangChain's base class.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping

import measuring

QUESTION = "How many times LangChain's BaseChatModel does the import of ChatRaifVLLM take?"
GOAL = 1.1

NOTHING = "pass"
CORE = "from langchain_core.language_models import BaseChatModel"
OURS = "from raif_integrations import ChatRaifVLLM"
STATEMENTS = (NOTHING, CORE, OURS)


def main() -> None:
    """Measures, and reports."""
    options = measuring.parser(__doc__).parse_args()
    lowest = dict.fromkeys(STATEMENTS, float("inf"))
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for statement in STATEMENTS:
            cpu_seconds(statement, environment)
        for _ in measuring.progress(range(2 if options.smoke else 10), "imports"):
            for statement in STATEMENTS:
                lowest[statement] = min(lowest[statement], cpu_seconds(statement, environment))
    core, ours = lowest[CORE] - lowest[NOTHING], lowest[OURS] - lowest[NOTHING]
    details = {"core_s": round(core, 4), "ours_s": round(ours, 4)}
    ratio = measuring.Ratio("import of ChatRaifVLLM", ours / core, at_most=GOAL, details=details)
    measuring.report(options, QUESTION, [ratio])


def cpu_seconds(statement: str, environment: Mapping[str, str]) -> float:
    """CPU time of a fresh interpreter that executes a statement, in seconds, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


if __name__ == "__main__":
    main()
