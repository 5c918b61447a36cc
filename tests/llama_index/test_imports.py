"""What importing the LlamaIndex side loads."""

from __future__ import annotations

import subprocess
import sys

_PROBE = """
import sys
import llama_index.core, jsonschema, referencing, raif
before = {name.partition(".")[0] for name in sys.modules}
import raif_integrations.llama_index
after = {name.partition(".")[0] for name in sys.modules}
print(*sorted(name for name in after - before if name not in sys.stdlib_module_names))
"""


def test_it_loads_nothing_beyond_llama_index_core_and_the_contracts_libraries() -> None:
    done = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["raif_integrations"]
