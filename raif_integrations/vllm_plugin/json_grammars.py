"""EBNF for JSON that fits a schema, on one line: for arguments that RAIF cannot carry."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from raif_integrations.conversation.one_pass import JSON_OBJECT, JSON_VALUE

_LONGEST_SCHEMA = 100_000
"""Characters of a schema that xgrammar is asked to translate; a longer one gets any JSON."""

_CHOICES = ("anyOf", "oneOf", "enum", "const")


def json_grammar(schema: Any) -> str:
    """Translates a JSON Schema with xgrammar, the library vLLM itself does it with.

    Args:
        schema: The schema.

    Returns:
        EBNF with the start rule ``root`` that keeps to one line. Where xgrammar cannot translate the
        schema, it admits any JSON object, or any JSON value if the schema allows other values too: the
        reply is validated against the schema in any case.
    """
    text = json.dumps(schema)
    anything = JSON_VALUE if _allows_others(schema) else JSON_OBJECT
    if len(text) > _LONGEST_SCHEMA:
        return anything
    try:
        from xgrammar import Grammar

        grammar = str(Grammar.from_json_schema(text, any_whitespace=False))
        Grammar.from_ebnf(grammar)
        return grammar
    except (ImportError, RuntimeError, TypeError, ValueError) as error:
        logging.getLogger("vllm.raif_integrations").info(
            "A schema that travels as JSON is not in the grammar, only validated: %s", error
        )
        return anything


def _allows_others(schema: Any) -> bool:
    """Whether a schema speaks of values that are no objects."""
    if not isinstance(schema, Mapping):
        return True
    return "object" not in schema.get("type", "object") or any(map(schema.get, _CHOICES))
