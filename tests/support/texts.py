"""Texts and sections for the tests of the splitters, as hypothesis draws them."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from helix.domain.records import Section

WORDS = st.sampled_from(
    "Refunds are accepted within 30 days. e.g. Dr. 1. - # ... !? a 退款 原则。 naïve 👩‍👩‍👧 é ”)"
    " [3] https://x.example/a?b=c 1234567 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa <|endoftext|>"
    " antidisestablishmentarianism".split()
)
PROSE = st.lists(
    st.tuples(WORDS, st.sampled_from([" ", " ", " ", "\n", "\n\n", "\r\n", "  ", "", "\n" * 40])),
    max_size=120,
).map(lambda parts: "".join(word + space for word, space in parts))
ANY_TEXT = st.text(max_size=400)
DULL = st.tuples(st.sampled_from("a!.😀 \n退–\u200b"), st.integers(0, 3000)).map(
    lambda p: p[0] * p[1]
)
TEXTS = st.one_of(PROSE, ANY_TEXT, DULL, st.lists(st.one_of(PROSE, DULL)).map("".join))
SIZES = st.tuples(st.integers(16, 120), st.integers(0, 60))


@st.composite
def sectioned(draw: st.DrawFn) -> tuple[str, tuple[Section, ...]]:
    """A text with sections that may leave out white space, each with blocks or rows or neither."""
    text = ""
    sections: list[Section] = []
    for number in range(draw(st.integers(0, 6))):
        text += draw(st.sampled_from(["", "\n", "\n\n  "]))
        start = len(text)
        blocks = []
        for part in draw(st.lists(st.one_of(PROSE, DULL), max_size=4)):
            if draw(st.booleans()):
                blocks.append((len(text), len(text) + len(part)))
            text += part
        sections.append(
            Section(
                start,
                len(text),
                heading_path=tuple("ABC"[: draw(st.integers(0, 3))]),
                page=draw(st.one_of(st.none(), st.just(number + 1))),
                label=f"part {number}",
                context=draw(st.sampled_from(["", "Name | Price"])),
                blocks=tuple(blocks),
                rows=draw(st.booleans()),
            )
        )
    return text, tuple(sections)


_VOCABULARY = (
    "the of and a to in is was for on that with as by at from it this are be an which or have had"
    " not were their its one two three four first last new old great small large high low early"
    " late long short open common general public local national world year month day time hour way"
    " part place case group number system program question work government company market service"
    " policy report study result method data table figure page section chapter water power energy"
    " house city country state school student teacher doctor patient health disease treatment cell"
    " protein virus blood heart river mountain ocean island weather winter summer history language"
    " letter story music picture machine engine road bridge train station airport hotel kitchen"
    " bread butter sugar coffee garden flower forest animal horse made used found given taken known"
    " called said wrote built moved opened closed raised reduced increased measured compared shown"
).split()


def paragraphs(count: int, seed: int = 3) -> list[str]:
    """Paragraphs of common words, about 600 characters each, the same for the same seed."""
    source = random.Random(seed)

    def sentence() -> str:
        return " ".join(source.choices(_VOCABULARY, k=source.randint(5, 25))).capitalize() + "."

    return [" ".join(sentence() for _ in range(source.randint(2, 11))) for _ in range(count)]
