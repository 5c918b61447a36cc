"""Where the small model is, for benchmarks that need a tokenizer or an engine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def small_model() -> Path:
    """Folder of the small model: ``RAIF_TEST_MODEL``, else the cache, prepared if it is not there yet."""
    given = os.environ.get("RAIF_TEST_MODEL")
    if given:
        return Path(given).resolve()
    if str(_EXAMPLES) not in sys.path:
        sys.path.append(str(_EXAMPLES))
    import small_model as prepared

    return prepared.prepare()
