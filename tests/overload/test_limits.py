"""Limits for each key, tenant and address: where they are drawn, and what is told past them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
import psycopg
import pytest

from helix.library.keys import create_key
from helix.overload import limits
from helix.overload.limits import Asker, LimitReached, Limits, Rates, Who, subjects_of
from helix.overload.usage import Account, Subject, Usage
from helix.serving.request_state import drawn_limits
from helix.settings import LIMITS, Settings, load_settings
from tests.support.live_server import OFFLINE, live, new_content, upload
from tests.support.service_process import eventually

ACME = Subject("acme", "tenant")
WHOM: tuple[Who, ...] = ("key", "tenant", "address")


def test_a_rate_is_a_burst_and_then_a_steady_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("helix.overload.limits.time.monotonic", lambda: now)
    rates = Rates()
    assert [rates.count(ACME, 60) for _ in range(60)] == [0.0] * 60
    assert rates.count(ACME, 60) == pytest.approx(1)
    assert rates.count(Subject("other", "tenant"), 60) == 0
    now += 1.0
    assert rates.count(ACME, 60) == 0 and rates.count(ACME, 60) == pytest.approx(1)
    now += 3600
    assert [rates.count(ACME, 60) for _ in range(61)].count(0.0) == 60


def test_rates_hold_so_many_subjects_at_most() -> None:
    rates = Rates(most_subjects=10)
    for number in range(100):
        rates.count(Subject("-", f"address {number}"), 1)
    assert len(rates._due) == 10
    assert rates.count(Subject("-", "address 99"), 1) > 0


def test_a_host_is_its_network_in_ipv6() -> None:
    names = {
        subjects_of(address=address)["address"].name
        for address in ("2001:db8::1", "2001:db8::2:3", "2001:db8:0:1::1", "::1", "192.0.2.1")
    }
    assert names == {
        "address 2001:db8::", "address 2001:db8:0:1::", "address ::1", "address 192.0.2.1",
    }  # fmt: skip


def test_without_keys_there_is_no_limit_that_nobody_set() -> None:
    def settings(**values: object) -> Settings:
        return load_settings(database_url="embedded", **OFFLINE, **values)

    off, on, own = settings(), settings(auth="keys"), settings(key_requests=7)
    drawn = {
        f"{who}_{name}": [each.limit(who, name)[1] for each in (off, on)]
        for who in WHOM
        for name in ("requests", "answers", "tokens", "upload_mb")
    }
    drawn |= {
        f"tenant_{n}": [e.limit("tenant", n)[1] for e in (off, on)] for n in ("documents", "mb")
    }
    assert drawn == {name: [0, LIMITS.get(name, 0)] for name in drawn}
    assert set(LIMITS) <= set(drawn)
    assert own.limit("key", "requests") == ("HELIX_KEY_REQUESTS", 7)
    assert settings(auth="keys", key_requests=0).limit("key", "requests")[1] == 0


async def test_a_place_is_given_back_and_not_twice() -> None:
    settings = load_settings(database_url="embedded", tenant_answers=2, **OFFLINE)
    made = Limits(drawn_limits(settings), Usage(lambda: None), lambda _: 0)
    asker = Asker(made, {"tenant": ACME})
    for _ in range(3):
        await asker.take_place()
        await asker.take_place()
        with pytest.raises(LimitReached, match=r"answers at once .* 2 \(HELIX_TENANT_ANSWERS"):
            await asker.take_place()
        asker.give_place_back()
        asker.give_place_back()
    assert not asker.limits.under_way


async def test_bytes_that_are_being_stored_are_the_room_of_no_other() -> None:
    settings = load_settings(database_url="embedded", key_upload_mb=1, tenant_upload_mb=2,
                             **OFFLINE)  # fmt: skip
    made = Limits(drawn_limits(settings), Usage(lambda: None), lambda _: 0)
    one, other = (Asker(made, {"tenant": ACME, "key": Subject("acme", k)}) for k in "ab")
    begun = [asker.upload(size) for asker, size in ((one, 700_000), (one, 700_000))]
    begun += [other.upload(1_000_000) for _ in range(2)]
    outcomes = await asyncio.gather(*(each.__aenter__() for each in begun), return_exceptions=True)
    assert [type(each) for each in outcomes] == [type(None), LimitReached] * 2
    await begun[0].__aexit__(ValueError, ValueError(), None)  # not stored: no room of the day
    await begun[2].__aexit__(None, None, None)
    async with one.upload(1_000_000):
        pass
    with pytest.raises(LimitReached, match="HELIX_KEY_UPLOAD_MB"):
        await other.check_upload(100_000)
    assert not made.storing


async def test_a_total_counts_that_grew_old_while_another_was_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr("helix.overload.usage.time.monotonic", lambda: now)

    def stored(account: Account) -> int:
        nonlocal now
        now += 20.0  # a busy database
        return 0 if account.subject == ACME else 2 * limits.MEGABYTE

    settings = load_settings(database_url="embedded", key_upload_mb=2, tenant_upload_mb=2,
                             **OFFLINE)  # fmt: skip
    made = Limits(drawn_limits(settings), Usage(lambda: None), stored)
    with pytest.raises(LimitReached, match="HELIX_KEY_UPLOAD_MB"):
        await Asker(made, {"tenant": ACME, "key": Subject("acme", "a")}).check_upload(1)


@contextmanager
def _served(url: str, **settings: object) -> Iterator[tuple[httpx.Client, str]]:
    with psycopg.connect(url, autocommit=True) as connection:
        _, secret = create_key(connection, "acme")
    with live(url, auth="keys", **settings) as client:
        client.headers["Authorization"] = f"Bearer {secret}"
        yield client, secret


def _refused(response: httpx.Response, setting: str) -> None:
    assert response.status_code == 429, response.text
    assert f"({setting})" in response.json()["error"]
    assert int(response.headers["retry-after"]) >= 1


@pytest.mark.parametrize("who", ["key", "tenant", "address"])
def test_too_many_requests_a_minute(module_database_url: str, who: str) -> None:
    setting = f"HELIX_{who.upper()}_REQUESTS"
    with _served(module_database_url, **{f"{who}_requests": 5}) as (client, _):
        assert [client.get("/v1/about").status_code for _ in range(5)] == [200] * 5
        _refused(client.get("/v1/about"), setting)
        _refused(client.post("/v1/query", json={"question": "Why?"}), setting)
        stranger = client.get("/v1/about", headers={"Authorization": "Bearer hx_no"})
        assert stranger.status_code == (429 if who == "address" else 401)
        for probe in ("/healthz", "/health", "/readyz", "/"):
            assert client.get(probe).status_code == 200


def test_the_bytes_of_a_day_are_counted_over_restarts(module_database_url: str) -> None:
    data = b"x" * (700 * 1024)
    with _served(module_database_url, tenant_upload_mb=1) as (client, _):
        assert upload(client, data + new_content()).status_code == 202
    with _served(module_database_url, tenant_upload_mb=1) as (client, _):
        refused = upload(client, data + new_content())
        _refused(refused, "HELIX_TENANT_UPLOAD_MB")
        assert refused.json()["error"].startswith(
            "this tenant would go past its uploaded megabytes"
        )
        assert int(refused.headers["retry-after"]) <= 86_400
        assert upload(client, new_content()).status_code == 202


def test_the_tokens_of_a_day(database_url: str) -> None:
    with _served(database_url, key_tokens=5) as (client, _):
        body = {"question": "What documents do you have?"}
        first = client.post("/v1/query", json=body)
        assert first.status_code == 200
        _refused(client.post("/v1/query", json=body), "HELIX_KEY_TOKENS")
        _refused(client.post("/v1/query", json=body | {"stream": True}), "HELIX_KEY_TOKENS")
        _refused(client.get("/ask", params={"q": body["question"]}), "HELIX_KEY_TOKENS")
        assert client.get("/v1/documents").status_code == 200


def test_embedded_texts_are_counted_too(database_url: str) -> None:
    with _served(database_url, key_tokens=5) as (client, _):
        body = {"model": "helix-embed", "input": ["Six words and a full stop."]}
        assert client.post("/v1/embeddings", json=body).status_code == 200
        told = client.post("/v1/embeddings", json=body)
        assert told.status_code == 429 and "HELIX_KEY_TOKENS" in told.json()["error"]["message"]
        _refused(client.get("/ask", params={"q": "Anything?"}), "HELIX_KEY_TOKENS")


def test_streams_are_counted_too(database_url: str) -> None:
    with _served(database_url, tenant_tokens=5) as (client, _):
        question = {"q": "What documents do you have?"}
        assert "citations" in client.get("/ask", params=question).text
        _refused(client.get("/ask", params=question), "HELIX_TENANT_TOKENS")


def test_streams_that_are_followed_at_once(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_FOLLOWED", 2)
    path, once = "/v1/library/events", {"most": 1}
    with _served(database_url) as (client, _), ExitStack() as followed:
        for _ in range(2):
            response = followed.enter_context(client.stream("GET", path))
            assert response.status_code == 200
        refused = client.get(path)
        assert refused.status_code == 429 and "2 streams" in refused.json()["error"]
        with psycopg.connect(database_url, autocommit=True) as connection:
            other = {"Authorization": f"Bearer {create_key(connection, 'acme')[1]}"}
        assert client.get(path, params=once, headers=other).status_code == 200
        response.close()
        for _ in range(3):
            assert eventually(lambda: client.get(path, params=once).status_code == 200)


def test_the_documents_and_bytes_of_a_tenant(database_url: str) -> None:
    with _served(database_url, tenant_documents=2) as (client, _):
        for _ in range(2):
            kept = new_content()
            assert upload(client, kept).status_code == 202
        _refused(upload(client, new_content()), "HELIX_TENANT_DOCUMENTS")
        assert upload(client, kept).json()["documents"][0]["duplicate"]  # it brings nothing
        page = {"url": "https://example.com/guide"}
        _refused(client.post("/v1/documents/url", json=page), "HELIX_TENANT_DOCUMENTS")
        assert client.get("/v1/documents").json()["total"] == 2
        number = client.get("/v1/documents").json()["documents"][0]["id"]
        made = client.post("/v1/conversations", json={}).json()["id"]
        place = f"/v1/conversations/{made}/attachments"
        file = {"file": ("n.txt", new_content())}
        attached = client.post(place, files=file).json()["documents"][0]["id"]
        _refused(client.post(f"{place}/{attached}/library"), "HELIX_TENANT_DOCUMENTS")
        assert len(client.get(place).json()["documents"]) == 1, "it stays where it was"
        assert client.delete(f"/v1/documents/{number}").status_code in (204, 409)


def test_uploads_at_once_do_not_pass_the_limit_together(database_url: str) -> None:
    async def send_all(client: httpx.Client) -> list[int]:
        async with httpx.AsyncClient(
            base_url=client.base_url, headers=client.headers, timeout=60
        ) as sender:
            files = [{"file": ("n.txt", new_content())} for _ in range(8)]
            answers = await asyncio.gather(
                *(sender.post("/v1/documents", files=each) for each in files)
            )
        return sorted(answer.status_code for answer in answers)

    with _served(database_url, tenant_documents=3) as (client, _):
        assert asyncio.run(send_all(client)) == [202] * 3 + [429] * 5
