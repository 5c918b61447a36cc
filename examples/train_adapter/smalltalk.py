"""What people say that needs no tool."""

from __future__ import annotations

import random

from train_adapter import words
from train_adapter.wording import expand
from train_adapter.words import pick

_TALK = (
    "{Hi|Hello|Hey|Good morning|Good evening|Howdy}{!| there!|, how are you?|}",
    "{Thanks|Thank you|Many thanks|Cheers}{!| a lot!|, that helped.| for your help.}",
    "{How are you|How's it going|How do you do|What's up}{ today|}?",
    "{Who|What} are you?",
    "{What|Which things} can you do{ for me|}?",
    "{Bye|Goodbye|See you|Good night}{!|.| later!}",
    "{Tell me|Say} something {nice|about yourself}.",
    "{Why|How come} is {the sky blue|the sea salty|grass green|ice slippery}?",
    "What is {the capital of #country|a prime number|#topic|photosynthesis|gravity}?",
    "{Explain|Describe} #topic in {one sentence|simple words|a few words}.",
    "{What do you think|What's your opinion} {about|of} #topic?",
    "{I feel|I'm} {sad|happy|tired|bored|nervous} {today|at the moment}.",
    "{My name is|I'm|I am called} #name{, nice to meet you|}.",
    "{Write|Compose} {a poem|a haiku|a short story|a rhyme} about {#noun|#topic}.",
    "{Give me|I need} {an idea|some advice|a tip} {for|about} #topic.",
    "{Do you like|What's good about} #topic?",
    "{That's|This is} {great|fine|not what I meant|wrong}{.|!}",
    "{What's|What is} the difference between {#noun and #noun|#topic and #topic}?",
    "{Can you|Could you} {keep a secret|speak #language|help me later}?",
    "{Ok|Okay|Alright|Great|Perfect}{.|!|, thanks.}",
    "{Is|Are} {#noun|#topic} {hard to learn|expensive|dangerous|fun}?",
    "{Who|When} {invented|discovered} {paper|the #noun|glass|radio}?",
    "{How many|Why do} {legs does a spider have|cats purr|bees make honey|people dream}?",
)


def smalltalk(rng: random.Random) -> str:
    """One sentence."""
    text = expand(rng, rng.choice(_TALK))
    pools = {"#country": words.COUNTRIES, "#topic": words.TOPICS, "#name": words.FIRST_NAMES}
    pools |= {"#noun": words.NOUNS, "#language": words.LANGUAGES}
    for mark, pool in pools.items():
        while mark in text:
            text = text.replace(mark, pick(rng, pool), 1)
    return text
