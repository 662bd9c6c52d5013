"""The lines of a refusal on the terminal."""

from __future__ import annotations

from typing import Any

from helix.commands.refusals import refusal_lines


def _passage(title: str, *, likely: bool) -> dict[str, Any]:
    return {
        "title": title, "heading_path": [], "label": "", "text": f"{title} says it.",
        "likely": likely,
    }  # fmt: skip


def test_a_passage_that_may_answer_stands_ahead_under_its_own_heading() -> None:
    closest = [_passage("A", likely=False), _passage("B", likely=True), _passage("C", likely=False)]
    answer = {
        "reason": "model_refused", "reason_text": "", "clarifying_question": None,
        "suggested_scope": None, "closest": closest,
    }  # fmt: skip
    assert refusal_lines(answer) == [
        "This may still answer it:", "  B", "    B says it.",
        "Closest:", "  A", "    A says it.", "  C", "    C says it.",
    ]  # fmt: skip
