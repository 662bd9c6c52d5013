"""What a sentence may not tell: the contrary, the other party, a unit of another kind, no end."""

from __future__ import annotations

import pytest

from helix.contract import REFUSAL
from helix.domain.asked import read_question
from helix.domain.source_place import SourcePlace
from helix.providers.offline.contraries import tells_limit, tells_of_party, tells_same_side
from helix.providers.offline.dimensions import tells_dimension
from helix.providers.offline.evidence import weigh_evidence
from helix.providers.offline.extract import extract
from helix.providers.offline.focus import tells_fact
from helix.providers.offline.gates import may_answer
from helix.providers.offline.mentions import unnamed
from helix.providers.offline.reading import PromptSource


def answer(question: str, *texts: str) -> str:
    """Each text is a document of its own."""
    places = [SourcePlace(title=f"Document {n}") for n in range(len(texts))]
    sources = [PromptSource(n, *one) for n, one in enumerate(zip(texts, places, strict=True), 1)]
    return extract(question, sources)


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("Which party is the smallest?", "The largest party sits in the middle.", False),
        ("Which party is the largest?", "The largest party sits beside the smallest.", True),
        ("What are the noncurrent liabilities?", "Current liabilities were $5.", False),
        ("What are the diluted earnings?", "Basic earnings were $5.", False),
        ("What are the diluted earnings?", "Basic and diluted earnings were $5.", True),
        ("Is the plan open?", "The plan is closed to new members.", True),
        ("Which is larger, A or B?", "A is smaller than B.", True),
        ("What did they come up with?", "They made a car without a roof.", True),
    ],
)
def test_a_contrary_tells_nothing_in_a_words_stead(asked: str, text: str, told: bool) -> None:
    assert tells_same_side(read_question(asked), text) is told


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("When may the landlord end the lease?", "The Tenant may end it on 30 April.", False),
        ("When may the tenant end the lease?", "The Tenant may end it on 30 April.", True),
        ("When may the landlord end it?", "The Tenant must, if the Landlord may end it.", True),
        ("What must the tenant pay?", "The rent is due each month.", True),
    ],
)
def test_what_one_party_may_do_tells_nothing_of_the_other(
    asked: str, text: str, told: bool
) -> None:
    assert tells_of_party(read_question(asked), text) is told


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("How loud is the mill?", "The warranty is two years.", False),
        ("How loud is the mill?", "It makes 39 dB(A) of noise.", True),
        ("How heavy is the mill?", "It is 44.5 kg in all.", True),
        ("How heavy is the mill?", "It is 40 cm wide.", False),
        ("How wide is the mill?", "It is 40 cm across.", True),
        ("How large is the mill?", "It has 40 rooms.", True),
    ],
)
def test_an_adjective_of_measure_asks_for_its_unit(asked: str, text: str, told: bool) -> None:
    assert tells_dimension(read_question(asked), text) is told


@pytest.mark.parametrize(
    ("asked", "text", "told"),
    [
        ("Until when can the facility be used?", "It was increased in August 2022.", False),
        ("Until when can the facility be used?", "It is available until August 2025.", True),
        ("When does the loan mature?", "The loan matures in January 2024.", True),
        ("What did it buy after the end of the quarter?", "It bought 8 in the quarter.", False),
        ("What did it buy after the end of the quarter?", "It later bought 8.", True),
        ("When was it bought?", "It was bought in August 2022.", True),
    ],
)
def test_an_end_is_told_by_an_end(asked: str, text: str, told: bool) -> None:
    assert tells_limit(read_question(asked), text) is told


def test_an_item_of_a_list_of_risks_tells_no_fact() -> None:
    item = "issuances of debt, with more interest, and compliance with debt covenants;"
    asked = read_question("Is Acme in compliance with its debt covenants?")
    assert not tells_fact(asked, item)
    assert tells_fact(asked, "We were in compliance with all covenants.")


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What did they build in Hamburg?", {"hamburg"}),
        ("What did they build in Berlin?", set()),
        ("What did the Berliners build?", set()),
        ("What did they build in Hamburg and in Berlin?", set()),
        ("Which Prussian quarter did they build in Berlin?", set()),
    ],
)
def test_a_name_elsewhere_in_a_source_does_not_stand_for_another(
    question: str, missing: set[str]
) -> None:
    text = (
        "Merchants from Hamburg sailed early. They sold cloth and grain. Most had a ship of"
        " their own. Some of them went home. The journey took a week."
        " In Berlin they built the new quarter Dorotheenstadt."
    )
    evidence = weigh_evidence(read_question(question), [PromptSource(1, text)])
    assert unnamed(read_question(question), evidence, 5, SourcePlace()) == missing


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Who was the mentor of the fourth emperor?", "He had been mentored by Li Meng"),
        ("Is the workshop insured against theft?", REFUSAL),
        ("Is the workshop insured against fire?", "The workshop is insured against fire"),
    ],
)
def test_a_sentence_tells_the_role_and_what_a_question_ends_in(question: str, quoted: str) -> None:
    emperor = (
        "The fourth emperor, Buyantu Khan, was a competent emperor. "
        "He had been mentored by Li Meng, a scholar."
    )
    assert quoted in answer(question, f"{emperor} The workshop is insured against fire and water.")


def test_a_case_is_named_by_both_parties() -> None:
    asked = read_question("Where is Horanic v. Huang pending?")
    text = "The suit is pending in Delaware, captioned Horanic v.\nHuang, et al."
    sources = [PromptSource(1, text)]
    evidence = weigh_evidence(asked, sources)
    assert evidence.sentences[0].text.endswith(" v.")
    assert not unnamed(asked, evidence, 0, SourcePlace())


def test_another_document_adds_nothing_to_one_value() -> None:
    minutes = "The rent reserve stood at €412,300 on 31 December 2024."
    lease = "The rent of the last two months of 2024 was late at the end of the year."
    said = answer("How large was the rent reserve at the end of 2024?", minutes, lease)
    assert said == f"{minutes} [1]"


@pytest.mark.parametrize(("label", "may"), [("Cloud Services", False), ("Total", True)])
def test_a_row_of_a_part_tells_nothing_of_the_whole(label: str, may: bool) -> None:
    row = f"{label} | June 2022: $24 | Acquired: $0 | June 2023: $67,790"
    asked = read_question("How large was the goodwill at June 30, 2023?")
    evidence = weigh_evidence(asked, [PromptSource(1, row)])
    assert may_answer(asked, evidence, 0) is may
