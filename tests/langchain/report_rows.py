"""Rows of a table of reports, each a check with the number and the name of what users reported."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest

Check: TypeAlias = Callable[[], Awaitable[None]]


class Reports:
    """Collects the checks of one file; calling it makes a decorator.

    Attributes:
        rows: The checks, for ``pytest.mark.parametrize``.
    """

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def __call__(self, number: str, report: str) -> Callable[[Check], Check]:
        """Adds the check it decorates.

        Args:
            number: Its number; unique over all files.
            report: The issues and what is wrong in them.
        """

        def add(check: Check) -> Check:
            self.rows.append(pytest.param(check, id=f"{number} {report}"))
            return check

        return add
