"""The documentation: the form of decisions, the indexes, the links."""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path

from benchmarks.newcomer import MOST_STEPS, readme_commands
from tests.support.repository import ROOT

DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
PAGES = sorted((ROOT / "docs").glob("*.md"))
LINKED = sorted(
    page
    for folder in ("", "docs/**/", "evals/", "benchmarks/", "tests/", "edge/", "examples/")
    for page in ROOT.glob(f"{folder}*.md")
)


def _slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).strip().replace(" ", "-")


def test_a_decision_has_the_form_and_fits_on_a_page() -> None:
    for page in DECISIONS:
        text = page.read_text()
        assert text.startswith(f"# {page.name[:4]}. "), "the title is `# NNNN. Title`"
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings[:2] == ["What", "Why"], page.name
        fits = text.count("\n") <= 60 and len(text.split()) <= 750
        assert fits, f"{page.name}: more than a page: measurements go to evals/ or benchmarks/"


def test_decisions_are_numbered_and_indexed_under_their_titles() -> None:
    assert [page.name[:4] for page in DECISIONS] == [
        f"{n:04}" for n in range(1, 1 + len(DECISIONS))
    ]
    rows = [
        f"- [{page.name[:4]}]({page.name}) {page.read_text().splitlines()[0][8:]}"
        for page in DECISIONS
    ]
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert [line for line in index.splitlines() if line.startswith("- [")] == rows


def test_a_page_is_in_the_index_and_on_the_site() -> None:
    index, site = (ROOT / "docs" / "index.md").read_text(), (ROOT / "mkdocs.yml").read_text()
    for page in PAGES:
        assert page.name == "index.md" or f"({page.name})" in index, page.name
        assert f"docs/{page.name}" in site, page.name


@cache
def _anchors(file: Path) -> frozenset[str]:
    """The anchors of a page's headings."""
    return frozenset(map(_slug, re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)))


def _is_broken(page: Path, target: str) -> bool:
    """True where a link of ``page`` within the repository leads nowhere."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if re.match(r"[a-z]+:", target):
        return False
    return not file.exists() or bool(
        anchor and file.suffix == ".md" and anchor not in _anchors(file)
    )


def test_links_within_the_repository_lead_somewhere() -> None:
    prose = {
        page: re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
        for page in LINKED
    }
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page, text in prose.items()
        for target in re.findall(r"\]\(([^)\s]+)\)", text)
        if _is_broken(page, target)
    ]
    assert not broken and len(prose) > 100


def test_every_claim_of_the_comparison_has_its_source() -> None:
    text = (ROOT / "docs" / "compare.md").read_text()
    table, _, listed = text.partition("## Sources")
    cells = [cell.strip() for row in re.findall(r"^\| \*\*.*\|$", table, re.M)
             for cell in row.strip("|").split("|")[1:]]  # fmt: skip
    named = re.compile(r"\[([A-Z]\d)\]")
    told = [re.sub(r"\*[^*]*not found[^*]*\*", "", cell) for cell in cells]
    assert [cell for cell in told if cell and not (named.search(cell) or "](" in cell)] == []
    assert len(cells) > 50 and set(named.findall(table)) == set(
        re.findall(r"^\| (\w\d) ", listed, re.M)
    )


def test_every_row_of_the_specifications_counts_and_leads_to_what_there_is() -> None:
    text = (ROOT / "docs" / "specifications.md").read_text()
    with (ROOT / "docs" / "specifications.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    met = Counter(row["met"] for row in rows)
    assert len(rows) > 250 and set(met) == {"yes", "different", "partly", "no"}
    told = f"Of {len(rows)} rows {met['yes']} are met, and {len(rows) - met['yes']} are not"
    assert told in text and f"- {met['different']} are **different**" in text
    assert f"- {met['partly']} are met **partly**" in text and f"- {met['no']} are **not**" in text
    unmet = [row["number"] for row in rows if row["met"] in ("partly", "no")]
    assert re.findall(r"^- (\d\.\d+) ", text, re.MULTILINE) == unmet
    named = [path for row in rows for path in re.findall(r"`(\w[\w.]*/[\w./-]+)`", row["where"])]
    assert len(named) > 100 and [path for path in named if not (ROOT / path).exists()] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) < 900


def test_the_readme_leads_to_an_answer_on_an_own_document_in_five_steps() -> None:
    """The steps of ``benchmarks.newcomer``; it clones before, and drops a file and asks behind."""
    commands = readme_commands((ROOT / "README.md").read_text())
    assert commands[-1] == ".venv/bin/helix up" and len(commands) <= MOST_STEPS - 3
