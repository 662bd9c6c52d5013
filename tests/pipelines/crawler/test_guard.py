"""The guard at the socket: which addresses are refused, in every spelling and on every way."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.crawler.addresses import why_not_public
from pipelines.crawler.fetch import Fetcher, FetchError, FetchLimits
from pipelines.crawler.guard import BLOCKED_PORTS, ForbiddenAddress, GuardedBackend
from pipelines.crawler.urls import BadUrl, normalise
from tests.support.web_site import Answer, Route, Seen, page, redirect, serving

REFUSED = """0.0.0.0 0.1.2.3 10.0.0.7 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254
169.254.169.254 169.254.0.1 172.16.0.1 172.31.255.255 192.168.1.1 192.0.0.1 192.0.2.1 192.88.99.1
198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
100.100.100.200 168.63.129.16 :: ::1 ::2 ::127.0.0.1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0
fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.7 ::ffff:169.254.169.254 64:ff9b::7f00:1
64:ff9b::a00:7 64:ff9b:1::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2002:7f00:1::
2002:a9fe:a9fe:: 2001:db8::1 3fff::1 100::1 5f00::1 4000::1""".split()

PUBLIC = """1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1
192.167.255.255 192.169.0.1 223.255.255.255 2606:4700:4700::1111 2a00:1450:4001::1
::ffff:8.8.8.8 64:ff9b::808:808""".split()

SPELLINGS = """http://127.0.0.1:{port}/ http://2130706433:{port}/ http://0x7f000001:{port}/
http://0x7F.1:{port}/ http://0177.0.0.1:{port}/ http://0177.0.0.01:{port}/ http://127.1:{port}/
http://127.0.1:{port}/ http://017700000001:{port}/ http://0:{port}/ http://0.0.0.0:{port}/
http://[::1]:{port}/ http://[::]:{port}/ http://[::ffff:127.0.0.1]:{port}/
http://[0:0:0:0:0:ffff:7f00:1]:{port}/ http://[::127.0.0.1]:{port}/ http://[64:ff9b::7f00:1]:{port}/
http://[2002:7f00:1::]:{port}/ http://[fe80::1%25lo]:{port}/ http://localhost:{port}/
http://LOCALHOST:{port}/ http://localhost.:{port}/ http://127.0.0.1.:{port}/
http://１２７.０.０.１:{port}/ http://①②⑦.0.0.1:{port}/ http://127。0。0。1:{port}/
http://ｌｏｃａｌｈｏｓｔ:{port}/ http://%31%32%37.0.0.1:{port}/ http://example.com@127.0.0.1:{port}/
http://example.com:80@127.0.0.1:{port}/ http://127.0.0.1:{port}#@example.com/
http://example.com\\@127.0.0.1:{port}/ http:127.0.0.1:{port}/ http:///127.0.0.1:{port}/
//127.0.0.1:{port}/ HTTP://127.0.0.1:{port}/ https://127.0.0.1:{port}/ file:///etc/passwd
ftp://127.0.0.1:{port}/ unix:///tmp/socket http://127.0.0.256:{port}/ http://1.2.3.4.5:{port}/
http://0x:{port}/ http://127.0.0.1\\t:{port}/
http://١٢٧.٠.٠.١:{port}/ http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:{port}/ http://¹²⁷.⁰.⁰.¹:{port}/ http://127｡0｡0｡1:{port}/
http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/ http://𝓵𝓸𝓬𝓪𝓵𝓱𝓸𝓼𝓽:{port}/ http://127.0.0.1..:{port}/ http://..127.0.0.1:{port}/
http://0x7f.0x0.0x0.0x1:{port}/ http://0177.0x0.0.1:{port}/ http://0000000177.0.0.1:{port}/
http://0x7f.1.:{port}/ http://2130706433.:{port}/ http://4294967296:{port}/ http://127.65536:{port}/
http://[0000::0001]:{port}/ http://[::ffff:0:127.0.0.1]:{port}/ http://[64:ff9b:1::7f00:1]:{port}/
http://[2001:0:7f00:1::]:{port}/ http://[::1%25lo]:{port}/ http://[::ffff:127.0.0.1%25lo]:{port}/
http://[::5efe:127.0.0.1]:{port}/ http://[::1]x:{port}/ http://[127.0.0.1]:{port}/
http://127.0.0.1%00.example.com:{port}/ http://localhost%00:{port}/ http://localhost%2e:{port}/
http://example.com%40127.0.0.1:{port}/ http://u:p@localhost:{port}/ http://@127.0.0.1:{port}/
http://127.0.0.1:{port}:80/ http://127.0.0.1:{port}\\@example.com/ http:\\\\127.0.0.1:{port}/
gopher://127.0.0.1:{port}/ dict://127.0.0.1:{port}/ jar:http://127.0.0.1:{port}/!/ data:text/html,x
view-source:http://127.0.0.1:{port}/ http://:{port}/ http://[]:{port}/ http://%:{port}/""".split()


class Names:
    """A resolver whose names are given; each look-up of a name takes its next answer."""

    def __init__(self, **names: list[list[str]]) -> None:
        self.answers = {name.replace("_", "."): answers for name, answers in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.answers.get(host)
        if not answers:
            raise OSError(f"no such name: {host}")
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Wire(httpcore.AsyncNetworkBackend):
    """The network: notes what is connected to, and nothing is there."""

    def __init__(self) -> None:
        self.connected: list[str] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.connected.append(f"{host} {port}")
        raise httpcore.ConnectError("nothing is there")


async def _get(url: str, guard: GuardedBackend) -> int:
    async with Fetcher(guard, FetchLimits(connect=2, read=2, total=5)) as fetcher:
        return (await fetcher.get(url)).status


async def _refusal(url: str, guard: GuardedBackend) -> str:
    with pytest.raises(ForbiddenAddress) as error:
        await _get(url, guard)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_address_that_is_not_public_is_named_and_a_public_one_passes() -> None:
    passing = [each for each in REFUSED if not why_not_public(ipaddress.ip_address(each))]
    named = [each for each in PUBLIC if why_not_public(ipaddress.ip_address(each))]
    assert (passing, named) == ([], [])


@given(st.ip_addresses(v=4))
def test_every_wrapping_of_an_address_is_judged_as_the_address(
    address: ipaddress.IPv4Address,
) -> None:
    refused = why_not_public(address) is not None
    for wrapped in (f"::ffff:{address}", f"64:ff9b::{address}"):
        assert (why_not_public(ipaddress.IPv6Address(wrapped)) is not None) == refused
    if not address.is_global:  # what Python knows of, we do too
        assert refused


@given(st.ip_addresses(v=6))
def test_what_python_calls_private_is_refused(address: ipaddress.IPv6Address) -> None:
    if not address.is_global and address not in ipaddress.ip_network("64:ff9b::/96"):
        assert why_not_public(address)


async def test_no_spelling_reaches_loopback() -> None:
    async with serving({"/": page("Secret")}) as site:
        for spelling in SPELLINGS:
            url = spelling.format(port=site.port)
            with pytest.raises((ForbiddenAddress, BadUrl)):
                await _get(normalise(url), GuardedBackend())
            with pytest.raises((ForbiddenAddress, BadUrl, FetchError)):
                await _get(url, GuardedBackend())  # the guard alone, without the check before
            assert site.connections == 0, spelling
        assert await _get(site.url(), GuardedBackend([site.host])) == 200
        assert site.connections == 1


async def test_a_name_with_any_private_address_is_refused() -> None:
    wire = Wire()
    names = Names(
        wiki_lan=[["10.0.0.7"]],
        mixed_test=[["93.184.216.34", "192.168.0.1"]],
        mixed6_test=[["93.184.216.34", "fd00::1"]],
        meta_test=[["169.254.169.254"]],
    )
    guard = GuardedBackend((), names, wire)
    assert await _refusal("http://wiki.lan/", guard) == (
        "refused: the address of wiki.lan is private:"
        " allow it with --allow-host wiki.lan or HELIX_ALLOW_HOSTS=wiki.lan"
    )
    for name in ("mixed.test", "mixed6.test"):
        refusal = await _refusal(f"http://{name}/", guard)
        assert refusal.startswith(f"refused: the address of {name} is private: allow it with")
    assert "metadata" in await _refusal("https://meta.test/", guard)
    assert wire.connected == []


async def test_the_checked_address_is_what_is_connected_to() -> None:
    wire = Wire()
    names = Names(rebind_test=[["93.184.216.34"], ["127.0.0.1"]])
    guard = GuardedBackend((), names, wire)
    with pytest.raises(FetchError):
        await _get("http://rebind.test/", guard)
    assert wire.connected == ["93.184.216.34 80"]
    assert names.asked == ["rebind.test"]  # once: no second look-up between check and connection
    assert "loopback" in await _refusal("http://rebind.test/", guard)
    assert len(wire.connected) == 1


async def test_every_address_of_a_name_is_tried_in_turn() -> None:
    wire = Wire()
    guard = GuardedBackend((), Names(two_test=[["93.184.216.34", "2606:4700::1"]]), wire)
    with pytest.raises(FetchError):
        await _get("https://two.test/", guard)
    assert wire.connected == ["93.184.216.34 443", "2606:4700::1 443"]


async def test_a_redirect_is_checked_like_a_first_address() -> None:
    targets = [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://2852039166/",
        "//10.0.0.7/",
        "http://inside.test/",
    ]
    routes: dict[str, Route] = {f"/{n}": redirect(target) for n, target in enumerate(targets)}
    routes["/far"] = redirect("/4")
    wire_names = Names(inside_test=[["10.0.0.7"]])
    async with serving(routes) as site, serving({"/": page("Secret")}) as other:
        routes["/other"] = redirect(other.url())
        guard = GuardedBackend([site.host], wire_names)
        for path in [*routes, "/far"]:
            await _refusal(site.url(path), guard)
        assert other.connections == 0


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://x.test/", "javascript:1", "http://a@b/"]
)
async def test_a_redirect_to_what_is_no_web_address_is_an_error(target: str) -> None:
    async with serving({"/": redirect(target)}) as site:
        with pytest.raises(FetchError, match="redirected to what is"):
            await _get(site.url(), GuardedBackend([site.host]))


async def test_a_kept_connection_serves_its_own_host_only() -> None:
    """A host that is allowed leaves a connection open; another name of the same address is not."""
    async with serving({"/": page("Home")}) as site:
        names = Names(good_test=[["127.0.0.1"]], evil_test=[["127.0.0.1"]])
        guard = GuardedBackend(["good.test"], names)
        async with Fetcher(guard) as fetcher:
            for _ in range(2):
                assert (await fetcher.get(f"http://good.test:{site.port}/")).status == 200
            with pytest.raises(ForbiddenAddress):
                await fetcher.get(f"http://evil.test:{site.port}/")
        assert site.connections == 1


@pytest.mark.parametrize(
    ("allowed", "host", "opens"),
    [
        ("wiki.test", "wiki.test", True),
        ("WIKI.test.", "wiki.test", True),
        ("wiki.test:{port}", "wiki.test", True),
        ("wiki.test:1", "wiki.test", False),
        ("wiki.test", "a.wiki.test", False),
        ("iki.test", "wiki.test", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "wiki.test", False),
        ("wiki.test", "127.0.0.1", False),
    ],
)
async def test_a_named_host_is_opened_and_nothing_else(
    allowed: str, host: str, opens: bool
) -> None:
    async with serving({"/": page("Wiki")}) as site:
        names = Names(wiki_test=[["127.0.0.1"]], a_wiki_test=[["127.0.0.1"]])
        guard = GuardedBackend([allowed.format(port=site.port)], names)
        url = f"http://{host}:{site.port}/"
        if opens:
            assert await _get(url, guard) == 200
        else:
            await _refusal(url, guard)
        assert site.connections == opens


async def test_an_allowed_name_does_not_open_metadata() -> None:
    wire = Wire()
    guard = GuardedBackend(["wiki.test"], Names(wiki_test=[["169.254.169.254"]]), wire)
    assert "does not open" in await _refusal("http://wiki.test/", guard)
    assert wire.connected == []
    with pytest.raises(FetchError):  # its address itself, written out, is meant
        await _get("http://169.254.169.254/", GuardedBackend(["169.254.169.254"], Names(), wire))
    assert wire.connected == ["169.254.169.254 80"]


async def test_ports_of_other_protocols_are_blocked() -> None:
    wire = Wire()
    names = Names(web_test=[["93.184.216.34"]])
    for port in sorted(BLOCKED_PORTS):
        await _refusal(f"http://web.test:{port}/", GuardedBackend((), names, wire))
    await _refusal("http://web.test:25/", GuardedBackend(["web.test"], names, wire))
    assert wire.connected == []
    with pytest.raises(FetchError):
        await _get("http://web.test:8000/", GuardedBackend((), names, wire))
    assert wire.connected == ["93.184.216.34 8000"]


async def test_a_name_that_is_nowhere_is_an_error() -> None:
    with pytest.raises(FetchError, match=r"there is no host gone\.test"):
        await _get("http://gone.test/", GuardedBackend((), Names()))


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving({"/": page("Home")}) as site, serving() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
        assert await _get(site.url(), GuardedBackend([site.host])) == 200
        assert proxy.connections == 0


async def test_a_local_socket_is_refused() -> None:
    with pytest.raises(ForbiddenAddress):
        await GuardedBackend().connect_unix_socket("/tmp/socket")


async def test_a_host_header_is_of_the_host_asked_for() -> None:
    hosts: list[str] = []

    def note(seen: Seen) -> Answer:
        hosts.append(seen.headers["host"])
        return page("Home")

    async with serving({"/": note}) as site:
        guard = GuardedBackend(["wiki.test"], Names(wiki_test=[["127.0.0.1"]]))
        await _get(f"http://wiki.test:{site.port}/", guard)
        assert hosts == [f"wiki.test:{site.port}"]
