"""Servers and one Chromium for the session: real documents, and a model that may misbehave."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from psycopg import sql
from starlette.types import ASGIApp, Receive, Scope, Send

from db.embedded_postgres import DATABASE, EmbeddedPostgres
from evals.browser.visit import chromium_path
from helix.app import create_app
from helix.library.keys import create_key
from helix.providers.base import LanguageModel
from helix.settings import load_settings
from tests.browser.adversary import adversary
from tests.support.live_server import make_ready
from tests.support.repository import ROOT
from tests.support.server_processes import website
from tests.support.service_process import run
from tests.support.web_site import Website

INSTALL = "no Chromium: install it (Debian: apt install chromium-headless-shell)"
_DOCUMENTS = {
    "hostile.md": (
        "# Hostile 🚀 notes\n\n<script>window.ran = 'document'</script>"
        "<img src='http://far.example/x.png' onerror=\"window.ran='image'\">\n\n"
        "The zebra 🦓 quarantine takes 77 days in the harbour of Ostend.\n"
    ),
    "hostile.html": (
        "<title>&lt;img src=x onerror=window.ran='title'&gt; &amp;c.</title>"
        "<h1>&lt;script&gt;window.ran='heading'&lt;/script&gt;</h1><p>The kiosk in Namur sells 19"
        " kinds of waffle. Each kind of waffle has its day at the kiosk in Namur.</p>"
        "<p>[press](javascript:window.ran='link')"
        " &lt;svg onload=window.ran='svg'&gt;"
        "<h2>![far](http://far.example/x.png)</h2><p>Nothing is fetched from there."
    ),
    "line.txt": "The tram depot in Ghent keeps 41 trams. " + "wordswordswords " * 62_500,
}

_TEXTS = {
    "acme": ("Acme Rules", "The anvil is dropped on Tuesdays only."),
    "umbra": ("Umbra Rules", "The parasol is opened at noon."),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder are marked ``browser``."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def library_url(
    postgres: EmbeddedPostgres,
    _admin: psycopg.Connection,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """A database with the samples, a hostile document and one of 1 MB on one line."""
    name = "browser"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY WAL_LOG")
    _admin.execute(create.format(sql.Identifier(name), sql.Identifier(DATABASE)))
    url = postgres.url.replace(f"/{DATABASE}?", f"/{name}?")
    folder = tmp_path_factory.mktemp("documents")
    for file, text in _DOCUMENTS.items():
        (folder / file).write_text(text)
    told = run(
        "-m", "pipelines.ingest", str(ROOT / "samples"), str(folder),
        DATABASE_URL=url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    yield url
    _admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _with_delay(app: ASGIApp) -> ASGIApp:
    """``app`` whose requests wait for up to ``DELAY`` seconds, most of them for far less.

    What a page does while it waits for an answer is seen on a slow server alone.
    """
    longest = float(os.environ.get("DELAY") or 0)

    async def delayed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await asyncio.sleep(longest * random.random() ** 3)
        await app(scope, receive, send)

    return delayed if longest else app


@contextmanager
def serving(
    database_url: str, llm: LanguageModel | None = None, *, port: int = 0, **values: object
) -> Iterator[str]:
    """Address of a server with ``values`` for settings, in a thread of this process."""
    offline: dict[str, object] = {"llm": "offline", "embedder": "offline", "workers": 0}
    settings = load_settings(database_url=database_url, **{**offline, **values})
    config = uvicorn.Config(
        _with_delay(create_app(settings, llm=llm)),
        port=port, log_level="warning", access_log=False,
        timeout_graceful_shutdown=1,  # a page that is left open has its stream of the library
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)


@pytest.fixture(scope="session")
def site(library_url: str) -> Iterator[str]:
    """Address of the server. Guards are off: what hostile text meets is the page alone."""
    with serving(library_url, adversary(), guards=(), judge="offline") as url:
        yield url


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The system's Chromium; a failure says how to get it."""
    path = chromium_path()
    assert path is not None, INSTALL
    expect.set_options(timeout=20_000)  # as the actions have it: a busy machine is no fault
    with sync_playwright() as playwright:
        # in a container the tests are root, and Chromium will not sandbox for root
        chromium = playwright.chromium.launch(
            executable_path=path,
            args=[
                "--no-sandbox", "--disable-dev-shm-usage",
                "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
            ],
            # it writes there, and for the tests that is a folder of the repository
            env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("chromium"))},
        )  # fmt: skip
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def keys(module_database_url: str) -> dict[str, str]:
    """A key of each tenant, and a document with one passage."""
    made = {}
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        for tenant, (title, text) in _TEXTS.items():
            row = connection.execute(
                "INSERT INTO documents (tenant_id, title, source_uri, content_hash, size)"
                " VALUES (%s, %s, %s, '', 40) RETURNING id",
                (tenant, title, f"{tenant}.md"),
            ).fetchone()
            assert row is not None
            connection.execute("SELECT set_config('helix.tenant', %s, false)", (tenant,))
            make_ready(connection, row[0], text, [(0, len(text))])
            made[tenant] = create_key(connection, tenant)[1]
    return made


@pytest.fixture(scope="module")
def guarded(module_database_url: str, keys: dict[str, str]) -> Iterator[str]:
    with serving(module_database_url, auth="keys") as url:
        yield url


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 860})
    opened.set_default_timeout(20_000)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, site: str) -> Iterator[Page]:
    """The Ask view."""
    with watched(context, site) as opened:
        opened.wait_for_selector(".welcome h1")
        yield opened


@contextmanager
def watched(context: BrowserContext, site: str, place: str = "") -> Iterator[Page]:
    """A page at ``place``. At its end no request went elsewhere, and nothing broke or ran."""
    opened = context.new_page()
    asked: list[str] = []
    broken: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: broken.append(str(error)))
    opened.add_init_script(
        "addEventListener('securitypolicyviolation', (e) =>"
        " (window.violations ??= []).push(`${e.effectiveDirective} ${e.blockedURI}`))"
    )
    opened.goto(f"{site}/{place}")
    yield opened
    assert not broken
    assert opened.evaluate("window.violations ?? []") == []
    assert opened.evaluate("window.ran") is None
    assert [url for url in asked if not url.startswith((site, "blob:"))] == []


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def sign_in(page: Page, name: str, password: str = "correct horse") -> None:
    """Sign in as ``name`` at example.com."""
    page.get_by_label("E-mail address").fill(f"{name}@example.com")
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")


def choose(page: Page, name: str) -> None:
    """Choose ``name`` in the menu of the header."""
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name=name).click()


AXE = Path(__file__).with_name("vendor") / "axe.min.js"


def serious(page: Page) -> list[str]:
    """Serious or critical findings of axe on the page, once its colours have stopped changing."""
    # past the page's own policy, as a tool of the tests; the page itself is what is looked at
    page.evaluate(AXE.read_text())
    return list(
        page.evaluate(
            "async () => {"
            " const ends = (a) => a.playState === 'running'"
            " && a.effect.getTiming().iterations !== Infinity;"
            " const moving = document.getAnimations().filter(ends);"
            " await Promise.all(moving.map((a) => a.finished.catch(() => {})));"
            " return (await axe.run({ resultTypes: ['violations'] })).violations"
            ".filter((v) => ['serious', 'critical'].includes(v.impact))"
            ".map((v) => `${v.id}: ${v.nodes.map((n) => n.target + ' ' + n.failureSummary)}`);"
            "}"
        )
    )


def until(page: Page, expression: str) -> None:
    """Wait until an expression of the page is true; fail after 20 seconds.

    Playwright's `wait_for_function` evaluates a string from the page's second frame on,
    which the page's content security policy forbids.
    """
    deadline = time.monotonic() + 20
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(50)


def fits(page: Page, width: int = 360) -> bool:
    """True where the page at this width needs no horizontal scrolling; else fail."""
    page.set_viewport_size({"width": width, "height": 740})
    until(page, f"document.documentElement.scrollWidth <= {width}")
    return True


def screenshots() -> Path:
    folder = ROOT / "docs" / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def web() -> Iterator[Website]:
    with website({}) as pages:
        yield pages


@pytest.fixture(scope="module")
def desk(module_database_url: str, web: Website) -> Iterator[str]:
    """A server with a worker over an empty database."""
    with serving(module_database_url, workers=1, allow_hosts=(web.host,)) as url:
        yield url


def wait_for_runs(url: str) -> None:
    """Wait until no run goes on in the database ``url``: a page shows the runs of other tests."""
    deadline = time.monotonic() + 60
    active = "SELECT count(*) FROM runs WHERE status IN ('queued', 'running', 'cancelling')"
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(active).fetchone() != (0,):
            assert time.monotonic() < deadline, "a run of an earlier test does not end"
            time.sleep(0.05)


@pytest.fixture
def shelf(context: BrowserContext, desk: str, module_database_url: str) -> Iterator[Page]:
    """The Library view of it."""
    wait_for_runs(module_database_url)
    with watched(context, desk, "#/library") as opened:
        opened.wait_for_selector(".library h1")
        yield opened
