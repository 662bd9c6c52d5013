"""Items that are made bad on purpose: by kind, and what the examiner says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evals.study.scopes import Scope
from helix.domain.context import Source
from helix.study.examination import Examiner
from helix.study.items import Choice, Proven, Rejected
from helix.study.offline.questions import number_of
from helix.study.passages import source_of

KINDS = ("wrong key", "true distractor", "unanswerable", "duplicate")
_PLANTED = 10**6
"""The chunk id of the passage that states a wrong option."""


async def examined(
    kind: str, proven: Proven, scope: Scope, foreign: Sequence[Proven]
) -> Proven | Rejected:
    """The examiner's verdict on a good question of ``scope`` made bad in the way of ``kind``.

    ``foreign`` are questions of another scope.
    """
    item = proven.item
    assert isinstance(item, Choice)
    passage = next(p for p in scope.passages if p.chunk_id == proven.supports[0].chunk_id)
    wrong = (item.key + 1) % len(item.options)
    if kind == "wrong key":
        return await Examiner(scope.near).examine(replace(item, key=wrong), passage)
    if kind == "unanswerable":
        other = foreign[number_of(item.statement) % len(foreign)].item
        return await Examiner(scope.near).examine(other, passage)
    if kind == "duplicate":
        rotated = (*item.options[1:], item.options[0])
        key = (item.key - 1) % len(rotated)
        again = replace(item, options=rotated, key=key, question=f"Again: {item.question}")
        return await Examiner(scope.near, [item]).examine(again, passage)
    planted = _planted(item.filled(wrong), passage)

    async def near(text: str) -> list[Source]:
        return [*await scope.near(text), planted]

    return await Examiner(near).examine(item, passage)


def _planted(text: str, passage: Source) -> Source:
    """A passage elsewhere in the scope that states ``text`` among other things."""
    content = f"There is more to say of it. {text} Nothing else is known."
    hit = replace(
        passage.hit, chunk_id=_PLANTED, content=content, start_char=0, end_char=len(content)
    )
    return source_of(hit)
