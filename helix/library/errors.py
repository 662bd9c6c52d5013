"""Reasons to refuse a request about documents and runs."""

from helix.errors import HelixError
from helix.errors import NotFound as NotFound


class Conflict(HelixError):
    """The document or run is not in a state that allows it."""

    status = 409


class NotEditable(HelixError):
    """The document, or run, may be read and not be changed."""

    status = 403


class TooLarge(HelixError):
    """A file or a request is over its limit of bytes."""

    status = 413


class UnsupportedMedia(HelixError):
    """A file is of no kind that Helix reads, or no image that models take."""

    status = 415
