"""The crawler's parts: one spelling for URLs, robots.txt, sitemaps, links, options."""

from __future__ import annotations

import gzip
import time

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from helix.errors import BadRequest
from pipelines.crawl import crawl
from pipelines.crawler import robots, sitemap
from pipelines.crawler.content import find_links, robots_directives
from pipelines.crawler.fetch import Pace
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.urls import BadUrl, Site, identity, normalise
from pipelines.runs import foreground


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTP://Example.COM:80/a/../b/./c%7e#x", "http://example.com/b/c~"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com:8443/?", "https://example.com:8443/"),
        ("http://x.test/a b?q=ü&utm_source=1&fbclid=2&z", "http://x.test/a%20b?q=%C3%BC&z"),
        ("http://x.test/%c3%bc%2F%zz", "http://x.test/%C3%BC%2F%25zz"),
        ("http://x.test/%2e%2e/../a/..", "http://x.test/"),
        ("http://bücher.test/", "http://xn--bcher-kva.test/"),
        ("http://[2606:4700:0::1]/", "http://[2606:4700::1]/"),
        (" http://x.test/a\n/b ", "http://x.test/a/b"),
    ],
)
def test_urls_have_one_spelling(url: str, normal: str) -> None:
    assert normalise(url) == normal
    assert normalise(normal) == normal


@given(st.text(max_size=60), st.sampled_from(["", "http://x.test/", "https://[", "//", "?"]))
def test_a_url_is_normal_or_refused(text: str, before: str) -> None:
    try:
        normal = normalise(before + text, "http://base.test/a/b")
    except BadUrl as error:
        assert "\n" not in str(error)
        return
    assert normal.isascii()
    assert normalise(normal) == normal
    assert identity(identity(normal)) == identity(normal)


def test_the_prefix_of_a_start() -> None:
    def prefix(path: str) -> str:
        return Site.around(f"http://x.test{path}").prefix

    paths = ["/", "/docs", "/docs/", "/docs/a.html", "/docs/index.html", "/v1.2/"]
    assert [prefix(path) for path in paths] == [
        "/",
        "/docs",
        "/docs/",
        "/docs/",
        "/docs/",
        "/v1.2/",
    ]
    docs = Site.around("http://x.test/docs")
    assert docs.covers("http://x.test/docs") and docs.covers("http://x.test/docs/a")
    assert not docs.covers("http://x.test/docs-old")
    assert not docs.covers("https://x.test/docs/a")
    assert docs.adopt("https://x.test/docs/a") == "http://x.test/docs/a"


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("User-agent: *\nDisallow: /\nUser-agent: helixbot/2.0\nDisallow: /b", "/a", True),
        ("User-agent: *\nAllow: /\nUser-agent: HELIXBOT\nUser-agent: x\nDisallow: /a", "/a", False),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nAllow: /a/b\nDisallow: /a/b", "/a/b", True),
        ("user-agent : *\ndisallow : /*.pdf$ # files", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?z", True),
        ("User-agent: *\nDisallow: /*?", "/x?y", False),
        ("User-agent: *\nDisallow: /%7ejoe/", "/~joe/x", False),
        ("User-agent: *\nDisallow: /ü", "/%C3%BC", False),
        ("Disallow: /\nnonsense\n\x00", "/a", True),
        ("User-agent: *\n\n\nDisallow: /a", "/a", False),
    ],
)
def test_robots_rules(rules: str, path: str, allowed: bool) -> None:
    assert robots.parse(rules, "HelixBot").allows(f"http://x.test{path}") is allowed


def test_robots_patterns_take_linear_time() -> None:
    rules = robots.parse("User-agent: *\nDisallow: /" + "*a" * 5_000 + "b$", "HelixBot")
    assert rules.allows("http://x.test/" + "a" * 20_000)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<urlset><url><loc>x",
        b'<!DOCTYPE a [<!ENTITY b "c">]><urlset><url><loc>&b;</loc></url></urlset>',
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><urlset/>',
        b"<a>" * 100,
        b"\x1f\x8bno gzip",
        gzip.compress(b" " * (sitemap.LARGEST + 1)),
        b"<?xml version='1.0' encoding='made-up'?><urlset/>",
    ],
)
def test_a_bad_sitemap_is_refused(data: bytes) -> None:
    with pytest.raises(sitemap.BadSitemap):
        sitemap.parse(data)


@pytest.mark.parametrize("more", [0, 1])
def test_a_sitemap_that_is_cut_says_so(more: int) -> None:
    place = "<url><loc>http://x.test/</loc></url>"
    found = sitemap.parse(f"<urlset>{place * (sitemap.MOST_URLS + more)}</urlset>".encode())
    assert (len(found.pages), found.is_truncated) == (sitemap.MOST_URLS, more > 0)


def test_links_are_found_where_they_are() -> None:
    html = b"""<base href=/b/><!-- <a href=comment> --><!--><a href="a&amp;b">x</a>
    <script>"<a href=script>"</script><style><a href=style></style><A class=x HREF = 'C' href=D>
    <a
    href=e><area href="f"><a name=g><abbr href=h><link rel="alternate canonical" href="/can">
    <meta name="HelixBot" content="noindex, nofollow"><textarea><a href=area></textarea><a href=z"""
    found = find_links(html)
    assert found.links == ["a&b", "C", "e", "f", "z"]
    assert (found.base, found.canonical, found.noindex, found.nofollow) == (
        "/b/",
        "/can",
        True,
        True,
    )


@given(
    st.binary(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                b"<a",
                b" href",
                b"=",
                b'"',
                b"'",
                b">",
                b"<!--",
                b"-->",
                b"<script",
                b"</script",
                b"/",
                b" ",
            ]
        )
    ).map(b"".join)
)
def test_any_bytes_have_links_or_none(data: bytes) -> None:
    assert len(find_links(data).links) <= len(data)


@pytest.mark.parametrize(
    "part",
    ["<a ", "<a href='", '<a href="', "<!--", "<script>", "<a" + " x" * 99, "<a\n\n\n", "=<a"],
)
def test_hostile_pages_are_scanned_to_an_end(part: str) -> None:
    found = find_links((part * (2**20 // len(part))).encode())
    assert len(found.links) <= 1, "what never closes is one link at most"
    assert (found.base, found.canonical, found.noindex) == (None, None, False)


def test_robots_marks_of_a_header() -> None:
    assert robots_directives("noindex") == (True, False)
    assert robots_directives("none") == (True, True)
    assert robots_directives("otherbot: noindex, nofollow") == (False, False)
    assert robots_directives("otherbot: noindex, helixbot: nofollow") == (False, True)
    assert robots_directives("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex") == (
        True,
        False,
    )


def test_options_travel_as_json() -> None:
    options = CrawlOptions.from_dict(
        {
            "url": "HTTPS://Example.com/docs#x",
            "prefix": "/a b/",
            "pages": 7,
            "depth": 0,
            "delay_ms": 1000,
            "files": True,
            "allow_hosts": ["Wiki.lan:8080"],
            "unknown": 1,
        }
    )
    assert options == CrawlOptions(
        "https://example.com/docs", "/a%20b/", 7, 0, 1000, True, ("wiki.lan:8080",)
    )
    assert CrawlOptions.from_dict(options.to_dict()) == options
    assert options.allowing(["b.lan"]).allow_hosts == ("wiki.lan:8080", "b.lan")
    assert CrawlOptions.from_dict({"url": "http://x.test"}) == CrawlOptions("http://x.test/")


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": None},
        {"url": "ftp://x.test/"},
        {"url": "http://user:secret@x.test/"},
        {"prefix": "docs"},
        {"prefix": 3},
        {"title": " "},
        {"pages": 0},
        {"pages": True},
        {"pages": "many"},
        {"depth": -1},
        {"delay_ms": 10**9},
        {"allow_hosts": "wiki.lan"},
        {"allow_hosts": ["http://wiki.lan/"]},
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadRequest) as error:
        CrawlOptions.from_dict({"url": "http://x.test/", **wrong})
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)


async def test_the_pace_is_kept() -> None:
    pace = Pace(0.0)
    pace.at_least(0.03)
    pace.at_least(0.01)
    start = time.monotonic()
    for _ in range(4):
        await pace.wait()
    assert time.monotonic() - start >= 0.08  # never early


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["ftp://x.test/"], "only http:// and https://"),
        (["http://x.test/", "--pages", "0"], "pages is a whole number from 1"),
        (["http://x.test/", "--delay", "-1"], "delay_ms is a whole number from 0"),
        (["http://x.test/", "--allow-host", "http://a/"], "allow_hosts are host names"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_line(arguments: list[str], reason: str) -> None:
    cli = typer.Typer()
    cli.command()(crawl)
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 2
    assert result.output.startswith(f"crawl: {reason}")
    assert result.output.count("\n") == 1


def test_a_run_has_the_hosts_that_its_terminal_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever process carries it out: a server's worker may have other settings."""
    for name, value in {
        "DATABASE_URL": "embedded", "HELIX_EMBEDDER": "offline", "HELIX_LLM": "offline",
        "HELIX_ALLOW_HOSTS": "wiki.example.lan",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    wanted: list[dict[str, object]] = []
    monkeypatch.setattr(
        foreground, "start_and_follow", lambda _, __, options, *rest: wanted.append(options)
    )
    cli = typer.Typer()
    cli.command()(crawl)
    done = CliRunner().invoke(cli, ["http://x.test/", "--allow-host", "a.test"])
    assert done.exit_code == 0, done.output
    assert wanted[0]["allow_hosts"] == ["a.test", "wiki.example.lan"]
