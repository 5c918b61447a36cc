"""Which JSON Schema draft a schema is written in, and a resolver for its references.

Nothing is ever fetched: references are looked up in the schema itself and among the drafts' own
meta-schemas. ``jsonschema`` is imported when the first schema is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from raif_integrations.errors import SchemaError

if TYPE_CHECKING:
    from referencing import Registry, Resource
    from referencing._core import Resolver

JsonSchema: TypeAlias = Mapping[str, Any] | bool
ValidatorClass: TypeAlias = Any


@cache
def _drafts() -> tuple[ValidatorClass, ...]:
    """The drafts that a schema without ``$schema`` may be written in, the newest first."""
    import jsonschema

    return (
        jsonschema.Draft202012Validator,
        jsonschema.Draft7Validator,
        jsonschema.Draft6Validator,
        jsonschema.Draft4Validator,
    )


@lru_cache(maxsize=8)
def _meta_validator(draft: ValidatorClass) -> Any:
    """The validator of a draft's meta-schema, built once."""
    from jsonschema_specifications import REGISTRY

    return draft(draft.META_SCHEMA, registry=REGISTRY)


def draft_of(schema: JsonSchema) -> ValidatorClass:
    """Finds the draft a schema is written in.

    ``$schema`` decides where it names a known draft and the schema keeps that draft's rules. Otherwise
    the newest draft that the schema keeps is taken: schemas without ``$schema`` that list tuple items
    under ``items``, or write ``exclusiveMinimum: true``, are older ones.

    Args:
        schema: The JSON Schema.

    Returns:
        A validator class of ``jsonschema``.

    Raises:
        SchemaError: No draft accepts the schema.
    """
    from jsonschema.exceptions import best_match
    from jsonschema.validators import validator_for

    drafts = _drafts()
    named = validator_for(schema, default=drafts[0])
    for draft in (named, *(other for other in drafts if other is not named)):
        if _meta_validator(draft).is_valid(schema):
            return draft
    error = best_match(_meta_validator(named).iter_errors(schema))
    if error is None:  # pragma: no cover - is_valid and iter_errors agree
        return named
    raise SchemaError(
        f"This is not a JSON Schema: at {error.json_path}: {error.message}.",
        hint=f"Check the keyword against {named.META_SCHEMA.get('$schema', 'the draft')}.",
    )


def dialect_uri(draft: ValidatorClass) -> str:
    """The ``$schema`` URI of a draft."""
    return str(draft.META_SCHEMA.get("$schema") or draft.META_SCHEMA.get("id"))


def resource_of(schema: Any, draft: ValidatorClass) -> Resource[Any]:
    """Wraps a (sub-)schema for ``referencing``, in the draft of the whole."""
    from referencing.jsonschema import specification_with

    return specification_with(dialect_uri(draft)).create_resource(schema)


def registry_of(schema: JsonSchema, draft: ValidatorClass) -> Registry[Any]:
    """A registry that knows the schema (under its own URI and the empty one) and the meta-schemas."""
    from jsonschema_specifications import REGISTRY

    resource = resource_of(schema, draft)
    registry: Registry[Any] = REGISTRY.with_resource("", resource)
    identifier = resource.id()
    if identifier:
        registry = registry.with_resource(identifier, resource)
    return registry


def resolver_of(schema: JsonSchema, draft: ValidatorClass) -> Resolver[Any]:
    """A resolver that starts at the root of the schema."""
    return registry_of(schema, draft).resolver(resource_of(schema, draft).id() or "")
