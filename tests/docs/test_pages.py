"""Links lead somewhere, and what the pages say about the project is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raif_integrations import ChatRaifVLLM, RaifVLLM
from tests.docs.markdown import PAGES, ROOT, blocks, links

README = ROOT / "README.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    inside = [link for link in links(page) if not link.startswith(("http://", "https://", "#"))]
    missing = [link for link in inside if not (page.parent / link.partition("#")[0]).exists()]
    assert not missing


def test_the_commands_the_pages_show_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    shown = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"(?:`|^)make (\w+)", shown, re.MULTILINE))
    assert {"demo", "test"} <= named <= targets
    scripts = set(re.findall(r"\bscripts/([\w-]+)", shown))
    assert all((ROOT / "scripts" / script).is_file() for script in scripts)


def test_both_models_take_every_option_of_the_table() -> None:
    table = README.read_text(encoding="utf-8").partition("## Options")[2].partition("\n## ")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    options = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    assert len(options) > 15
    assert options <= set(ChatRaifVLLM.model_fields)
    assert options <= set(RaifVLLM.model_fields)


def test_the_readme_has_python_to_run() -> None:
    assert len(blocks(README, "python")) >= 7
