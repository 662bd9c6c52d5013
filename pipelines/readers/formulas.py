"""Formulas of Office and of MathML as a line: (a+b)/2, x^2, √(y).

Their parts stand above, below and beside each other; read one after another, 1/2 would be 12.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipelines.readers.office import is_element, local_name

Parts = list[tuple[str, str]]
"""The names and texts of the elements in a part of a formula."""
_PASSED_OVER = frozenset("annotation annotation-xml ctrlPr rPr".split())
_WORDS = frozenset("t mi mn mo ms mtext".split())
_MOST_DEEP = 60  # a formula in a formula
_SIGN = "∫"  # of a sum over a range that names none (ISO/IEC 29500-1, 22.1.2.70)


def formula_text(element: Any, deep: int = 0) -> str:
    """The text of a formula, ``m:oMath`` or ``math``, or of a part of one."""
    name = local_name(element)
    if name in _PASSED_OVER or deep > _MOST_DEEP:
        return ""
    if name in _WORDS:
        text = element.text or ""
        return text if name == "t" else text.strip()
    parts = [part for part in element if is_element(part)]
    lines = [formula_text(part, deep + 1) for part in parts]
    if name in _OFFICE:
        return _OFFICE[name](element, list(zip(map(local_name, parts), lines, strict=True)))
    given = _MATHML.get(name)
    if given and len(lines) == given[0]:
        return given[1](*lines)
    if name == "msqrt":
        return _root("".join(lines))
    return _BETWEEN.get(name, "").join(filter(None, lines))


def write_out(tree: Any) -> None:
    """Put the text of each formula of a page in its place."""
    for formula in list(tree.iter("math")):
        text = formula_text(formula)
        formula.clear(keep_tail=True)
        formula.tag, formula.text = "span", text


def _grouped(text: str) -> str:
    return text if text.isalnum() or len(text) < 2 else f"({text})"


def _fraction(above: str, below: str) -> str:
    return f"{_grouped(above)}/{_grouped(below)}"


def _raised(base: str, above: str) -> str:
    return f"{base}^{_grouped(above)}" if above else base


def _lowered(base: str, below: str) -> str:
    return f"{base}_{_grouped(below)}" if below else base


def _both(base: str, below: str, above: str) -> str:
    return _raised(_lowered(base, below), above)


def _root(base: str, degree: str = "") -> str:
    return f"{degree}√{_grouped(base)}"


def _sign(element: Any, name: str, otherwise: str) -> str:
    """The sign that a property of a part of a formula names; ``otherwise`` where none does."""
    found = element.find(f"{{*}}{local_name(element)}Pr/{{*}}{name}")
    if found is None:
        return otherwise
    return next((str(v) for key, v in found.items() if key.rpartition("}")[2] == "val"), "")


def _bracketed(element: Any, parts: Parts) -> str:
    between = _sign(element, "sepChr", "|").join(text for name, text in parts if name == "e")
    return f"{_sign(element, 'begChr', '(')}{between}{_sign(element, 'endChr', ')')}"


def _over_range(element: Any, parts: Parts) -> str:
    texts = dict(parts)
    sign = _both(_sign(element, "chr", _SIGN), texts.get("sub", ""), texts.get("sup", ""))
    return f"{sign} {texts.get('e', '')}"


def _of(made: Callable[..., str], *names: str) -> Callable[[Any, Parts], str]:
    return lambda _, parts: made(*(dict(parts).get(name, "") for name in names))


_OFFICE: dict[str, Callable[[Any, Parts], str]] = {
    "f": _of(_fraction, "num", "den"),
    "sSup": _of(_raised, "e", "sup"),
    "sSub": _of(_lowered, "e", "sub"),
    "sSubSup": _of(_both, "e", "sub", "sup"),
    "limLow": _of(_lowered, "e", "lim"),
    "limUpp": _of(_raised, "e", "lim"),
    "rad": _of(_root, "e", "deg"),
    "nary": _over_range,
    "d": _bracketed,
}
"""Parts of Office's formulas (ISO/IEC 29500-1, 22.1.2)."""
_MATHML: dict[str, tuple[int, Callable[..., str]]] = {
    "mfrac": (2, _fraction),
    "msup": (2, _raised),
    "mover": (2, _raised),
    "msub": (2, _lowered),
    "munder": (2, _lowered),
    "msubsup": (3, _both),
    "munderover": (3, _both),
    "mroot": (2, _root),
}
"""Elements of MathML with as many children, each of which has its place."""
_BETWEEN = {"m": "; ", "mr": ", ", "mtable": "; ", "mtr": ", "}
"""Signs between the rows, and the cells, of a matrix."""
