"""A bucket as a source: S3 and its like, Google Cloud Storage, Azure; by obstore."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, UnauthenticatedError
from obstore.store import from_url

from pipelines.sources.base import Entry, EntryGone, SourceError
from pipelines.sources.guarded_proxy import GuardedProxy

_NAMES: Mapping[str, Mapping[str, str]] = {
    "s3": {
        "endpoint": "endpoint", "region": "region", "key_id": "access_key_id",
        "key": "secret_access_key", "token": "session_token",
    },
    "gs": {"endpoint": "base_url", "key": "service_account_key"},
    "az": {"endpoint": "endpoint", "account": "account_name", "key": "account_key"},
}  # fmt: skip
"""By scheme, what obstore calls the options and secrets of the kind."""
_OWN: Mapping[str, str] = {
    "s3": "https://s3.{region}.amazonaws.com",
    "gs": "https://storage.googleapis.com",
    "az": "https://{account}.blob.core.windows.net",
}
"""By scheme, the address of the cloud itself."""
_PART_OF_HOST = re.compile(r"[A-Za-z0-9-]+")
_LIMITS = {"timeout": timedelta(minutes=5), "connect_timeout": timedelta(seconds=5)}
_RETRIES = {"max_retries": 5, "retry_timeout": timedelta(seconds=60)}


def open_source(
    address: str, options: Mapping[str, Any], secrets: Mapping[str, str]
) -> BucketSource:
    """The objects below ``address``, ``s3://bucket/prefix``.

    Without a key, that of the server's own environment is used where whoever runs it added the
    source, and none otherwise.

    Raises:
        SourceError: no such address, or options that it does not take.
    """
    scheme = address.partition("://")[0]
    if scheme not in _NAMES:
        raise SourceError(f"{address} is no bucket: give s3://, gs:// or az:// and its name")
    given = {**options, **secrets}
    config = {name: given[own] for own, name in _NAMES[scheme].items() if given.get(own)}
    if options.get("allow_hosts") is not None:
        config.setdefault(_NAMES[scheme]["endpoint"], _own_address(scheme, given))
        config.setdefault("skip_signature", not given.get("key"))
    endpoint = config.get(_NAMES[scheme]["endpoint"], "")
    limits = {**_LIMITS, "allow_http": str(endpoint).startswith("http://")}
    allowed = options.get("allow_hosts")
    proxy = None if allowed is None else GuardedProxy(allowed)
    if proxy:  # one connection a request: it would be looked at once
        limits |= {"proxy_url": proxy.url, "pool_max_idle_per_host": "0"}
    opened: Any = from_url  # each cloud has types of its own
    try:
        store = opened(address, config=config, client_options=limits, retry_config=_RETRIES)
    except (BaseError, ValueError) as error:
        if proxy:
            proxy.close()
        raise SourceError(f"{address} cannot be opened: {error}") from None
    return BucketSource(store, address, proxy)


def _own_address(scheme: str, given: Mapping[str, Any]) -> str:
    """The address of the cloud, not the one that the environment or a key names."""
    parts = {"region": given.get("region") or "us-east-1", "account": given.get("account") or ""}
    for name, part in parts.items():
        if f"{{{name}}}" in _OWN[scheme] and not _PART_OF_HOST.fullmatch(str(part)):
            raise SourceError(f"{part!r} is no {name} of {scheme}://")
    return _OWN[scheme].format(**parts)


class BucketSource:
    """The objects of a bucket; keys are their names below the prefix."""

    def __init__(self, store: Any, address: str, proxy: GuardedProxy | None = None) -> None:
        self._store = store
        self._address = address
        self._proxy = proxy

    def entries(self) -> Iterator[Entry]:
        """The objects, of which a listing tells all that is compared."""
        try:
            for some in obstore.list(self._store):
                for each in some:
                    if entry := self._entry(each):
                        yield entry
        except BaseError as error:
            raise SourceError(self._told(error)) from None

    def _entry(self, told: Mapping[str, Any]) -> Entry | None:
        key = str(told["path"])
        if key.endswith("/") or key.rpartition("/")[2].startswith("."):
            return None
        etag = str(told.get("e_tag") or "")
        return Entry(key, size=told["size"], modified=told["last_modified"], etag=etag)

    def read(self, entry: Entry) -> bytes:
        """The bytes of an object."""
        try:
            return bytes(obstore.get(self._store, entry.key).bytes())
        except (FileNotFoundError, NotFoundError):
            raise EntryGone("it went while it was read") from None
        except BaseError as error:
            raise SourceError(self._told(error)) from None

    def is_there(self, key: str) -> bool:
        """False where the bucket, which is there, has no such object."""
        try:
            obstore.head(self._store, key)
        except (FileNotFoundError, NotFoundError):
            try:  # a bucket that is gone has no object either
                next(iter(obstore.list(self._store, chunk_size=1)), None)
            except (FileNotFoundError, BaseError) as error:
                raise SourceError(self._told(error)) from None
            return False
        except BaseError as error:
            raise SourceError(self._told(error)) from None
        return True

    def _told(self, error: Exception) -> str:
        """The failure in plain words; obstore's text is the server's answer, key id and all."""
        if self._proxy and self._proxy.refused:
            return f"{self._address} is not read: {self._proxy.refused}"
        missing = isinstance(error, (FileNotFoundError, NotFoundError))
        if missing or "status code: 404" in str(error):
            return f"there is no bucket {self._address}"
        refused = isinstance(error, (PermissionDeniedError, UnauthenticatedError))
        if refused or any(f"status code: {code}" in str(error) for code in (401, 403)):
            return f"{self._address} refuses: check the key and what it may do"
        return f"{self._address} does not answer: check its endpoint, its region and the network"

    def close(self) -> None:
        """Close the way there."""
        if self._proxy:
            self._proxy.close()
