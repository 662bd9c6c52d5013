"""The language of a text: that of its stemmer, or none where it is not sure."""

from __future__ import annotations

import pytest
import snowballstemmer

from helix.language.identification import ENGLISH, OTHERS, STEMMED, told_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Frist beginnt mit dem Tag, an dem die Ware beim Käufer eintrifft.", "german"),
        ("Les congés sont accordés après un an de travail dans la maison.", "french"),
        ("Los contratos se firman en la oficina y cada parte recibe una copia.", "spanish"),
        ("Договор заключается на один год и продлевается ещё на год.", "russian"),
        ("The period begins with the day on which the goods arrive.", ENGLISH),
        ("契約は書面で終了できる。解約の予告期間は三か月である。", None),
        ("双方均可书面终止租约。解约通知期为三个月。", None),
        ("Siemens, Bosch, Renault, Telefónica, Ikea, Nokia", None),
        ("", None),
    ],
)
def test_prose_is_told_and_names_are_not(text: str, language: str | None) -> None:
    assert told_language(text) == language


def test_each_language_has_a_stemmer() -> None:
    assert {*STEMMED.values()} == {ENGLISH, *OTHERS} <= set(snowballstemmer.algorithms())
