"""Objects of a bucket that speaks S3's protocol: put, read in whole or in part, and deleted.

An object is named by its whole address, ``s3://bucket/key``. Credentials, region and the address of
a server that is not Amazon's are taken from the environment (``AWS_ACCESS_KEY_ID``,
``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``, ``AWS_ENDPOINT_URL`` and so on), never from a setting.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from helix.errors import BucketUnavailable, SettingsError, StoreUnavailable

if TYPE_CHECKING:
    from obstore.store import S3Store

SCHEME = "s3://"
_REQUEST = timedelta(seconds=30)
_PUT = timedelta(minutes=5)  # 1,000 MB, the most that a file may have, at 3.4 MB a second
_PART_BYTES = 8 * 2**20
_CONNECT = timedelta(seconds=5)
_TRYING = timedelta(seconds=15)


def put_object(place: str, data: bytes) -> None:
    """Store ``data`` as the object ``place``, all of it or nothing.

    Raises:
        SettingsError: the extra is not installed.
        StoreUnavailable: the bucket refused; BucketUnavailable: it did not answer.
    """
    with _bucket_of(place, _PUT) as (bucket, key):
        # in one request: of parts, a killed process would leave some that no list shows
        bucket.put(key, data, use_multipart=False)


def read_object(place: str, size: int) -> bytes:
    """The ``size`` bytes of the object ``place``; raises as read_part does."""
    starts = range(0, size, _PART_BYTES)
    return b"".join(read_part(place, start, _PART_BYTES) for start in starts)


def read_part(place: str, start: int, most: int) -> bytes:
    """``most`` bytes of the object from ``start`` on, fewer at its end.

    Raises:
        SettingsError, StoreUnavailable: as put_object does, or there is no such object.
    """
    with _bucket_of(place) as (bucket, key):
        return bytes(bucket.get_range(key, start=start, length=most))


def delete_objects(places: Sequence[str]) -> None:
    """Delete objects; those that do not exist are passed over.

    Raises:
        SettingsError, StoreUnavailable: as put_object does; some may be deleted.
    """
    keys: dict[str, list[str]] = {}
    for place in places:
        name, _, key = place.removeprefix(SCHEME).partition("/")
        keys.setdefault(name, []).append(key)
    for name, some in keys.items():
        with _bucket_of(f"{SCHEME}{name}/") as (bucket, _):
            bucket.delete(some)


def endpoint() -> str:
    """The server that the environment names; empty where it is Amazon's own."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")


@lru_cache(maxsize=8)
def _client(bucket: str, server: str, longest: timedelta) -> S3Store:
    """The client of a bucket, which keeps its connections; it reads the environment itself."""
    from obstore.store import S3Store

    return S3Store(
        bucket,
        client_options={
            "timeout": longest, "connect_timeout": _CONNECT,
            "allow_http": server.startswith("http://"),
        },
        retry_config={"max_retries": 3, "retry_timeout": _TRYING},
    )  # fmt: skip


@contextmanager
def _bucket_of(place: str, longest: timedelta = _REQUEST) -> Iterator[tuple[S3Store, str]]:
    """The bucket of an object and its key there; a request takes ``longest`` at most.

    obstore's errors leave the block as Helix's: their text is the server's answer, key id and all.
    """
    try:  # one of few has a bucket: an extra
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
    except ImportError:
        raise SettingsError(
            "files in a bucket need a package: pip install 'helix-answers[s3]'"
        ) from None
    name, _, key = place.removeprefix(SCHEME).partition("/")
    try:
        yield _client(name, endpoint(), longest), key
    except FileNotFoundError:
        raise StoreUnavailable(f"there is no {place}, or no such bucket") from None
    except (PermissionDeniedError, UnauthenticatedError):
        raise StoreUnavailable(
            f"the bucket {name} refused: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what"
            " they may do"
        ) from None
    except BaseError:
        raise BucketUnavailable(
            f"the bucket {name} did not answer: check AWS_ENDPOINT_URL, AWS_REGION and the network"
        ) from None
