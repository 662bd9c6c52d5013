"""The one root of Helix's errors; each carries the HTTP status an adapter answers with.

A message is one line, names what is wrong and how to mend it, and never holds a key, a
password or document text: adapters print it to users as it is.
"""


class HelixError(Exception):
    """Root of every error a user may see. ``status`` is the HTTP status it becomes."""

    status = 500


def problem_of(error: BaseException) -> str:
    """The line of an error of ours, for a log; of another the type, for its text may hold a key."""
    return str(error) if isinstance(error, HelixError) else type(error).__name__


class SettingsError(HelixError):
    """A variable is missing or malformed, or an extra is not installed."""


class BadRequest(HelixError):
    """The request cannot be answered as it was sent."""

    status = 400


class NotFound(HelixError):
    """There is no such document, chunk, run or stored file."""

    status = 404


class Unavailable(HelixError):
    """Something Helix depends on did not answer; the same request may work later."""

    status = 503


class StoreUnavailable(Unavailable):
    """The database is down, unreachable, refusing us, or without Helix's schema."""


class BucketUnavailable(StoreUnavailable):
    """The bucket that keeps original files did not answer."""


class UpstreamError(Unavailable):
    """The model's service failed: before the first token a 503, after it a cut stream.

    ``transient`` is False where a retry cannot help (a wrong key, a daily quota, a safety
    block), so that an ingest stops instead of failing every remaining file. ``about_input`` says
    that it was this request's content that was refused: another's may pass; ``broke`` that the
    service failed over this request, not that it was away: one in another form may pass.
    """

    def __init__(
        self,
        message: str,
        *,
        transient: bool = True,
        about_input: bool = False,
        broke: bool = False,
    ) -> None:
        super().__init__(message)
        self.transient = transient
        self.about_input = about_input
        self.broke = broke


class EmbedderMismatch(HelixError):
    """The database was filled by another embedder than the one configured."""

    status = 503


class StaleChunks(HelixError):
    """Chunks that were said to be stored are not any more: embed all of the document, write again.

    Somebody else wrote or deleted the document between the look and the write.
    """

    status = 409


class DocumentGone(HelixError):
    """The document was deleted while a new version of it was being made; it stays deleted."""

    status = 409
