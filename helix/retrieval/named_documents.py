"""The documents that a question names, and the preference for what is theirs.

A preference is no filter: what is theirs is searched for beside everything else and gets a head
start in the order, so that a better passage of another document still comes in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from helix.domain.names import PERIOD, PROPER, Asked, asked_names
from helix.domain.records import Candidate, SearchResult
from helix.domain.retrieval import Fusion
from helix.domain.scope import Scope
from helix.overload.fairness import off_loop_if_long
from helix.storage.connections import Row
from helix.storage.statements.document_names import NAMED
from helix.storage.stored_documents import MOST_OF_NAME
from helix.storage.tenant_store import TenantStore

HEAD_START = 0.3
"""The head start of a named document's candidate over the others, where 1 is the best that both
rankings give (docs/decisions/0039-documents-by-what-they-are.md)."""
_RANKED_HEAD_START = 0.5 / 61  # of reciprocal ranks: half of a first place
_MOST_SUGGESTED = 4


@dataclass(frozen=True)
class Named:
    """The documents that a question names.

    ``groups`` are ids by what was named: two companies, or a company in two periods, are two;
    ``titles`` by id.
    """

    groups: tuple[frozenset[int], ...] = ()
    titles: Mapping[int, str] | None = None

    @property
    def documents(self) -> tuple[int, ...]:
        """All of them, each once."""
        return tuple(sorted(frozenset[int]().union(*self.groups)))

    def suggestion(self, scope: Scope) -> list[tuple[int, str]] | None:
        """(id, title) of each, where they are few enough to ask alone and less than ``scope``."""
        asked = set(scope.document_ids or ())
        if not 0 < len(self.documents) <= _MOST_SUGGESTED or asked == set(self.documents):
            return None
        return [(number, (self.titles or {}).get(number, "")) for number in self.documents]


async def named_documents(store: TenantStore, question: str, scope: Scope) -> Named:
    """The documents of the tenant that ``question`` names; raises StoreUnavailable."""
    asked = await off_loop_if_long(len(question), asked_names, question)
    if (scope.document_ids and len(scope.document_ids) == 1) or not asked.called:
        return Named()
    keys = [key for period in asked.periods for key in period.keys]
    values = {
        "called": list(dict.fromkeys(each.name for each in asked.called)),
        "periods": list(dict.fromkeys(keys)), "most": MOST_OF_NAME, "tenant": scope.tenant,
    }  # fmt: skip
    rows = await store.read(NAMED, values)
    wanted = None if scope.document_ids is None else set(scope.document_ids)
    return named_of(asked, [row for row in rows if not wanted or row["document_id"] in wanted])


def named_of(asked: Asked, rows: Sequence[Row]) -> Named:
    """Documents that the ``rows`` of NAMED give: longest names, then period, kind and newness."""
    titles = {row["document_id"]: row["title"] for row in rows}
    groups = [
        part
        for group in _pointed(asked, rows) or _of_periods(asked, rows)
        for part in _narrowed(asked, rows, group)
    ]
    return Named(tuple(dict.fromkeys(filter(None, groups))), titles)


def _pointed(asked: Asked, rows: Sequence[Row]) -> list[frozenset[int]]:
    """A group for each name that is not a part of a longer one."""
    by_name: dict[str, set[int]] = {}
    proper = {each.name for each in asked.called if each.proper}
    for row in rows:
        counts = (row["kind"] not in PROPER and " " in row["name"]) or row["name"] in proper
        if row["kind"] != PERIOD and counts:
            by_name.setdefault(row["name"], set()).add(row["document_id"])
    places = [each for each in asked.called if each.name in by_name]
    longest = [
        one for one in places
        if not any(
            other.start <= one.start and one.end <= other.end and other[1:3] != one[1:3]
            for other in places
        )
    ]  # fmt: skip
    return list(dict.fromkeys(frozenset(by_name[each.name]) for each in longest))


def _of_periods(asked: Asked, rows: Sequence[Row]) -> list[frozenset[int]]:
    """The documents of the question's periods, where nothing else names any."""
    return [frozenset(row["document_id"] for row in rows)] if asked.periods and rows else []


def _narrowed(asked: Asked, rows: Sequence[Row], group: frozenset[int]) -> Iterator[frozenset[int]]:
    """The part of ``group`` of the kind that is asked for, and of each period, or the newest."""
    of_kind = frozenset(
        row["document_id"] for row in rows if row["document_kind"] in asked.kinds
    )  # fmt: skip
    group = group & of_kind or group
    by_period = [found for keys in _keys(asked) if (found := _first(keys, rows, group))]
    if by_period:
        yield from by_period
    elif asked.latest:
        ends = {row["document_id"]: row["period_end"] or "" for row in rows}
        last = max(ends[number] for number in group)
        yield frozenset(number for number in group if ends[number] == last)
    else:
        yield group


def _keys(asked: Asked) -> Iterable[tuple[str, ...]]:
    return (period.keys for period in asked.periods)


def _first(keys: Sequence[str], rows: Sequence[Row], group: frozenset[int]) -> frozenset[int]:
    """The documents of ``group`` that have the first of ``keys`` that any of them has."""
    for key in keys:
        found = group.intersection(
            row["document_id"] for row in rows if row["kind"] == PERIOD and row["name"] == key
        )
        if found:
            return found
    return frozenset()


def scope_of(named: Named, scope: Scope) -> Scope:
    """``scope``, of the named documents alone."""
    return replace(scope, document_ids=named.documents)


def preferring(
    named: Named, everything: SearchResult, theirs: SearchResult, fusion: Fusion | None, most: int
) -> SearchResult:
    """At most ``most`` candidates of both searches, best first, the named documents' ahead.

    The best of each named group comes first, so that of two companies neither is crowded out.
    """
    wanted = set(named.documents)
    found = {one.hit.chunk_id: one for one in (*everything.candidates, *theirs.candidates)}
    scored = [
        replace(one, fused=_score(one, fusion, everything, theirs, one.hit.document_id in wanted))
        for one in found.values()
    ]
    scored.sort(key=lambda one: (-one.fused, one.hit.distance, one.hit.chunk_id))
    ahead: list[Candidate] = []
    if len(named.groups) > 1:
        for group in named.groups:
            own = (one for one in scored if one.hit.document_id in group and one not in ahead)
            ahead.extend([first for first in [next(own, None)] if first])
        ahead.sort(key=lambda one: (-one.fused, one.hit.distance, one.hit.chunk_id))
    chosen = ahead + [one for one in scored if one not in ahead]
    nearest = [each.nearest for each in (everything, theirs) if each.nearest is not None]
    return replace(
        everything, candidates=_ranked(chosen[:most]), nearest=min(nearest, default=None)
    )


def _score(
    one: Candidate, fusion: Fusion | None, everything: SearchResult, theirs: SearchResult,
    is_named: bool,
) -> float:  # fmt: skip
    """The sum that ``fusion`` makes of distance and BM25 on the scale of both searches."""
    weight = fusion.dense_weight if fusion else 1.0
    if weight is None:
        return one.fused + (_RANKED_HEAD_START if is_named else 0.0)
    best = max(everything.best or 0.0, theirs.best or 0.0)
    lexical = (one.score or 0.0) / best if best else 0.0
    near = 1 - one.hit.distance if one.hit.distance == one.hit.distance else 0.0
    return weight * near + (1 - weight) * lexical + (HEAD_START if is_named else 0.0)


def _ranked(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates in their order, with ranks by distance and score among themselves."""
    near = sorted(candidates, key=lambda one: (one.hit.distance, one.hit.chunk_id))
    scores = sorted(candidates, key=lambda one: (-(one.score or 0.0), one.hit.chunk_id))
    near_ranks = {one.hit.chunk_id: rank for rank, one in enumerate(near, 1)}
    score_ranks = {one.hit.chunk_id: rank for rank, one in enumerate(scores, 1)}
    return [
        replace(
            one,
            near_rank=near_ranks[one.hit.chunk_id],
            score_rank=score_ranks[one.hit.chunk_id] if one.score else None,
        )
        for one in candidates
    ]
