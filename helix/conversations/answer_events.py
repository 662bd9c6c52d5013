"""Events of the answer of a turn by the one answering path, streamed or in one piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from helix.answering.events import Event, typed_events, without_streamed
from helix.answering.pipeline import AnswerRequest
from helix.domain.history import follows
from helix.domain.retrieval import Retrieval


class AnswerEvents:
    """The answer to ``request`` as events; ``documents`` are those whose words it may have so far.

    ``streamed`` and ``whole`` differ as the stream and the JSON of POST /v1/query do: a whole
    answer may be made again where a source changed meanwhile, and may be withheld.
    """

    def __init__(self, request: AnswerRequest) -> None:
        self._request = request
        self._retrieval: Retrieval | None = None
        self._streamed: set[int] = set()
        self._follows = False

    @property
    def documents(self) -> list[int]:
        """The documents whose words or titles stand in the events so far, or may in later ones."""
        found = documents_in(self._retrieval) if self._retrieval else []
        history = self._request.question.history if self._follows else None
        return sorted({*found, *self._streamed, *(history.documents if history else ())})

    async def streamed(self) -> AsyncGenerator[Event, None]:
        """The events as the model writes."""
        stream = await self._request.start()
        async for name, payload in typed_events(self._request, stream):
            self._retrieval = stream.retrieval  # an agent replaces it once all sources are gathered
            self._follows |= follows(stream.turn.to_json() if stream.turn else None)
            if name == "done":
                self._follows |= follows(payload.get("turn"))
            if name == "source" and payload["kind"] == "passage" and not payload["attached"]:
                self._streamed.add(payload["document_id"])
            yield name, payload

    async def whole(self) -> AsyncGenerator[Event, None]:
        """The same events once the answer is there."""
        request = self._request
        with request.outcome:
            answer = await request.run()
        self._retrieval, self._follows = answer.retrieval, follows(answer.turn_json)
        response = request.response(answer, with_verdict=False)
        if answer.turn:
            yield "memory", answer.turn.memory.to_json()
        yield "token", {"t": response["answer"]}
        yield "citations", response["citations"]
        if request.has_verdict:
            yield "verdict", answer.verdict_json()
        yield "done", without_streamed(response)


def documents_in(retrieval: Retrieval) -> list[int]:
    """The documents whose words or titles a response may have; a refusal may name all near ones."""
    found = [hit for source in retrieval.sources for hit in source.hits if not hit.tool]
    if retrieval.reason or not found:
        found += retrieval.hits
    named = retrieval.suggested_scope or []
    # what was put to the conversation goes with that, and is no document of the library
    library = {hit.document_id for hit in found if not hit.attached}
    return sorted(library | {row["document_id"] for row in named})
