"""The room for a conversation in the prompt of a model with a small context."""

from __future__ import annotations

import pytest

from helix.services.answer_pipeline import history_room
from tests.support.vendor_packages import settings


@pytest.mark.parametrize(
    ("context", "room"),
    [
        (1_000_000, 48_000),  # HELIX_HISTORY_CHARS
        (8192, (8192 - 1024 - 5 * 650 - 8192 // 4) * 3),
        (20_000, (20_000 - 1024 - 5 * 650 - 4096) * 3),
        (4096, 0),
        (3900, 48_000),  # the default of LlamaIndex, for a context that nobody told
    ],
)
def test_a_conversation_takes_what_sources_and_answer_leave_of_the_context(
    context: int, room: int
) -> None:
    assert history_room(settings(), context) == room


def test_a_longer_answer_leaves_less_for_the_conversation() -> None:
    chosen = settings().model_copy(update={"answer_tokens": 3000})
    assert history_room(chosen, 8192) == (8192 - 1024 - 5 * 650 - 3000) * 3
