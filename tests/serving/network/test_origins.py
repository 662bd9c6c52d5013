"""Foreign pages and foreign host names are refused; one's own page, tools and probes are not."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from helix.errors import SettingsError
from helix.serving.network.origins import HEADERS, KnownHosts
from helix.serving.network.sockets import check_address
from helix.settings import Settings, load_settings
from tests.support.live_server import live

APP = "https://app.example"


@pytest.fixture(scope="module")
def client(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url, cors_origins=(APP,), hosts=("docs.example",)) as client:
        yield client


def _headers(site: str | None, origin: str | None) -> dict[str, str]:
    given = {"Sec-Fetch-Site": site, "Origin": origin}
    return {name: value for name, value in given.items() if value}


@pytest.mark.parametrize(
    ("site", "origin"),
    [
        ("cross-site", "https://evil.example"),
        ("same-site", "http://127.0.0.1:3000"),  # another port of this machine
        ("cross-site", None),
        (None, "https://evil.example"),  # over plain http a browser says no more
        (None, "null"),
    ],
)
def test_a_foreign_page_neither_writes_nor_asks(
    client: httpx.Client, site: str | None, origin: str | None
) -> None:
    headers = _headers(site, origin)
    refused = [
        client.post("/v1/query", json={"question": "How?"}, headers=headers),
        client.delete("/v1/documents/1", headers=headers),
        client.get("/ask", params={"q": "How?"}, headers=headers),
        client.get("/v1/documents", headers=headers),
    ]
    assert [answer.status_code for answer in refused] == [403] * 4
    assert "HELIX_CORS_ORIGINS" in refused[0].json()["error"]
    assert client.get("/", headers=headers).status_code == 200  # a link may lead to the page


@pytest.mark.parametrize(
    ("site", "origin"),
    [
        (None, None),  # no browser
        ("same-origin", "https://docs.example"),  # behind a proxy that speaks TLS
        ("none", None),
        ("cross-site", APP),
        (None, APP),
    ],
)
def test_others_may(client: httpx.Client, site: str | None, origin: str | None) -> None:
    headers = _headers(site, origin)
    query = client.post("/v1/query", json={"question": "How?"}, headers=headers)
    listed = client.get("/v1/documents", headers=headers)
    assert (query.status_code, listed.status_code) == (200, 200)


def test_the_own_origin_may_without_the_browsers_word(client: httpx.Client) -> None:
    origin = str(client.base_url).rstrip("/")
    answer = client.post("/v1/query", json={"question": "How?"}, headers={"Origin": origin.upper()})
    assert answer.status_code == 200


def test_a_preflight_of_a_foreign_page_is_refused(client: httpx.Client) -> None:
    for origin, status in ((APP, 200), ("https://evil.example", 403)):
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        assert client.options("/v1/query", headers=headers).status_code == status


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8080", "a.localhost", "127.0.0.1:80", "[::1]:8080", "192.168.1.7",
     "docs.example", "Docs.Example.:8080"],
)  # fmt: skip
def test_own_names(client: httpx.Client, host: str) -> None:
    assert client.get("/v1/documents", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["[::1].evil.example", "[::1]evil.example:80", "evil.example[::1]", "[::1]:80]",
     "evil.example", "localhost.evil.example", "xdocs.example", "127.0.0.1.evil.example", "",
     "docs.example@evil.example", "evil.example/localhost", "docs.example:port", "[::1"],
)  # fmt: skip
def test_foreign_names(client: httpx.Client, host: str) -> None:
    answer = client.get("/v1/documents", headers={"Host": host})
    assert answer.status_code == 421
    assert "HELIX_HOSTS" in answer.json()["error"]
    assert client.get("/", headers={"Host": host}).status_code == 421
    assert client.get("/healthz", headers={"Host": host}).status_code == 200
    assert client.get("/health", headers={"Host": host}).json() == {"status": "ok"}


def test_names_with_a_star_and_with_keys() -> None:
    async def app(*_: object) -> None: ...

    below = KnownHosts(app, ("*.example.com",))
    assert below.answers_to("a.example.com")
    assert not below.answers_to("example.com.evil")
    assert not below.answers_to("badexample.com")


@pytest.mark.parametrize(("hosts", "status"), [((), 401), (("docs.example",), 421)])
def test_with_keys_any_name_will_do_unless_some_are_set(
    module_database_url: str, hosts: tuple[str, ...], status: int
) -> None:
    with live(module_database_url, auth="keys", hosts=hosts) as client:
        answer = client.get("/v1/documents", headers={"Host": "any.example"})
    assert answer.status_code == status


def test_every_answer_has_the_headers(client: httpx.Client) -> None:
    for answer in (
        client.get("/healthz"),
        client.get("/v1/documents"),
        client.get("/v1/documents/1"),
        client.get("/nowhere"),
        client.get("/ask", params={"q": "How?"}),
        client.get("/v1/documents", headers={"Host": "evil.example"}),
        client.post("/v1/query", content=b"{"),
    ):
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def _settings(**values: object) -> Settings:
    return load_settings(database_url="embedded", llm="offline", embedder="offline", **values)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.com"])
def test_a_server_is_not_opened_to_a_network_by_one_word(host: str) -> None:
    with pytest.raises(SettingsError, match="HELIX_OPEN_NETWORK=1"):
        check_address(host, _settings())
    check_address(host, _settings(auth="keys"))
    check_address(host, _settings(open_network=True))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_needs_no_word(host: str) -> None:
    check_address(host, _settings())
