"""Changes that a statement may not make to its source, rule by rule, and those that it may."""

from __future__ import annotations

import pytest

from helix.answering.proof import prove
from helix.answering.proof.facts import Facts
from helix.answering.proof.number_parser import numbers_of
from helix.answering.proof.presence import without_denials
from helix.domain.context import Source
from helix.domain.records import Hit


def problem(text: str, claim: str) -> str | None:
    hit = Hit(1, 1, "Handbook", "a", 0, text, 0, len(text), "n", 0.1)
    (statement,) = prove(f"{claim} [1]", [Source(hit, (hit,), text, 0, len(text))]).statements
    return statement.problem


ROOMS = "The AU-1S has a power of 6 kilowatts and weighs 98 kg; the AU-1X has 11 and weighs 131 kg."
LOUNGE = "Alcohol is allowed in the lounge but banned in the cabin."


@pytest.mark.parametrize(
    ("text", "claim", "found"),
    [
        # numbers and their units
        ("The lamp draws 5 watts of power.", "The lamp draws 5 kilowatts of power.", "number"),
        ("Take a dose of 5 mg daily.", "Take a dose of 5 mcg daily.", "number"),
        ("The fee is 100 euros per month.", "The fee is 100 euros per year.", "number"),
        ("The fee is 100 euros per crew.", "The fee is 100 euros per sailor.", "number"),
        ("The rate rose by 5 percentage points.", "The rate rose by 5 percent.", "number"),
        ("Half of the staff work from home.", "A quarter of the staff work from home.", "number"),
        ("Those hired before 2010 keep it.", "Those hired in 2010 keep it.", "number"),
        ("You may carry over up to 5 days.", "You may carry over 5 days or more.", "number"),
        ("Die Frist beträgt drei Monate.", "Die Frist beträgt vier Monate.", "number"),
        # numbers and what they belong to
        (ROOMS, "The AU-1X weighs 98 kg.", "number"),
        (ROOMS, "The AU-1S weighs 131 kg.", "number"),
        ("Meals cost 10 euros and rooms cost 80 euros.", "Meals cost 80 euros.", "number"),
        ("A day in Rome is 53 euros, 58 euros in Bari.", "A day in Bari is 53 euros.", "number"),
        ("Plan: Elm | Month: 49 euros | Year: 490 euros", "Plan Elm: 49 euros a year.", "number"),
        # names and codes
        ("Order the filter HX-2210 for it.", "Order the filter HX-2211 for it.", "name"),
        ("Write to help@acme.example for it.", "Write to sales@acme.example for it.", "name"),
        ("Rome defeated Carthage in the war.", "Carthage defeated Rome in the war.", "name"),
        ("Plan A is cheaper than Plan B.", "Plan B is cheaper than Plan A.", "name"),
        ("The left valve is closed first.", "The right valve is closed first.", "negation"),
        # denial
        ("The pump fails to start below zero.", "The pump starts below zero.", "negation"),
        ("The device lacks a battery.", "The device has a battery.", "negation"),
        ("The firm denied that it had sold data.", "The firm had sold data.", "negation"),
        ("The board refused the merger.", "The board approved the merger.", "negation"),
        (LOUNGE, "Alcohol is allowed in the cabin.", "negation"),
        ("It is effective in men but ineffective in rats.", "It is effective in rats.", "negation"),
        ("Haustiere sind im Haus verboten.", "Haustiere sind im Haus erlaubt.", "negation"),
        ("Der Umsatz stieg um 5 Prozent.", "Der Umsatz sank um 5 Prozent.", "negation"),
        # quantity, duty, condition
        ("Some employees receive a laptop.", "All employees receive a laptop.", "claim"),
        ("Only managers may approve travel.", "All staff may approve travel.", "claim"),
        ("Managers may approve travel.", "Only managers may approve travel.", "claim"),
        ("Employees should wear helmets.", "Employees must wear helmets.", "claim"),
        ("The drug may cure malaria in dogs.", "The drug cures malaria in dogs.", "claim"),
        ("If goods are damaged, the seller pays.", "The seller pays.", "claim"),
        ("Staff may work remotely if a manager agrees.", "Staff may work remotely.", "claim"),
    ],
)
def test_what_is_changed_is_found(text: str, claim: str, found: str) -> None:
    assert problem(text, claim) == found


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Shipping costs 3.90 euros per order.", "Shipping costs 3.9 euros per order."),
        ("The town has 12,000 inhabitants.", "The town has twelve thousand inhabitants."),
        ("The town had 1.5 million inhabitants.", "The town had 1,500,000 inhabitants."),
        ("The plant cost $5 million to build.", "The plant cost $5M to build."),
        ("The share fell to 7.50% last year.", "The share fell to 7.5 percent last year."),
        ("The tunnel is 1,200 metres long.", "The tunnel is 1.2 kilometres long."),
        ("The warranty lasts 24 months.", "The warranty lasts two years."),
        ("The shop opens at 2:30 p.m. on Sundays.", "The shop opens at 14:30 on Sundays."),
        ("It was signed on 12 March 2021 in Rome.", "It was signed in Rome on 2021-03-12."),
        ("Water freezes at 0 degrees Celsius.", "Water freezes at 0 °C."),
        ("Half of the staff work from home.", "50 percent of the staff work from home."),
        ("The probation lasts sechs Monate.", "The probation lasts 6 Monate."),
        (ROOMS, "The AU-1S weighs 98 kg."),
        (ROOMS, "The AU-1X weighs 131 kg."),
        ("It enrolled 480 women and 320 men.", "It enrolled 320 men and 480 women."),
        ("The trial enrolled 480 women and 320 men.", "The trial enrolled 320 men."),
        ("Rome defeated Carthage in the war.", "Carthage was defeated by Rome in the war."),
        ("Only managers may approve travel.", "Travel may be approved only by managers."),
        ("If goods are damaged, the seller pays.", "The seller pays if goods are damaged."),
        ("The device lacks a battery.", "The device has no battery."),
        (LOUNGE, "Alcohol is banned in the cabin."),
        ("Order the filter HX-2210 for it.", "The filter to order for it is HX-2210."),
        ("Models of 5G phones and size 40 A fit.", "Models of 5G phones fit."),
    ],
)
def test_what_is_put_otherwise_passes(text: str, claim: str) -> None:
    assert problem(text, claim) is None


@pytest.mark.parametrize(
    "text",
    [
        "**The warranty lasts ten years and covers batteries.**",
        "# Ten years of warranty",
        "**Batteries are covered:**",
        "Did you know that it lasts longer?",
        "Shall I go on with the 12 clauses that matter?",
    ],
)
def test_a_heading_or_question_with_a_claim_is_a_statement(text: str) -> None:
    assert [each.problem for each in prove(text, []).statements] == ["no marker"]


@pytest.mark.parametrize(
    "text",
    [
        "## 2.1 Refunds",
        "**Step 1: Return it**",
        "### Section 4.2",
        "**What is covered?**",
        "Would you like to see more?",
    ],
)
def test_a_heading_or_question_without_one_is_none(text: str) -> None:
    assert prove(text, []).statements == ()


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Anna did not earn more than Bob.", "Anna did earn more than Bob."),
        ("The trial was expected to end in June.", "The trial ended in June."),
        ("It is effective in adults but ineffective in infants.", "It is effective in infants."),
        ("Members may renew books twice, unless others ask for them.",
         "Members may not renew books twice."),
    ],
)  # fmt: skip
def test_what_is_only_denied_or_planned_is_no_fact(text: str, claim: str) -> None:
    assert problem(text, claim) is not None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The course begins after Easter.", "After Easter the course begins."),
        ("The pipeline is longer than the canal.", "The canal is shorter than the pipeline."),
        ("Infants must not take more than 10 ml.", "Infants must take no more than 10 ml."),
    ],
)
def test_what_is_turned_around_passes(text: str, claim: str) -> None:
    assert problem(text, claim) is None


@pytest.mark.parametrize(
    ("claim", "bare"),
    [
        ("I don't and can’t and cannot go.", "I do and ca and can go."),
        ("It is not so, never, in No. 7.", "It is so, , in No. 7."),
        ("Nicht heute, außer montags.", "heute, außer montags."),
        ("All except Oregon.", "All except Oregon."),
    ],
)  # fmt: skip
def test_a_claim_without_its_denials(claim: str, bare: str) -> None:
    assert without_denials(Facts(claim)) == bare


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("36.2² percent, 3,400¹ and 12³ units", ["36.2", "3400", "12"]),
        ("10⁶ cells, 2⁸ states", ["1000000", "256"]),
        ("2.5 × 10⁶, 1.5×10⁻³ mol, 3 x 10^5", ["2500000", "0.0015", "300000"]),
        ("a pitch of 5 x 10 metres, 5 m²", ["5", "10", "5"]),
        ("6.022 × 10^23 particles, 10²³", ["602200000000000000000000", "1" + "0" * 23]),
        ("10^6 cells, 10^-3 mol, 2^10 and 5^2", ["1000000", "0.001", "1024", "5", "2"]),
        ("10⁹⁹⁹ and 4 × 10⁹⁹⁹ particles", ["10⁹⁹⁹"]),
    ],
)
def test_raised_digits_are_powers_of_ten_and_two_and_else_marks_of_notes(
    text: str, values: list[str]
) -> None:
    assert [number.values[0] for number in numbers_of(text)] == values


def test_a_number_with_the_mark_of_a_note_bears_out_the_number() -> None:
    text = "The rate was 36.2² percent in 2019, over 2.5 × 10⁶ readings."
    assert problem(text, "In 2019 the rate was 36.2 percent.") is None
    assert problem(text, "In 2019 the rate was 36.22 percent.") == "number"
    assert problem(text, "There were 2.5 million readings.") is None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("A mole has 6.022 × 10²³ particles.", "A mole has 6.022 × 10^23 particles."),
        ("There were 10⁶ cells in it.", "There were 10^6 cells in it."),
        ("There were 10^6 cells in it.", "There were a million cells in it."),
        ("The trial lasted 2² weeks.", "The trial lasted 2 weeks."),
        ("The trial had 10³ participants.", "The trial had 10 participants."),
        ("The trial had 10³ cells.", "The trial had 1000 cells."),
    ],
)
def test_a_power_in_another_spelling_is_the_same_number(text: str, claim: str) -> None:
    assert problem(text, claim) is None


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("A mole has 6.022 × 10²³ particles.", "A mole has 6.022 × 10^22 particles."),
        ("There were 10^6 cells in it.", "There were 10 cells in it."),
        ("There were 10^6 cells in it.", "There were 6 cells in it."),
    ],
)
def test_another_power_is_another_number(text: str, claim: str) -> None:
    assert problem(text, claim) == "number"
