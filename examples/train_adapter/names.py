"""Values that are words: people, firms, things, titles, remarks, addresses, notes."""

from __future__ import annotations

import random

from train_adapter.values import Value, clock, code, day, text
from train_adapter.words import invented, pick


def person(rng: random.Random) -> Value:
    """A full name, now and then with a title or an invented last name."""
    first, last = pick(rng, "first_names"), pick(rng, "last_names")
    if rng.random() < 0.2:
        last = invented(rng).capitalize()
    if rng.random() < 0.08:
        first = rng.choice(("Dr.", "Ms.", "Mr.", "Prof.")) + " " + first
    elif rng.random() < 0.08:
        first += f" {rng.choice('ABCDEFGHJKLMNPRST')}."
    return text(f"{first} {last}")


def first_name(rng: random.Random) -> Value:
    """A first name."""
    return text(pick(rng, "first_names"))


def company(rng: random.Random) -> Value:
    """A company: invented words, family names and nouns with the usual endings."""
    ending = pick(rng, "company_endings")
    name = rng.choice(
        (
            invented(rng).capitalize(),
            pick(rng, "last_names"),
            pick(rng, "nouns").capitalize() + " " + pick(rng, "nouns").capitalize(),
            f"{pick(rng, 'last_names')} & {pick(rng, 'last_names')}",
            pick(rng, "nouns").capitalize() + invented(rng, syllables=1),
        )
    )
    return text(name if rng.random() < 0.3 else f"{name} {ending}")


def shop(rng: random.Random) -> Value:
    """A shop, restaurant or hotel."""
    kind = pick(rng, "shop_kinds")
    owner = rng.choice((pick(rng, "nouns"), invented(rng), pick(rng, "last_names"))).capitalize()
    return text(
        rng.choice((f"{owner} {kind}", f"The {owner} {kind}", f"{kind} {owner}", f"{owner}'s {kind}"))
    )


def product(rng: random.Random) -> Value:
    """A thing one buys, plain, with an adjective or a model name."""
    name = pick(rng, "products")
    extra = rng.random()
    if extra < 0.2:
        name = f"{pick(rng, 'adjectives')} {name}"
    elif extra < 0.3:
        name = f"{invented(rng).capitalize()} {name}"
    elif extra < 0.4:
        name = f"{invented(rng).capitalize()} {rng.choice('ABCKLRSTXZ')}{rng.randint(1, 900)}"
    if rng.random() < 0.3:
        name = name[0].upper() + name[1:]
    return text(name)


def title(rng: random.Random) -> Value:
    """The title of a meeting, event, task or work."""
    noun, other = pick(rng, "nouns"), pick(rng, "nouns")
    topic, doing = pick(rng, "topics"), pick(rng, "verbs_ing")
    shown = rng.choice(
        (
            f"The {noun.capitalize()} {other.capitalize()}",
            f"{topic.capitalize()} {rng.choice(('workshop', 'meetup', 'course', 'night', 'basics'))}",
            f"{noun.capitalize()} {doing}",
            f"{doing} the {noun} {other}",
            f"Project {noun.capitalize()} {rng.choice(('kickoff', 'review', 'retro', 'sync', 'handover'))}",
            f"{topic} for beginners",
            f"{pick(rng, 'departments')} {rng.choice(('stand-up', 'budget', 'report', 'offsite'))}",
            f"{noun.capitalize()} of {invented(rng).capitalize()}",
            f"Q{rng.randint(1, 4)} {topic}",
        )
    )
    return text(shown[0].upper() + shown[1:] if rng.random() < 0.7 else shown)


def phrase(rng: random.Random) -> Value:
    """A few plain words: a remark, a reason, a search."""
    noun, other = pick(rng, "nouns"), pick(rng, "nouns")
    return text(
        rng.choice(
            (
                f"the {noun} is {pick(rng, 'faults')}",
                f"please leave it at the {noun}",
                f"{pick(rng, 'adjectives')} {noun} near the {other}",
                f"no {pick(rng, 'ingredients')}, extra {pick(rng, 'ingredients')}",
                f"call before {rng.randint(7, 19)}:00",
                f"needs a new {pick(rng, 'products')}",
                f"best {pick(rng, 'cuisines')} places in {pick(rng, 'cities')}",
                f"{pick(rng, 'topics')} and {pick(rng, 'topics')}",
                "cannot log in after the update",
                f"waiting for {pick(rng, 'first_names')} to confirm",
                f"wrong {noun} delivered",
            )
        )
    )


def email(rng: random.Random) -> Value:
    """An e-mail address."""
    first, last = pick(rng, "first_names").lower(), pick(rng, "last_names").lower()
    last = last.replace(" ", "").replace("'", "")
    box = rng.choice(
        (f"{first}.{last}", f"{first[0]}{last}", f"{first}{rng.randint(1, 99)}", "info", "orders", last)
    )
    host = rng.choice((invented(rng), pick(rng, "nouns"), "example", pick(rng, "nouns") + "mail"))
    return text(f"{box}@{host}.{rng.choice(('com', 'org', 'net', 'io', 'de', 'co.uk', 'example'))}")


def phone(rng: random.Random) -> Value:
    """A telephone number."""
    return code("+## ## ### ####|+1-###-###-####|0### ######|(###) ###-####|+## ### ######|###-####")(rng)


def url(rng: random.Random) -> Value:
    """A web address."""
    path = rng.choice(
        ("", f"/{pick(rng, 'nouns')}", f"/{invented(rng)}/{rng.randint(1, 900)}", "/index.html")
    )
    host = f"{rng.choice((invented(rng), pick(rng, 'nouns')))}.{rng.choice(('com', 'org', 'io', 'net'))}"
    return text(rng.choice(("https://", "https://www.", "http://", "www.")) + host + path)


def path(rng: random.Random) -> Value:
    """A file name or path."""
    ending = rng.choice(("v2", "final", "2024", invented(rng)))
    name = f"{pick(rng, 'nouns')}{rng.choice(('', '_', '-'))}{ending}"
    folder = rng.choice(
        ("", "", f"/var/{invented(rng)}/", f"/home/{invented(rng)}/", f"{pick(rng, 'nouns')}/")
    )
    return text(f"{folder}{name}.{pick(rng, 'file_endings')}")


def street(rng: random.Random) -> Value:
    """Street and house number."""
    name = f"{pick(rng, 'streets')} {pick(rng, 'street_kinds')}"
    return text(rng.choice((f"{rng.randint(1, 240)} {name}", f"{name} {rng.randint(1, 240)}")))


def word(rng: random.Random) -> Value:
    """An invented word, a noun or two of them, in some spelling."""
    made = rng.choice((invented(rng), pick(rng, "nouns"), f"{pick(rng, 'nouns')}-{pick(rng, 'nouns')}"))
    return text(rng.choice((made, made, made.capitalize(), made.upper())))


def address_lines(rng: random.Random) -> Value:
    """A postal address over several lines."""
    lines = [
        person(rng).text,
        street(rng).text,
        f"{code('#####|#### @@|@@# #@@')(rng).text} {pick(rng, 'cities')}",
    ]
    if rng.random() < 0.3:
        lines.insert(1, company(rng).text)
    return text("\n".join(lines))


def paragraph(rng: random.Random) -> Value:
    """A note of two to four lines."""
    noun = pick(rng, "nouns")
    lines = rng.sample(
        (
            f"The {noun} in room {rng.randint(1, 40)} is out of order.",
            f"{pick(rng, 'first_names')} will bring the {pick(rng, 'products')}.",
            f"Check the {pick(rng, 'nouns')} first, then the {pick(rng, 'nouns')}.",
            f"Deadline is {day(rng).text}.",
            f"See {url(rng).text} for details.",
            f"- {pick(rng, 'products')}",
            f"- ask {pick(rng, 'first_names')} about {pick(rng, 'topics')}",
            f"Total: {rng.randint(3, 90)}",
            f"Thanks for your help with {pick(rng, 'topics')}!",
            f"We open at {clock(rng).text}.",
            f"Use code {code('@@@@##')(rng).text} at the door.",
        ),
        rng.randint(2, 4),
    )
    return text("\n".join(lines))
