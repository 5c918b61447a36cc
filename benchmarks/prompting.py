"""What the form of the prompt does to the answers, on the held-out items.

    python benchmarks/prompting.py --model DIR --json prompting.json [--smoke]

* **Cue.** For base model and adapter: the bare cue that RAIF adapters were trained on and the described cue
  (allowed values and descriptions), each alone and behind the primer that explains RAIF. The package sends
  the first to trained models and the last to all others.
* **Tags.** The base model under the grammar of the adapters, which lets a text stand behind a type tag
  (``code:s=150``); its own allows tags only where the schema leaves the type open.
* **Order.** The base model under JSON Schema guidance, which follows the order of the schema: keys as they
  are declared and keys sorted. (RAIF's own order is fixed: cue, grammar and decoder sort.)
* **Plan.** Which tool is called, planned by the base model or the adapter, with the bare list of tools or
  with the sentence that says what to write.

Temperature 0, one engine, the scoring of ``answers.py``; the options are those of ``answers.py`` too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from answers import carry_out, options_of
from answers_items import Item
from answers_methods import RAIF_ADAPTER, Answer, Limits, Method, TurnMethod, constraint_of
from answers_scoring import Call, Score, score_calls, score_object
from raif_integrations.contract import OutputContract
from raif_integrations.contract.cue import CueStyle
from raif_integrations.conversation.history import as_turns
from raif_integrations.conversation.prompt import primer, with_block
from raif_integrations.conversation.routing import plan_block, plan_grammar, read_plan
from raif_integrations.engines.base import Completion, Constraint, Engine, GrammarConstraint, Message, Request

PAIRS: Final = (
    ("base-described-primer", "base-bare"),
    ("base-described-primer", "base-described"),
    ("base-bare-primer", "base-bare"),
    ("base-described-primer", "base-tags"),
    ("adapter-bare", "adapter-described"),
    ("adapter-bare", "adapter-bare-primer"),
    ("order-sorted", "order-declared"),
)
"""Forms whose difference a run reports."""


@dataclass(frozen=True, slots=True)
class CueForm:
    """Asks for an object with one form of the cue, under a RAIF grammar.

    Attributes:
        key: Short name.
        label: Name for a reader.
        model: Adapter to ask, or ``None`` for the base model.
        style: Style of the cue.
        primed: The primer that explains RAIF stands before it.
        tagged: The grammar is the one for models that were trained on RAIF.
        limits: Longest replies.
    """

    key: str
    label: str
    model: str | None
    style: CueStyle
    primed: bool
    tagged: bool
    limits: Limits

    def messages(self, item: Item, contract: OutputContract) -> list[Message]:
        """The conversation with the cue in its last turn."""
        block = f"<schema>\n{contract.cue(self.style)}\n</schema>"
        if self.primed:
            block = f"{primer(contract)}\n{block}"
        return with_block(as_turns(item.messages, neutralise_tags=True), block)

    def constraints(self, item: Item) -> Iterator[Constraint]:
        """The grammar of the item."""
        yield constraint_of(_contract(item), trained=self.tagged)

    async def answer(self, engine: Engine, item: Item) -> Answer:
        """Asks and scores."""
        contract = _contract(item)
        completion = await engine.agenerate(
            Request(
                self.messages(item, contract),
                sampling=self.limits.sampling(item),
                constraint=constraint_of(contract, trained=self.tagged),
                model=self.model,
            )
        )
        finished = completion.finish_reason == "stop"
        decoded = contract.decode(completion.text, finished=finished, constrained=True)
        return _answered(completion, score_object(item, decoded))


@dataclass(frozen=True, slots=True)
class PlanForm:
    """Asks which tools to call, and nothing more.

    Attributes:
        key: Short name.
        label: Name for a reader.
        model: Adapter to ask, or ``None`` for the base model.
        trained: The bare list of tools, without a sentence that says what to write.
        limits: Longest replies.
    """

    key: str
    label: str
    model: str | None
    trained: bool
    limits: Limits

    def constraints(self, item: Item) -> Iterator[Constraint]:
        """The grammar of the plan."""
        tools = item.turn_tools("raif")
        yield GrammarConstraint(plan_grammar(tools, may_reply=_may_reply(item), parallel=True))

    async def answer(self, engine: Engine, item: Item) -> Answer:
        """Asks and scores; of the score only the choice counts."""
        tools, may_reply = item.turn_tools("raif"), _may_reply(item)
        contracts = {tool.name: tool.contract for tool in tools}
        turns = as_turns(item.messages, contracts=contracts, neutralise_tags=True)
        block = plan_block(tools, trained=self.trained, may_reply=may_reply, parallel=True)
        (constraint,) = self.constraints(item)
        completion = await engine.agenerate(
            Request(
                with_block(turns, block),
                sampling=self.limits.sampling(item),
                constraint=constraint,
                model=self.model,
            )
        )
        names = read_plan(completion.text, tools, may_reply=may_reply, parallel=True)
        choice = score_calls(item, [Call(name, None) for name in names], "").choice
        return _answered(completion, Score(choice=choice))


@dataclass(frozen=True, slots=True)
class OrderForm:
    """Asks the base model for JSON, with the keys as they are declared or sorted.

    Attributes:
        key: Short name.
        label: Name for a reader.
        is_sorted: The keys of the schema are sorted at every level.
        limits: Longest replies.
    """

    key: str
    label: str
    is_sorted: bool
    limits: Limits

    @property
    def model(self) -> None:
        """The base model."""

    def constraints(self, item: Item) -> Iterator[Constraint]:
        """The schema of the item."""
        return self._turn().constraints(self._ordered(item))

    async def answer(self, engine: Engine, item: Item) -> Answer:
        """Asks and scores."""
        return await self._turn().answer(engine, self._ordered(item))

    def _turn(self) -> TurnMethod:
        return TurnMethod(self.key, self.label, None, "json", False, True, self.limits)

    def _ordered(self, item: Item) -> Item:
        return replace(item, schema=sorted_keys(item.schema)) if self.is_sorted else item


def sorted_keys(schema: Any) -> Any:
    """A copy of a schema whose ``properties`` are sorted at every level."""
    if isinstance(schema, Mapping):
        below = {key: sorted_keys(value) for key, value in schema.items()}
        if isinstance(properties := below.get("properties"), dict):
            below["properties"] = dict(sorted(properties.items()))
        return below
    return [sorted_keys(value) for value in schema] if isinstance(schema, list) else schema


def forms_of_objects(limits: Limits) -> list[Method]:
    """The forms of the cue and the orders, in the order they are asked."""
    styles: tuple[CueStyle, ...] = ("trained", "described")
    forms: list[Method] = []
    for name, model in (("base", None), ("adapter", RAIF_ADAPTER)):
        for style in styles:
            for primed in (False, True):
                shown = "bare" if style == "trained" else "described"
                key = f"{name}-{shown}" + ("-primer" if primed else "")
                label = f"{name}, {shown} cue" + (", primer" if primed else "")
                forms.append(CueForm(key, label, model, style, primed, model is not None, limits))
    label = "base, described cue, primer, tags"
    forms.append(CueForm("base-tags", label, None, "described", True, True, limits))
    for is_sorted in (False, True):
        order = "sorted" if is_sorted else "declared"
        forms.append(OrderForm(f"order-{order}", f"base, JSON, keys {order}", is_sorted, limits))
    return forms


def forms_of_plans(limits: Limits) -> list[Method]:
    """The forms of the plan, in the order they are asked."""
    return [
        PlanForm(
            f"plan-{name}-{'bare' if trained else 'asked'}",
            f"plan by {name}, {'bare list' if trained else 'list and sentence'}",
            model,
            trained,
            limits,
        )
        for name, model in (("base", None), ("adapter", RAIF_ADAPTER))
        for trained in (True, False)
    ]


def main() -> int:
    """Runs what is asked for; returns 0 if everything is answered, 3 if a part is left for another run."""
    options = options_of(__doc__)
    limits = Limits(64, 32) if options.smoke else Limits()
    # The plans come first: they take seconds.
    work: Sequence[tuple[list[Method], Callable[[Item], bool]]] = (
        (forms_of_plans(limits), _is_planned),
        (forms_of_objects(limits), lambda item: item.schema is not None),
    )
    return carry_out(options, limits, work, PAIRS)


def _is_planned(item: Item) -> bool:
    """A turn plans unless one tool is named, or is the only one and must be called."""
    return bool(item.tools) and (_may_reply(item) or (item.tool_choice == "required" and len(item.tools) > 1))


def _may_reply(item: Item) -> bool:
    return item.turn_choice() == "auto"


def _contract(item: Item) -> OutputContract:
    contract = item.contract("raif")
    assert contract is not None
    return contract


def _answered(completion: Completion, score: Score) -> Answer:
    usage = completion.usage
    return Answer(score, usage.prompt_tokens, usage.completion_tokens, completion.text)


if __name__ == "__main__":
    sys.exit(main())
