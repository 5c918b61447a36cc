"""The shapes of objects that LlamaIndex users ask for."""

from __future__ import annotations

import json
from datetime import date
from enum import Enum
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator

from raif_integrations.contract import OutputContract

T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    content: T
    label: str


class Tags(RootModel[list[str]]):
    pass


class Aliased(BaseModel):
    full_name: str = Field(alias="Full Name")
    age: int


class OddNames(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    own: str = Field(alias="self")
    args: int
    input: str


class Single(BaseModel):
    names: list[str] = Field(default_factory=list)


class Recipe(BaseModel):
    title: str
    ingredients: dict[str, str]


class Unit(Enum):
    KILOGRAM = "kg"
    PIECE = "piece"


class Order(BaseModel):
    number: str
    due: date
    unit: Unit
    priority: Literal["low", "high"]
    note: str | None = None
    span: tuple[int, int]


class Word(BaseModel):
    text: str
    tags: list[str]


class Line(BaseModel):
    words: list[Word]


class Page(BaseModel):
    lines: list[Line]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


class Owner(BaseModel):
    pet: Cat | Dog


class Tree(BaseModel):
    name: str
    children: list[Tree] = Field(default_factory=list)


class StrictOrder(BaseModel):
    model_config = ConfigDict(strict=True)
    due: date
    unit: Unit


SHAPES: dict[str, BaseModel] = {
    "generic": Box[int](content=3, label="three"),
    "root list": Tags(["red", "green"]),
    "alias": Aliased(**{"Full Name": "Ada Lovelace", "age": 36}),
    "odd names": OddNames(own="me", args=2, input="text"),
    "single field with default": Single(names=["Ada", "Grace"]),
    "map": Recipe(title="Bread", ingredients={"flour": "1 kg", "salt": "a pinch"}),
    "optional date enum tuple": Order(
        number="007", due=date(2026, 1, 31), unit=Unit.KILOGRAM, priority="high", span=(1, 2)
    ),
    "strict": StrictOrder(due=date(2026, 1, 31), unit=Unit.PIECE),
    "lists in lists": Page(lines=[Line(words=[Word(text="a", tags=["x", "y"]), Word(text="b", tags=[])])]),
    "union": Owner(pet=Dog(kind="dog", name="Rex")),
    "recursion": Tree(name="root", children=[Tree(name="leaf")]),
}


class Strict(BaseModel):
    names: list[str]
    count: int

    @field_validator("count")
    @classmethod
    def not_thirteen(cls, count: int) -> int:
        if count == 13:
            raise ValueError("thirteen is unlucky")
        return count


GOOD = Strict(names=["Ada", "Grace"], count=2)


class Album(BaseModel):
    artist: str = "unknown"
    songs: list[Word]
    year: int = 1900


ALBUM = Album(artist="Nina", songs=[Word(text="one", tags=["a"]), Word(text="two", tags=[])], year=1965)


def written(instance: BaseModel) -> str:
    """What a model that knows the wire writes for an instance."""
    contract = OutputContract.from_pydantic(type(instance))
    value = json.loads(instance.model_dump_json(by_alias=True))
    return contract.encode(value) if contract.wire == "raif" else json.dumps(value)
