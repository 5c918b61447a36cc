"""TypedDicts as Pydantic classes, with LangChain's way of annotating them.

A field is ``Annotated[type, default, "description"]``, where a default of ``...`` means required, or
just a type. Nested and recursive TypedDicts keep their ``$ref``s.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, ForwardRef, NotRequired, Required, Union, get_args, get_origin

from pydantic import BaseModel, Field, create_model
from typing_extensions import get_type_hints, is_typeddict

_QUALIFIERS = {Required: True, NotRequired: False}


@lru_cache(maxsize=256)
def typed_dict_model(typed_dict: Any) -> type[BaseModel]:
    """Makes a Pydantic class with a TypedDict's fields, for its JSON Schema.

    Args:
        typed_dict: A TypedDict, from ``typing`` or ``typing_extensions``.
    """
    conversion = _Conversion()
    model = conversion.model(typed_dict)
    for made in conversion.models.values():
        made.model_rebuild(_types_namespace=conversion.models)
    return model


class _Conversion:
    """The TypedDicts met on the way from one of them, by the unique name of their class."""

    def __init__(self) -> None:
        self.models: dict[str, type[BaseModel]] = {}
        self._names: dict[Any, str] = {}

    def model(self, typed_dict: Any) -> type[BaseModel]:
        name = typed_dict.__name__
        while name in self._names.values():
            name += "_"
        self._names[typed_dict] = name
        hints = get_type_hints(typed_dict, include_extras=True)
        required = getattr(typed_dict, "__required_keys__", frozenset(hints))
        fields: dict[str, Any] = {key: self._field(hint, key in required) for key, hint in hints.items()}
        made: type[BaseModel] = create_model(name, __doc__=inspect.getdoc(typed_dict), **fields)
        self.models[name] = made
        return made

    def _field(self, hint: Any, required: bool) -> tuple[Any, Any]:
        if get_origin(hint) in _QUALIFIERS:
            required = _QUALIFIERS[get_origin(hint)]
            (hint,) = get_args(hint)
        default: Any = ...
        description = None
        if get_origin(hint) is Annotated:
            hint, *notes = get_args(hint)
            if notes:
                default = notes[0]
            if len(notes) > 1 and isinstance(notes[1], str):
                description = notes[1]
        if default is ... and not required:
            return self._type(hint), Field(default_factory=lambda: None, description=description)
        return self._type(hint), Field(default, description=description)

    def _type(self, hint: Any) -> Any:
        """The type with each TypedDict in it replaced by its class, or a reference to one in the making."""
        if is_typeddict(hint):
            if hint in self._names:
                name = self._names[hint]
                return self.models.get(name) or ForwardRef(name)
            return self.model(hint)
        arguments = get_args(hint)
        origin = get_origin(hint)
        if not arguments or origin is None:
            return hint
        if origin is Annotated:
            return Annotated[(self._type(arguments[0]), *arguments[1:])]
        replaced = tuple(self._type(argument) for argument in arguments)
        if origin in (Union, UnionType):
            return Union[replaced]  # noqa: UP007  # built from a tuple
        return hint if replaced == arguments else origin[replaced]
