"""The program of docs/assembly.md: Helix from its five LlamaIndex parts, run as it stands there."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.fake_embedder import rows
from tests.support.repository import ROOT


async def test_the_documented_program_gives_a_cited_answer(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "assembly.md").read_text()
    [program] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    lines = [line for line in program.splitlines() if line and " import " not in line]
    assert len(lines) <= 30
    for name, value in (
        ("DATABASE_URL", database_url), ("HELIX_EMBEDDER", "offline"), ("HELIX_LLM", "offline")
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(compile(program, "docs/assembly.md", "exec"), names)
    question = "Within how many days are refunds accepted?"
    response = await names["store_and_ask"]("samples/refund-policy.txt", question)
    assert "30 days" in str(response)
    [citation, *_] = response.metadata["citations"]
    assert citation["n"] == 1
    assert citation["document_title"] == "refund-policy"
    assert "30 days" in response.source_nodes[0].get_content()
    [stored] = rows(
        database_url,
        "SELECT d.text = %s, bool_and(content = substr(text, start_char + 1,"
        " end_char - start_char)) FROM chunks JOIN documents d ON d.id = document_id GROUP BY 1",
        (ROOT / "samples" / "refund-policy.txt").read_text(),
    )
    assert stored == (True, True)
