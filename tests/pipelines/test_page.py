"""One page of the web for a tool: what is had, and what guard, limits and readers refuse."""

from __future__ import annotations

from dataclasses import replace

from pipelines.page import NOT_HAD, NOT_READ, read_page
from tests.support.web_site import LIMITS, Answer, page, redirect, serving, text

_SMALL = replace(LIMITS, largest=20_000, read=0.3, total=0.6, tries=1)


async def test_a_page_is_had_only_within_the_guard_and_the_limits() -> None:
    async with serving() as inner, serving() as site:
        inner.routes["/secret"] = page("Secret", "The key is brass.")
        site.routes |= {
            "/lamps": page("Lamps", "Lamp 7 is brass."),
            "/away": redirect(inner.url("/secret")),
            "/moved": redirect("/lamps"),
            "/large": text("brass " * 20_000),
            "/slow": page("Slow", hang=30),
            "/broken": Answer(b"%PDF-1.4 nothing", content_type="application/pdf"),
        }

        async def told(path: str, *hosts: str) -> dict[str, str]:
            return await read_page(site.url(path), hosts or [site.host], limits=_SMALL)

        for path in ("/lamps", "/moved"):
            found = await told(path)
            assert found["title"] == "Lamps" and "Lamp 7 is brass." in found["text"]
        for path, reason in {
            "/away": "refused: ", "/large": "larger than", "/slow": "", "/none": "answered 404",
        }.items():  # fmt: skip
            refused = await told(path)
            assert refused["failure"] == NOT_HAD and reason in refused["reason"], path
        assert (await told("/broken"))["failure"] == NOT_READ
        assert inner.connections == 0

        connections = site.connections
        assert "refused: " in (await told("/lamps", "example.org"))["reason"]
        assert site.connections == connections


async def test_what_is_no_web_address_is_not_had() -> None:
    for url in ("file:///etc/passwd", "http://user@localhost/", "http://[::1", "gopher://a.org"):
        assert (await read_page(url, []))["failure"] == NOT_HAD
