"""How an embedded engine starts, fails to start, dies and ends."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from raif_integrations.engines.base import Request, Sampling
from raif_integrations.engines.embedded import EmbeddedEngine
from raif_integrations.errors import ConfigurationError, EngineClosedError, EngineDiedError

pytestmark = pytest.mark.real

SHORT = Request([{"role": "user", "content": "Say hello."}], Sampling(temperature=0, max_tokens=8))
ENDLESS = Request(SHORT.messages, Sampling(temperature=0, max_tokens=1500, extra={"ignore_eos": True}))


def cores() -> set[BaseProcess]:
    """The processes vLLM runs for the engines of this one."""
    return {child for child in multiprocessing.active_children() if "EngineCore" in child.name}


@dataclass
class Own:
    """An engine beside the shared one, and what ran before it."""

    engine: EmbeddedEngine
    others: set[BaseProcess]

    @property
    def core(self) -> BaseProcess:
        (core,) = cores() - self.others
        return core


@pytest.fixture(scope="module")
def own(model_path: Path, engine_args: dict[str, Any]) -> Iterator[Own]:
    others = cores()
    small = {**engine_args, "kv_cache_memory_bytes": 128 * 1024**2}
    with EmbeddedEngine(model_path, engine_args=small) as engine:
        engine.start()
        yield Own(engine, others)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_model_length": 100}, "'max_model_length'. Did you mean .*'max_model_len'"),
        ({"max_lora_rank": 8}, "rank 16, above max_lora_rank=8"),
        ({"dtype": "float99"}, "float99"),
        ({"max_model_len": 10**9}, "vLLM does not start"),
    ],
)
async def test_an_engine_that_cannot_start_says_why_every_time(
    model_path: Path, adapter_path: Path, arguments: dict[str, Any], message: str
) -> None:
    with EmbeddedEngine(model_path, adapters=[adapter_path], engine_args=arguments) as engine:
        errors = []
        for _ in range(2):
            with pytest.raises(ConfigurationError, match=message) as caught:
                engine.start()
            errors.append(caught.value)
        with pytest.raises(ConfigurationError, match=message):
            await engine.agenerate(SHORT)
    assert errors[0] is not errors[1]


@pytest.mark.parametrize("guarded", [False, True])
def test_a_script_needs_a_main_guard(model_path: Path, tmp_path: Path, guarded: bool) -> None:
    """The guard is checked first; the argument no engine has keeps the script from loading a model."""
    script = tmp_path / "script.py"
    lines = [
        "from raif_integrations import EmbeddedEngine",
        "from raif_integrations.errors import ConfigurationError",
        "def main():",
        "    try:",
        f"        EmbeddedEngine({str(model_path)!r}, engine_args={{'no_such_argument': 1}}).start()",
        "    except ConfigurationError as error:",
        "        print(error)",
        'if __name__ == "__main__":' if guarded else "if True:",
        "    main()",
    ]
    script.write_text("\n".join(lines))
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ
        | {"PYTHONPATH": str(Path(__file__).parents[2]), "VLLM_WORKER_MULTIPROC_METHOD": "spawn"},
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert ("no_such_argument" in done.stdout) is guarded
    assert (f"{script}, line 9, starts" in done.stdout) is not guarded


async def test_when_vllm_dies_requests_fail_and_the_next_one_starts_it_again(own: Own) -> None:
    before = own.engine.generate(SHORT)
    tasks = [asyncio.create_task(own.engine.agenerate(ENDLESS)) for _ in range(2)]
    while own.engine.unfinished_requests < 2:
        await asyncio.sleep(0.01)
    dead = own.core
    assert dead.pid is not None
    os.kill(dead.pid, signal.SIGKILL)
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(result, EngineDiedError)
        assert result.retryable
    assert (await own.engine.agenerate(SHORT)).text == before.text
    assert own.core is not dead


def test_closing_ends_requests_and_processes(own: Own) -> None:
    stream = own.engine.stream(ENDLESS)
    next(stream)
    closer = threading.Thread(target=own.engine.close)
    closer.start()
    with pytest.raises(EngineClosedError):
        list(stream)
    closer.join()
    assert cores() == own.others
    assert own.engine.closed
    with pytest.raises(EngineClosedError):
        own.engine.generate(SHORT)
