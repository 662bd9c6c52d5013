"""`helix crawl` on a docs site: once, again, after a change, and what is cited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.fake_embedder import documents, rows
from tests.support.server_processes import website
from tests.support.service_process import run
from tests.support.web_site import Answer, Route, Website, links, text

pytestmark = pytest.mark.processes

OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
MENU = f"<nav>{links('/docs/', '/docs/install?from=menu', '/docs/backup', '/blog/')}</nav>"
UNCHANGED = "3 files: 0 added, 0 replaced, 3 unchanged, 0 failed; 0 chunks written"


def page(title: str, canonical: str, *sections: tuple[str, str], etag: str = "") -> Answer:
    """A page of the site, with its menu, a footer, and a heading for each section."""
    main = "".join(f"<h2>{heading}</h2><p>{said}</p>" for heading, said in sections)
    head = f'<title>{title}</title><link rel="canonical" href="{canonical}">'
    html = f"<!doctype html><html><head>{head}</head><body>{MENU}<main><h1>{title}</h1>{main}"
    return Answer(f"{html}</main><footer>Imprint</footer></body></html>".encode(), etag=etag)


def backup(hour: str, etag: str) -> Answer:
    return page(
        "Backup", "/docs/backup",
        ("Schedule", f"The nightly backup of the observatory runs at {hour} in the morning."),
        ("Restore", "To restore a backup, stop the dome and unpack the archive of that night."),
        etag=etag,
    )  # fmt: skip


@pytest.fixture
def site() -> Iterator[Website]:
    install = page(
        "Installation", "/docs/install",
        ("Requirements", "The telescope software needs a computer with two network cards."),
        ("Licence key", "The licence key is printed on the inside of the mirror box."),
    )  # fmt: skip
    routes: dict[str, Route] = {
        "/robots.txt": text("User-agent: *\nDisallow: /docs/internal\n"),
        "/docs/": page(
            "Observatory manual", "/docs/",
            ("About", f"How the dome is run. {links('/docs/internal/keys', '/docs/install')}"),
            etag='"1"',
        ),
        "/docs/install": install,
        "/docs/install?from=menu": install,
        "/docs/backup": backup("three", '"1"'),
        "/docs/internal/keys": page("Keys", "/docs/internal/keys", ("Door", "The code is 1234.")),
        "/blog/": page("Blog", "/blog/", ("News", "The dome was painted.")),
    }  # fmt: skip
    with website(routes) as site:
        yield site


def crawl(site: Website, url: str) -> CompletedProcess[str]:
    site.seen.clear()
    done = run(
        "-m", "helix.cli", "crawl", site.url("/docs/"), "--allow-host", site.host, "--delay", "0",
        DATABASE_URL=url, **OFFLINE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def test_a_site_is_crawled_again_and_cited(database_url: str, site: Website) -> None:
    first = crawl(site, database_url)
    assert "3 files: 3 added, 0 replaced, 0 unchanged, 0 failed; " in first.stdout
    before = documents(database_url)
    assert {uri: title for uri, (_, title) in before.items()} == {
        site.url("/docs/"): "Observatory manual",
        site.url("/docs/install"): "Installation",
        site.url("/docs/backup"): "Backup",
    }
    assert not {"/blog/", "/docs/internal/keys"} & set(site.paths)
    [(texts,)] = rows(database_url, "SELECT string_agg(text, ' ') FROM documents")
    assert "Imprint" not in texts and "/blog/" not in texts

    again = crawl(site, database_url)
    assert UNCHANGED in again.stdout
    asked = {seen.path: seen.headers.get("if-none-match") for seen in site.seen}
    assert (asked["/docs/"], asked["/docs/backup"]) == ('"1"', '"1"')

    chunks = "SELECT id FROM chunks WHERE document_id = %s ORDER BY ordinal"
    ids = {uri: rows(database_url, chunks, before[uri][0]) for uri in before}
    site.routes["/docs/backup"] = backup("five", '"2"')
    changed = crawl(site, database_url)
    assert "3 files: 0 added, 1 replaced, 2 unchanged, 0 failed; " in changed.stdout
    assert f"replaced  {site.url('/docs/backup')} (" in changed.stderr
    assert documents(database_url) == before
    after = {uri: rows(database_url, chunks, before[uri][0]) for uri in before}
    uri = site.url("/docs/backup")
    assert len(set(after[uri]) - set(ids[uri])) == 1, "only the section that changed is new"
    del ids[uri], after[uri]
    assert after == ids

    question = "When does the nightly backup of the observatory run?"
    told = run("-m", "helix.cli", "ask", question, DATABASE_URL=database_url, **OFFLINE)
    assert told.returncode == 0, told.stderr
    assert "runs at five in the morning" in told.stdout
    assert "\n[1] Backup › Schedule\n" in told.stdout


def test_without_the_flag_a_private_site_is_refused(
    database_url: str, site: Website, tmp_path: Path
) -> None:
    done = run(
        "-m", "pipelines.crawl", site.url("/docs/"), DATABASE_URL=database_url, **OFFLINE
    )  # fmt: skip
    assert done.returncode == 1
    assert "refused: 127.0.0.1 is " in done.stderr and "--allow-host 127.0.0.1" in done.stderr
    assert (site.seen, documents(database_url)) == ([], {})


def test_a_crawl_is_held_to_the_quota_of_documents(database_url: str, site: Website) -> None:
    held = run(
        "-m", "helix.cli", "crawl", site.url("/docs/"), "--allow-host", site.host, "--delay", "0",
        DATABASE_URL=database_url, HELIX_TENANT_DOCUMENTS="2", **OFFLINE,
    )  # fmt: skip
    assert held.returncode == 1
    assert "too many documents of this tenant: the limit is 2 (HELIX_TENANT_DOC" in held.stderr
    assert len(documents(database_url)) == 2
    crawl(site, database_url)
    assert len(documents(database_url)) == 3
