"""The facts on a document's first pages, read by rule: company, kind, period, author.

A rule that is not sure says nothing: a fact is shown to people, and documents are preferred by it.
Each is a text with the characters that it was read from. A new rule is a function and a line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from helix.domain.names import PERIOD_END, period_end
from helix.language.periods import DAY, dates, ended, periods
from pipelines.facts.company import company_facts
from pipelines.facts.front import Fact, Facts, Front, Line, fact_of, front_of, one_line
from pipelines.facts.title import author_facts, kind_facts
from pipelines.readers import ReadText

_DATED = re.compile(
    r"(?:^|(?<=[\s(]))(?P<label>filed|effective(?:\s+(?:date|as\s+of))?|entered\s+into(?:\s+as)?\s+of|(?:made|dated)(?:\s+as)?"
    r"\s+of|dated|published(?:\s+online)?|issued?(?:\s+date)?|invoice\s+date|last\s+(?:updated|revised|modified)|revised|version\s+date|date"
    rf"(?:\s+of\s+(?:issue|meeting|publication))?|accepted|held\s+on)\s*+:?\s*+(?:on\s++)?(?:this\s++)?(?P<day>{DAY})",
    re.IGNORECASE | re.MULTILINE,
)
_QUARTER_OF = re.compile(
    r"\b(?P<number>first|second|third|fourth)\s+(?:fiscal\s+)?quarter\s+(?:of\s+)?(?:fiscal\s+)?(?:year\s+)?"
    r"(?P<year>20\d\d)\b",
    re.IGNORECASE,
)
_NUMBERS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_SHOWN = {"filed", "effective", "published", "accepted", "revised"}
_COUNTED = 400_000  # characters in which a report says what quarter it calls its own
_REPORTS = ("report", "10-K", "20-F", "10-Q")


def time_facts(front: Front, earlier: Facts) -> Facts:
    """``period``, ``fiscal`` (a quarterly report's own number of it), and ``date``."""
    facts = _ended_period(front) or _headline_period(front, earlier)
    if quarter := _fiscal_quarter(front, facts):
        facts["fiscal"] = quarter
    return facts | _date(front)


def _ended_period(front: Front) -> Facts:
    """The period that the cover says has ended."""
    for period in ended(front.text):
        text = one_line(front.text[period.start : period.end])
        day = text[text.lower().rindex("end") :].split(None, 1)[1]
        return {"period": Fact(f"{period.what} ended {day}", (period.start, period.end))}
    return {}


def _headline_period(front: Front, earlier: Facts) -> Facts:
    """The quarter or year of a report's headline, of its own title, or of its file's name."""
    kind = earlier["kind"].text if "kind" in earlier else ""
    if not (kind.endswith("report") or kind in ("press release", *_REPORTS)):
        return {}
    file_name_line = Line(re.sub(r"[_\-.]+", " ", front.name), -1)
    for line in (*front.headlines, Line(front.metadata_title, -1), file_name_line):
        for period in periods(line.text):
            text = line.text[period.start : period.end]
            if period.keys[0].startswith(("quarter:", "half:", "annual:")):
                start = line.start + period.start
                span = (start, start + len(text)) if line.start >= 0 else None
                return {"period": Fact(text, span)}
    return {}


def _fiscal_quarter(front: Front, facts: Facts) -> Fact | None:
    """The quarter that a quarterly report calls its own: "Q3 2023".

    It is the latest that the text speaks of often; the report's own numbering is seldom on its
    cover.
    """
    report = next(ended(facts["period"].text), None) if "period" in facts else None
    if report is None or report.months != 3:
        return None
    counts = Counter(
        (int(match["year"]), _NUMBERS[match["number"].lower()])
        for match in _QUARTER_OF.finditer(front.whole, 0, _COUNTED)
        if report.day.year <= int(match["year"]) <= report.day.year + 1
    )
    often = [
        key for key, count in counts.items() if count > 1 and count * 3 >= max(counts.values())
    ]
    if not often:
        return None
    year, number = max(often, key=lambda key: (key[0], counts[key]))
    return Fact(f"Q{number} {year}")


def _date(front: Front) -> Facts:
    """The day that the document, or the title in its metadata, says it is of."""
    for text, offset in ((front.text, 0), (front.metadata_title, None)):
        match = _DATED.search(text)
        if match and next(dates(match["day"]), None):
            label = match["label"].lower().split()[0]
            prefix = f"{label} " if label in _SHOWN else ""
            day = fact_of(match, "day")
            return {"date": Fact(prefix + day.text, day.span if offset is not None else None)}
    for line in list(front.headlines)[:12]:
        for start, end, _ in dates(line.text):
            if (start, end) == (0, len(line.text)):
                return {"date": Fact(line.text, line.span)}
    return {}


Rule = Callable[[Front, Facts], Facts]
RULES: tuple[Rule, ...] = (kind_facts, company_facts, time_facts, author_facts)
"""In this order: a rule sees what the rules before it have found."""


def facts_of(text: ReadText, file_name: str) -> Facts:
    """The facts of what was read of a file; each rule's at most once."""
    front, facts = front_of(text, file_name), Facts()
    for rule in RULES:
        facts |= rule(front, facts)
    if "period" in facts and (day := period_end(facts["period"].text)):
        facts[PERIOD_END] = Fact(day)
    return facts
