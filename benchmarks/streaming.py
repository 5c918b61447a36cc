"""Whether a token of a long stream costs the client more than a token of a short one.

    python benchmarks/streaming.py [--smoke] [--json FILE]

A stub server in a process of its own streams a tool call of 256 pieces, and one of ten times as many: a
long string, and a table. Both sides take turns; the CPU time of all threads of this process counts. The
ratio is the cost of a piece in the long stream to that of a piece in the short one, at the turn (decoder
and validation) and in ``ChatRaifVLLM`` (with LangChain's own summing of chunks). What is linear stays at 1;
the goal is at most 1.2.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import measuring
import stub
from client_overhead import PIECES, Exchange, Message, Order

QUESTION = "Does a token cost the client more in a stream that is ten times as long?"
TIMES = 10
GOAL = 1.2
KINDS = (("text", "long string", Message), ("table", "table", Order))


def main() -> None:
    """Measures, and reports."""
    options = measuring.parser(__doc__).parse_args()
    ratios = []
    with stub.server() as base_url:
        for kind, name, tool in KINDS:
            with ExitStack() as open_exchanges:
                sides: dict[str, Callable[[], object]] = {}
                for pieces in (PIECES, TIMES * PIECES):
                    exchange = Exchange(base_url, f"{kind}-{pieces}", tool, streamed=True)
                    open_exchanges.enter_context(exchange)
                    for layer in ("turn", "ChatRaifVLLM"):
                        sides[f"{layer}, {pieces}"] = exchange.sides()[layer]
                times = measuring.in_turn(sides, rounds=2 if options.smoke else 11)
            for layer in ("turn", "ChatRaifVLLM"):
                short, long = times[f"{layer}, {PIECES}"], times[f"{layer}, {TIMES * PIECES}"]
                ratios.append(
                    measuring.Ratio(
                        f"{name}, {layer}",
                        measuring.median_ratio(long, short) / TIMES,
                        at_most=GOAL,
                        details={
                            "short_us_a_piece": round(min(short) * 1e6 / PIECES, 2),
                            "long_us_a_piece": round(min(long) * 1e6 / (TIMES * PIECES), 2),
                        },
                    )
                )
    measuring.report(options, QUESTION, ratios, pieces=PIECES, times=TIMES)


if __name__ == "__main__":
    main()
