"""The checks of what a source is made of, before it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from helix.domain.metadata import checked_key, checked_metadata
from helix.domain.scope import checked_tags
from helix.domain.source_kinds import COMMON_OPTIONS, KINDS, Kind
from helix.errors import BadRequest
from helix.library.pagination import check_name, check_text

_LONGEST_NAME = 100
_MOST_GLOBS = 100
_MOST_DAYS = 36_500
LEAST_SECONDS, MOST_SECONDS = 60, 366 * 86400


def checked_source(given: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a source as they are stored, those given alone; None is not given.

    Raises:
        BadRequest: one line that names the column and what it takes.
    """
    values = {name: value for name, value in given.items() if value is not None}
    kind = _kind(values.get("kind"))
    for name, check in _CHECKS.items():
        if name in values:
            values[name] = check(name, values[name])
    if kind is not None:
        values["kind"] = str(values["kind"])
        if "options" in values:
            values["options"] = _options(kind, values["options"])
        if values.get("address") == "":
            raise BadRequest(f"address is missing: {kind.address}, such as {kind.example}")
    return values


def checked_secrets(kind: str, secrets: Mapping[str, str]) -> dict[str, str]:
    """``secrets`` of a source of this kind, to be sealed.

    Raises:
        BadRequest: it has no such kind, or none of one's name.
    """
    found = _kind(kind)
    known = found.secrets if found else frozenset[str]()
    for name, value in secrets.items():
        if name not in known:
            told = ", ".join(sorted(known)) or "none"
            raise BadRequest(f"a source of this kind has no secret {name[:40]!r}: {told}")
        if not value:
            raise BadRequest(f"the secret {name} is empty")
    return dict(secrets)


def _kind(name: object) -> Kind | None:
    if name is None:
        return None
    if not isinstance(name, str) or name not in KINDS:
        raise BadRequest(f"there is no kind of source {str(name)[:40]!r}: {', '.join(KINDS)}")
    return KINDS[name]


def _name(_: str, value: Any) -> str:
    name = check_name("name", str(value), _LONGEST_NAME)
    if not name or name.isdecimal():
        raise BadRequest("a source is named by 1 to 100 characters that are no number alone")
    return name


def _address(name: str, value: Any) -> str:
    address = check_text(name, str(value))
    try:
        password = urlsplit(address).password
    except ValueError:
        password = None
    if password:
        raise BadRequest("address carries a password: give it as a secret of the source instead")
    return address


def _options(kind: Kind, value: Any) -> dict[str, Any]:
    options_of_all = (*kind.options, *COMMON_OPTIONS)
    known = {option.name: option for option in options_of_all if not option.secret}
    options: dict[str, Any] = {}
    for name, given in dict(value).items():
        if name not in known:
            told = ", ".join(known) or "none"
            raise BadRequest(f"{kind.title} has no option {str(name)[:40]!r}: {told}")
        options[name] = _typed(f"options.{name}", known[name].kind, given)
    return options


def _typed(name: str, kind: str, value: Any) -> Any:
    if kind == "switch":
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            return str(value).lower() in ("1", "true", "yes", "on")
        raise BadRequest(f"{name} is true or false")
    if kind == "number":
        try:
            return int(value)
        except (TypeError, ValueError):
            raise BadRequest(f"{name} is a whole number") from None
    return check_text(name, str(value))


def _globs(name: str, value: Any) -> list[str]:
    globs = [check_text(name, str(glob), 500) for glob in value]
    if len(globs) > _MOST_GLOBS or not all(globs):
        raise BadRequest(f"{name} has up to {_MOST_GLOBS} patterns such as *.pdf or drafts/**")
    return globs


def _seconds(name: str, value: Any) -> int:
    seconds = _number(name, value)
    if seconds and not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise BadRequest(f"{name} is 0, or {LEAST_SECONDS} seconds to a year")
    return seconds


def _number(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise BadRequest(f"{name} is a whole number")
    return value


def _days(name: str, value: Any) -> int:
    if (days := _number(name, value)) > _MOST_DAYS:
        raise BadRequest(f"{name} is up to {_MOST_DAYS}")
    return days


def _group_map(name: str, value: Any) -> dict[str, list[int]]:
    mapped = {
        check_text(name, str(reader), 300): sorted({_number(name, space) for space in spaces})
        for reader, spaces in dict(value).items()
    }
    if not all(mapped.values()):
        raise BadRequest(f"{name} names the ids of one space or more for each group or person")
    return mapped


_CHECKS = {
    "name": _name,
    "address": _address,
    "include": _globs,
    "exclude": _globs,
    "max_bytes": _number,
    "max_age_days": _days,
    "every_seconds": _seconds,
    "tags": lambda _, value: list(checked_tags(value)),
    "metadata": lambda _, value: checked_metadata(value),
    "folder_keys": lambda _, value: [checked_key(key) for key in value],
    "group_map": _group_map,
}
