"""A text and a tool that the small adapter handles rightly, and what comes of the text."""

from __future__ import annotations

from pydantic import BaseModel

TEXT = "Omar Khan is a 51 year old chef from Cairo."


class Person(BaseModel):
    name: str
    age: int
    job_title: str
    city: str


OMAR = Person(name="Omar Khan", age=51, job_title="chef", city="Cairo")


def get_weather(city: str) -> str:
    """Get the current weather for a city"""
    return f"Sunny, 21 degrees in {city}"
