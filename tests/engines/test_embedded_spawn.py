"""Scripts with and without a ``__main__`` guard, and processes that cannot have children."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from raif_integrations.engines.embedded.spawn import check_main_script, check_process
from raif_integrations.errors import ConfigurationError

CHECK = "from raif_integrations.engines.embedded.spawn import check_main_script as check\n"

GUARDED = {
    "main function": 'def main():\n    check()\n\nif __name__ == "__main__":\n    main()\n',
    "reversed": 'if "__main__" == __name__:\n    check()\n',
    "nested": 'if 1 > 0:\n    if __name__ == "__main__":\n        check()\n',
    "else": 'if __name__ != "__main__":\n    pass\nelse:\n    check()\n',
    "by process": "import multiprocessing\nif multiprocessing.parent_process() is None:\n    check()\n",
    "in a coroutine": (
        "import asyncio\nasync def main():\n    check()\n"
        'if __name__ == "__main__":\n    asyncio.run(main())\n'
    ),
    "on a thread": (
        "import threading\nerrors = []\ndef work():\n    try:\n        check()\n"
        "    except Exception as error:\n        errors.append(error)\n"
        'if __name__ == "__main__":\n    t = threading.Thread(target=work); t.start(); t.join()\n'
        "    if errors:\n        raise errors[0]\n"
    ),
}
UNGUARDED = {
    "top level": ("check()\n", 2),
    "in a function": ("def main():\n    check()\nmain()\n", 4),
    "under another condition": ("import sys\nif sys.argv:\n    check()\n", 4),
    "in a with block": ("import contextlib\nwith contextlib.nullcontext():\n    check()\n", 4),
    "in a coroutine": ("import asyncio\nasync def main():\n    check()\nasyncio.run(main())\n", 5),
    "on a thread": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor() as pool:\n    pool.submit(check).result()\n",
        4,
    ),
    "guard elsewhere": ('if __name__ == "__main__":\n    pass\ncheck()\n', 4),
}


def run(*arguments: str, stdin: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        input=stdin,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )


@pytest.mark.parametrize("body", GUARDED.values(), ids=GUARDED.keys())
def test_a_guarded_script_may_start_an_engine(tmp_path: Path, body: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(CHECK + body)
    done = run(str(script))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("body", "line"), UNGUARDED.values(), ids=UNGUARDED.keys())
def test_an_unguarded_script_is_told_its_line_and_the_remedy(tmp_path: Path, body: str, line: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(CHECK + body)
    done = run(str(script))
    assert done.returncode == 1
    assert f"ConfigurationError: {script}, line {line}," in done.stderr
    assert 'under `if __name__ == "__main__":`' in done.stderr


def test_an_unguarded_module_is_told_as_well(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(CHECK + "check()\n")
    assert run("-c", "import module", folder=tmp_path).returncode == 0  # not the main script
    assert "module.py, line 2," in run("-m", "module", folder=tmp_path).stderr


def test_code_that_no_child_imports_needs_no_guard(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text(CHECK + "check()\n")
    for arguments in (("-c", CHECK + "check()"), ("-m", "package")):
        done = run(*arguments, folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_script_from_standard_input_cannot_be_imported_by_a_child() -> None:
    done = run(stdin=CHECK + "check()\n")
    assert "'<stdin>' is not a file. Save the script to a file" in done.stderr


def test_this_process_may_start_an_engine() -> None:
    check_process()
    check_main_script()


def _check(connection: multiprocessing.connection.Connection) -> None:
    try:
        check_process()
    except ConfigurationError as error:
        connection.send(str(error))
    else:
        connection.send("")


@pytest.mark.parametrize(("daemon", "message"), [(True, "daemonic process"), (False, "")])
def test_daemonic_processes_cannot_have_the_children_vllm_needs(daemon: bool, message: str) -> None:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_check, args=(theirs,), daemon=daemon)
    process.start()
    process.join(60)
    assert ours.recv().find(message) >= 0
    assert process.exitcode == 0


def test_a_child_importing_the_main_script_again_is_told_about_the_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing\n"
        "from raif_integrations.engines.embedded.spawn import check_process\n"
        "check_process()\n"
        'if __name__ == "__main__":\n'
        "    child = multiprocessing.get_context('spawn').Process(target=print)\n"
        "    child.start()\n"
        "    child.join()\n"
    )
    done = run(str(script))
    assert "imported again by a child process" in done.stderr
    assert 'under `if __name__ == "__main__":`' in done.stderr
