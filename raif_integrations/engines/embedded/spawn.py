"""Can vLLM start its own processes from here?

On machines without a GPU, and wherever CUDA is in use already, vLLM starts its processes with the
``spawn`` method: the child imports the user's main script again. A script that starts an engine
without an ``if __name__ == "__main__":`` guard would start another engine in the child, which Python
forbids with a long traceback that names neither the script nor the remedy. This module says both,
before a model is loaded.
"""

from __future__ import annotations

import ast
import multiprocessing
import sys
import threading
from pathlib import Path
from types import FrameType, ModuleType
from typing import Final

from raif_integrations.errors import ConfigurationError

_GUARD_HINT: Final = (
    'Put the code that uses the engine into a function and call it under `if __name__ == "__main__":` '
    "(https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods)."
)
_GUARD_NAMES: Final = frozenset({"__name__", "parent_process", "current_process"})


def check_process() -> None:
    """Refuses processes that cannot have the child processes vLLM needs.

    Raises:
        ConfigurationError: This process is a spawned child that is just importing the main script
            again, or a daemonic process.
    """
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):
        raise ConfigurationError(
            "The main script starts the embedded engine while it is imported again by a child process "
            f"({process.name}).",
            hint=_GUARD_HINT,
        )
    if process.daemon:
        raise ConfigurationError(
            f"The embedded engine cannot start in the daemonic process {process.name!r}: "
            "Python lets such processes have no children.",
            hint="Start it in the main process, or serve the model and use `base_url`.",
        )


def check_main_script() -> None:
    """Refuses a main script that a spawned child could not import.

    The check looks at the line of the main script that is being executed: if it stands at module
    level outside any condition on the process, the child would run it as well.

    Raises:
        ConfigurationError: The script has no ``__main__`` guard around what starts the engine, or it
            was read from standard input and cannot be imported at all.
    """
    main = sys.modules.get("__main__")
    path = _imported_again(main) if main is not None else None
    if main is None or path is None:
        return
    if not path.is_file():
        raise ConfigurationError(
            f"vLLM starts a process that imports the main script again, and {str(path)!r} is not a file.",
            hint="Save the script to a file instead of piping it into Python.",
        )
    line = _line_at_module_level(main, path)
    if line is not None and not _is_guarded(path, line):
        raise ConfigurationError(
            f"{path}, line {line}, starts the embedded engine without an "
            '`if __name__ == "__main__":` guard; the process vLLM starts would run that line again.',
            hint=_GUARD_HINT,
        )


def _imported_again(main: ModuleType) -> Path | None:
    """The file a spawned child imports as its main module; the rules are multiprocessing's own."""
    spec = getattr(main, "__spec__", None)
    if spec is not None and (spec.name == "__main__" or spec.name.endswith(".__main__")):
        return None
    file = getattr(main, "__file__", None)
    if file is None or Path(file).stem == "ipython":
        return None
    return Path(file)


def _line_at_module_level(main: ModuleType, path: Path) -> int | None:
    """The line of the main script's own code the main thread is in, or ``None`` once it has ended."""
    frame: FrameType | None = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and frame.f_globals is main.__dict__:
            return frame.f_lineno if Path(code.co_filename).name == path.name else None
        frame = frame.f_back
    return None


def _is_guarded(path: Path, line: int) -> bool:
    try:
        statements = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return True
    return any(_guards(statement, line) for statement in statements)


def _guards(statement: ast.stmt, line: int) -> bool:
    if not statement.lineno <= line <= (statement.end_lineno or statement.lineno):
        return False
    return any(
        isinstance(node, ast.If)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and not _names(node.test).isdisjoint(_GUARD_NAMES)
        for node in ast.walk(statement)
    )


def _names(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute)
    }
