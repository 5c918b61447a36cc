"""The tokenizer the drafts are checked with."""

from __future__ import annotations

from pathlib import Path

import pytest

from raif_integrations.engines.speculation.vocabulary import Vocabulary
from tests.speculation.replays import load


@pytest.fixture(scope="session")
def vocabulary(model_path: Path) -> Vocabulary:
    """The tokenizer of the small model, with the token that ends its replies."""
    return load(model_path)
