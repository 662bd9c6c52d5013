"""The meaning of the lines of ``helix chat``."""

from __future__ import annotations

import pytest

from helix.commands.chat_lines import ChatLine, chat_line


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("How long?\n", ChatLine("ask", "How long?")),
        ("/etc/hosts: what is it?", ChatLine("ask", "/etc/hosts: what is it?")),
        (" \u200b\n", ChatLine("nothing")),
        ("/again", ChatLine("again")),
        ("/again #2", ChatLine("again", "", 2)),
        ("/edit And in 2023?", ChatLine("edit", "And in 2023?")),
        ("/edit #12  And in 2023?", ChatLine("edit", "And in 2023?", 12)),
        ("/edit #1234567890 is a number?", ChatLine("edit", "#1234567890 is a number?")),
        ("/switch #1", ChatLine("switch", "", 1)),
        ("/list", ChatLine("list")),
        ("/exit", ChatLine("quit")),
        ("/image ~/my bill.png", ChatLine("image", "~/my bill.png")),
        ("/image", ChatLine("unknown", "/image")),
        ("/edit", ChatLine("unknown", "/edit")),
        ("/edit #3", ChatLine("unknown", "/edit #3")),
        ("/again please", ChatLine("unknown", "/again please")),
        ("/nwe", ChatLine("unknown", "/nwe")),
    ],
)
def test_a_line_is_a_question_or_a_command(line: str, asked: ChatLine) -> None:
    assert chat_line(line) == asked
