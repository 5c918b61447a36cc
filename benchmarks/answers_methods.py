"""Ways of asking a model, and what one answer cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from answers_items import Item
from answers_scoring import NO_ANSWER, Call, Score, score_calls, score_object, score_text
from raif_integrations.contract import OutputContract
from raif_integrations.engines.base import Constraint, Engine, GrammarConstraint, JsonConstraint, Sampling
from raif_integrations.errors import OutputError
from raif_integrations.turn import TurnOptions, TurnRequest, TurnResult, arun_turn

RAIF_ADAPTER: Final = "raif"
JSON_ADAPTER: Final = "json"
"""Names under which the engine knows the adapters."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered to one item.

    Attributes:
        score: How right it is.
        prompt_tokens: Tokens read, over all generations of the turn.
        output_tokens: Tokens written, over all generations of the turn.
        text: What the model wrote.
    """

    score: Score
    prompt_tokens: int
    output_tokens: int
    text: str


class Method(Protocol):
    """A way of asking."""

    @property
    def key(self) -> str:
        """Short name, for the command line and the result."""

    @property
    def label(self) -> str:
        """Name for a reader."""

    @property
    def model(self) -> str | None:
        """Name of the adapter it asks; ``None`` is the base model."""

    def constraints(self, item: Item) -> Iterator[Constraint]:
        """The grammars and schemas the engine has to compile for an item."""

    async def answer(self, engine: Engine, item: Item) -> Answer:
        """Asks and scores."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Longest replies, in tokens; the same for every method.

    Attributes:
        object: For objects and arguments. The longest right one has about 150 tokens of JSON.
        text: For replies in text.
    """

    object: int = 224
    text: int = 96

    def sampling(self, item: Item) -> Sampling:
        """Greedy, with a fixed seed."""
        longest = self.object if item.schema is not None or item.kind == "tool" else self.text
        return Sampling(temperature=0.0, seed=0, max_tokens=longest)


@dataclass(frozen=True, slots=True)
class TurnMethod:
    """Asks as the package does: one turn, nothing added.

    Fields are not asked for again (``repair_attempts=0``), so that the model's own answer is measured.

    Attributes:
        key: Short name.
        label: Name for a reader.
        model: Adapter to ask, or ``None`` for the base model.
        wire: What objects are written in.
        trained: The prompt is the one for models that were trained for it.
        constrain: The engine enforces the grammar or schema.
        limits: Longest replies.
    """

    key: str
    label: str
    model: str | None
    wire: Literal["raif", "json"]
    trained: bool
    constrain: bool
    limits: Limits = Limits()

    def request(self, item: Item) -> TurnRequest:
        """The turn that asks for an item."""
        return TurnRequest(
            messages=item.messages,
            sampling=self.limits.sampling(item),
            model=self.model,
            tools=item.turn_tools(self.wire),
            tool_choice=item.turn_choice(),
            output=item.contract(self.wire),
            options=TurnOptions(
                prompting="trained" if self.trained else "primer",
                constrain=self.constrain,
                repair_attempts=0,
            ),
        )

    def constraints(self, item: Item) -> Iterator[Constraint]:
        """The grammars and schemas the engine has to compile for an item."""
        if self.constrain:
            contract = item.contract(self.wire)
            if contract is not None:
                yield constraint_of(contract, trained=self.trained)
            for tool in item.turn_tools(self.wire):
                if tool.has_parameters:
                    yield constraint_of(tool.contract, trained=self.trained)

    async def answer(self, engine: Engine, item: Item) -> Answer:
        """Asks and scores. A turn without a usable answer is a wrong one, not an error."""
        try:
            result = await arun_turn(engine, self.request(item))
        except OutputError as error:
            return Answer(_score_nothing(item), 0, 0, error.text or NO_ANSWER)
        return Answer(
            score_result(item, result),
            result.usage.prompt_tokens,
            result.usage.completion_tokens,
            _written(result),
        )


def constraint_of(contract: OutputContract, *, trained: bool) -> Constraint:
    """What the engine enforces for a contract, as a turn sends it."""
    if contract.wire == "raif":
        return GrammarConstraint(contract.grammar("trained" if trained else "described"))
    assert not isinstance(contract.schema, bool)
    return JsonConstraint(contract.schema)


def score_result(item: Item, result: TurnResult) -> Score:
    """Scores what came of a turn."""
    if item.schema is not None:
        return score_object(item, result.output)
    if not item.tools:
        return score_text(item, result.text)
    calls = [Call(call.name, call.arguments) for call in result.tool_calls]
    calls += [Call(call.name, None) for call in result.invalid_tool_calls]
    return score_calls(item, calls, result.text)


def _score_nothing(item: Item) -> Score:
    return score_object(item, None) if item.schema is not None else score_calls(item, [], "")


def _written(result: TurnResult) -> str:
    plan = "+".join(result.report.plan or ())
    body = result.report.text or result.text
    return f"[{plan}] {body}" if plan else body
