"""The arguments of the embedded engine, checked as far as that goes without loading vLLM."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raif_integrations.engines.embedded.adapters import Adapter, parse_adapters
from raif_integrations.engines.embedded.arguments import check_engine_args
from raif_integrations.engines.embedded.locations import Location, locate_model
from raif_integrations.engines.speculation import DEFAULT_SPECULATION, Speculation, check_speculation
from raif_integrations.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """What an embedded engine is made of.

    Attributes:
        model: Where the model lies.
        adapters: LoRA adapters requests can name.
        tokenizer: Directory or repository of the tokenizer, if it is not the model's.
        chat_template: Text of the chat template, if it is not the tokenizer's.
        timeout: Seconds until a request is given up, unless it says otherwise.
        engine_args: The user's own arguments for vLLM's engine.
        speculation: Whether vLLM drafts.
    """

    model: Location
    adapters: tuple[Adapter, ...]
    tokenizer: str | None
    chat_template: str | None
    timeout: float | None
    engine_args: Mapping[str, Any]
    speculation: Speculation = DEFAULT_SPECULATION

    @classmethod
    def parse(
        cls,
        model: str | Path | None,
        *,
        adapters: Mapping[str, str | Path] | Sequence[str | Path],
        tokenizer: str | Path | None,
        chat_template: str | Path | None,
        timeout: float | None,
        engine_args: Mapping[str, Any] | None,
        speculation: Speculation = DEFAULT_SPECULATION,
    ) -> EmbeddedSettings:
        """Checks the arguments of :class:`~raif_integrations.engines.embedded.EmbeddedEngine`.

        Raises:
            ConfigurationError: One of them cannot work; the message names it.
        """
        arguments = dict(engine_args or {})
        check_engine_args(arguments)
        check_speculation(speculation, arguments)
        if timeout is not None and not timeout > 0:
            raise ConfigurationError(f"`timeout` is {timeout}.", hint="Pass seconds above 0, or None.")
        location = locate_model(model, arguments)
        parsed = parse_adapters(adapters)
        return cls(
            location,
            parsed,
            None if tokenizer is None else str(tokenizer),
            None if chat_template is None else _read_template(chat_template),
            timeout,
            arguments,
            speculation,
        )

    @property
    def key(self) -> str:
        """Equal for equal settings."""
        return json.dumps(
            [
                self.model.text,
                {adapter.name: adapter.location.text for adapter in self.adapters},
                self.tokenizer,
                self.chat_template,
                self.timeout,
                self.engine_args,
                self.speculation,
            ],
            sort_keys=True,
            default=repr,
        )


def _read_template(template: str | Path) -> str:
    """Returns the text of a chat template given as text or as a path."""
    if isinstance(template, str) and ("{{" in template or "{%" in template):
        return template
    path = Path(template).expanduser()
    if not path.is_file():
        raise ConfigurationError(
            f"`chat_template` is {str(template)!r}, which is neither a Jinja template nor a file.",
            hint="Pass the template's text or path; `raif_integrations.chat_template(name)` gives a packaged "
            "template's text.",
        )
    return path.read_text(encoding="utf-8")
