"""Reading the events of an answer, and those of a run across several connections."""

from __future__ import annotations

from typing import Any

from helix.client import calls
from helix.client.errors import IncompleteStream, InvalidResponse
from helix.client.frames import Frame
from helix.client.library import Run, change_of
from helix.errors import HelixError, Unavailable


class AnswerReader:
    """Puts an answer together from the events of its stream."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._pieces: list[str] = []
        self._fields: dict[str, Any] = {}
        self._failure = ""

    def take(self, frame: Frame) -> str | None:
        """The piece of the answer in the event; None for an event of another kind.

        Raises:
            InvalidResponse: its data are not those of an event of an answer.
        """
        payload = frame.json()
        try:
            if frame.event == "token":
                self._pieces.append("" + payload["t"])  # a TypeError for what is no text
                return self._pieces[-1]
            if frame.event == "error":
                self._failure = str(payload["error"])
            self._fields |= payload if frame.event == "done" else {frame.event: payload}
        except (LookupError, TypeError, ValueError):
            raise InvalidResponse(f"the server sent a malformed event {frame.event!r}") from None
        return None

    def check(self) -> None:
        """Return where the server has reported no failure.

        Raises:
            Unavailable: the server reported that the answer failed.
        """
        if self._failure:
            raise Unavailable(self._failure)

    @property
    def is_stopped(self) -> bool:
        """True if the answer was stopped, which only the events of conversations report."""
        return "stopped" in self._fields

    def payload(self) -> dict[str, Any]:
        """The JSON of the answer, as POST /v1/query gives it without a stream.

        Raises:
            Unavailable: as ``check`` does.
            IncompleteStream: the stream ended before its last event.
        """
        self.check()
        if "abstained" not in self._fields:
            raise IncompleteStream(f"the server at {self._address} broke off: ask again")
        return {"answer": "".join(self._pieces), **self._fields}


class RunFollower:
    """Follows a run over several connections; each begins behind the last event received."""

    def __init__(self, run_id: int, retries: int) -> None:
        self._run_id = run_id
        self._retries = retries
        self._after = ""
        self._in_vain = 0
        self.has_ended = False

    def call(self) -> calls.Call:
        """The request for the events that are still to come."""
        return calls.run_events(self._run_id, self._after)

    def take(self, frame: Frame) -> None:
        """Take an event of the run into account."""
        self._after, self._in_vain = frame.id, 0
        state = change_of(frame)
        self.has_ended = isinstance(state, Run) and state.has_ended

    def broke_off(self, error: HelixError | None) -> None:
        """Count a connection that ended before the run did.

        Raises:
            HelixError: too many connections in a row brought no event.
        """
        self._in_vain += 1
        if self._in_vain > self._retries:
            raise error or IncompleteStream(f"the events of run {self._run_id} broke off")
