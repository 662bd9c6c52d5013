"""Formulas of Office and of MathML as a line: (a+b)/2, x^2, √(y).

Their parts stand above, below and beside each other; read one after another, 1/2 would be 12.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

from pipelines.readers.office import is_element, local_name

Parts = list[tuple[str, str]]
"""The names and texts of the elements in a part of a formula."""
_PASSED_OVER = frozenset("annotation annotation-xml ctrlPr rPr del moveFrom mphantom".split())
_WORDS = frozenset("mi mn mo ms mtext".split())
_RUNS = frozenset("r t".split())
_BESIDE = _WORDS | _RUNS | {"mrow", "mstyle", "mpadded"}
"""Elements that stand on the line and have no height of their own."""
_MOST_DEEP = 60  # a formula in a formula; what is deeper has its words, without their places
_SIGN = "∫"  # of a sum over a range that names none (ISO/IEC 29500-1, 22.1.2.70)
_APPLIED = "\u2061"
_UNSEEN = str.maketrans({"\u2062": "", "\u2063": ",", "\u2064": " "})
"""Signs that are not drawn: times, a comma, and the plus of 1 1/2."""
_LINE, _LOW_LINE = "\u0305", "\u0332"
_ACCENTS = dict(
    zip("^ˆ¯‾~˜→.˙¨", "\u0302\u0302\u0304\u0305\u0303\u0303\u20d7\u0307\u0307\u0308", strict=True)
)
"""Accents by the sign that is put over a letter: in Unicode they join the letter before."""


def formula_text(element: Any, deep: int = 0) -> str:
    """The text of a formula, ``m:oMath`` or ``math``, or of a part of one."""
    name = local_name(element)
    if name in _PASSED_OVER:
        return ""
    if name == "t":
        return element.text or ""
    if name == "mspace":
        return " "
    parts = [part for part in element if is_element(part)]
    if name in _WORDS or not parts or deep > _MOST_DEEP:
        apart = "" if name in _WORDS else " "
        return " ".join(apart.join(element.itertext("*")).translate(_UNSEEN).split())
    texts = [(local_name(part), formula_text(part, deep + 1)) for part in parts]
    given = _MATHML.get(name)
    if given and len(texts) == given[0]:
        return given[1](*(text for _, text in texts))
    return _SHAPES.get(name, _in_row)(element, texts)


def write_out(tree: Any) -> None:
    """Put the text of each formula of a page in its place."""
    for formula in tree.xpath("//*[self::math or substring-after(name(), ':') = 'math']"):
        for part in filter(is_element, formula.iter()):
            part.tag = part.tag.rpartition(":")[2]
        text = formula_text(formula)
        formula.clear(keep_tail=True)
        formula.tag, formula.text = "span", text


def _in_row(_: Any, parts: Parts) -> str:
    """Parts beside each other, apart where they would be read as one: sin x, 1 1/2."""
    pieces, before, applied = [""], "", False
    for name, text in parts:
        if text == _APPLIED:
            applied = True
        elif text:
            if (applied and text[0].isalnum()) or _are_one(before, pieces[-1], name, text):
                pieces.append(" ")
            pieces.append(text)
            before, applied = name, False
    return "".join(pieces)


def _are_one(before: str, left: str, name: str, right: str) -> bool:
    """True where a part ``left``, of an element ``before``, would end as ``right`` begins."""
    if not right[0].isalnum() or (before in _RUNS and name in _RUNS):  # Word cuts runs anywhere
        return False
    if _is_word(right[:2]):
        return left[-1:].isalnum() or left[-1:] == ")"
    if before in _BESIDE and name in _BESIDE:
        return _is_word(left[-2:])
    is_letter = left[-1:].isalpha()
    if right[0].isdigit():
        return is_letter or left[-1:].isdigit()
    return is_letter and (before not in _BESIDE or _is_word(left[-2:]))


def _is_word(two: str) -> bool:
    return len(two) == 2 and two.isalpha()


def _grouped(text: str) -> str:
    is_one = len(text) < 2 or text.isalpha() or text.replace(".", "").isdecimal()
    return text if is_one or _is_enclosed(text) else f"({text})"


def _is_enclosed(text: str) -> bool:
    """True where the first character is a bracket that the last one closes."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return place == len(text) - 1
    return False


def _fraction(above: str, below: str) -> str:
    return f"{above if above.isalnum() else _grouped(above)}/{_grouped(below)}"


def _both(base: str, below: str, above: str) -> str:
    scripts = "".join(f"{sign}{_grouped(s)}" for sign, s in (("_", below), ("^", above)) if s)
    return f"{_grouped(base) if scripts and {*base} & {*'/^_√'} else base}{scripts}"


def _raised(base: str, above: str) -> str:
    return _both(base, "", above)


def _lowered(base: str, below: str) -> str:
    return _both(base, below, "")


def _over(base: str, above: str) -> str:
    return _grouped(base) + _ACCENTS[above] if above in _ACCENTS else _raised(base, above)


def _under(base: str, below: str) -> str:
    return _grouped(base) + _LOW_LINE if below in ("_", _LOW_LINE) else _lowered(base, below)


def _root(base: str, degree: str = "") -> str:
    return f"√{f'[{degree}]' if degree else ''}{_grouped(base)}"


def _value(element: Any, name: str, otherwise: str) -> str:
    """The value that a property of a part of a formula names; ``otherwise`` where none does."""
    found = element.find(f"{{*}}{local_name(element)}Pr/{{*}}{name}")
    if found is None:
        return otherwise
    return next((str(v) for key, v in found.items() if key.rpartition("}")[2] == "val"), "")


def _bracketed(element: Any, parts: Parts) -> str:
    between = _value(element, "sepChr", "|").join(text for name, text in parts if name == "e")
    return f"{_value(element, 'begChr', '(')}{between}{_value(element, 'endChr', ')')}"


def _fenced(element: Any, parts: Parts) -> str:
    """The brackets of MathML's ``mfenced`` and its separators, of which the last one goes on."""
    signs = "".join(element.get("separators", ",").split())
    endless = chain(("",), signs, repeat(signs[-1:]))
    within = "".join(sign + text for sign, (_, text) in zip(endless, parts, strict=False))
    return f"{element.get('open', '(')}{within}{element.get('close', ')')}"


def _over_range(element: Any, parts: Parts) -> str:
    texts = dict(parts)
    sign = _both(_value(element, "chr", _SIGN), texts.get("sub", ""), texts.get("sup", ""))
    return f"{sign} {texts.get('e', '')}"


def _applied(_: Any, parts: Parts) -> str:
    texts = dict(parts)
    of = texts.get("e", "")
    return f"{texts.get('fName', '')}{'' if of.startswith('(') else ' '}{of}"


def _accented(element: Any, parts: Parts) -> str:
    sign = _value(element, "chr", _ACCENTS["^"])
    return _grouped(dict(parts).get("e", "")) + _ACCENTS.get(sign, sign)


def _barred(element: Any, parts: Parts) -> str:
    """A bar is below where nothing is said (ISO/IEC 29500-1, 22.1.2.7)."""
    line = _LINE if _value(element, "pos", "bot") == "top" else _LOW_LINE
    return _grouped(dict(parts).get("e", "")) + line


def _shown(element: Any, parts: Parts) -> str:
    return "" if _value(element, "show", "1") in ("0", "off", "false") else _in_row(element, parts)


def _with_scripts(_: Any, parts: Parts) -> str:
    """A base with pairs of scripts behind it, and in front of it those after ``mprescripts``."""
    names = [name for name, _ in parts]
    texts = [text for _, text in parts]
    end = names.index("mprescripts") if "mprescripts" in names else len(names)
    before, after = texts[end + 1 :], texts[1:end]
    sides = ["".join(side[place::2]) for side in (before, after) for place in (0, 1)]
    return _both("", *sides[:2]) + _both(texts[0], *sides[2:])


def _stacked(sign: str) -> Callable[[Any, Parts], str]:
    return lambda _, parts: sign.join(text for name, text in parts if name in _STACKED)


def _divided(element: Any, parts: Parts) -> str:
    """A fraction; without its bar, as of a binomial coefficient, one above the other."""
    texts = [text for name, text in parts if not name.endswith("Pr")]
    bare = _value(element, "type", "") == "noBar" or element.get("linethickness", "")[:1] == "0"
    return "; ".join(texts) if bare or len(texts) != 2 else _fraction(*texts)


def _of(made: Callable[..., str], *names: str) -> Callable[[Any, Parts], str]:
    return lambda _, parts: made(*(dict(parts).get(name, "") for name in names))


_STACKED = frozenset("oMathPara oMath e mr mtr mlabeledtr mtd".split())  # a:m has the first two
_SHAPES: dict[str, Callable[[Any, Parts], str]] = {
    "f": _divided,
    "sSup": _of(_raised, "e", "sup"),
    "sSub": _of(_lowered, "e", "sub"),
    "sSubSup": _of(_both, "e", "sub", "sup"),
    "sPre": _of(lambda base, below, above: _both("", below, above) + base, "e", "sub", "sup"),
    "limLow": _of(_lowered, "e", "lim"),
    "limUpp": _of(_raised, "e", "lim"),
    "rad": _of(_root, "e", "deg"),
    "groupChr": _of(_grouped, "e"),
    "nary": _over_range,
    "d": _bracketed,
    "func": _applied,
    "acc": _accented,
    "bar": _barred,
    "phant": _shown,
    "eqArr": _stacked("; "),
    "m": _stacked("; "),
    "mr": _stacked(", "),
    "mtable": _stacked("; "),
    "mtr": _stacked(", "),
    "mlabeledtr": _stacked(", "),
    "mfrac": _divided,
    "mfenced": _fenced,
    "mmultiscripts": _with_scripts,
    "msqrt": lambda element, parts: _root(_in_row(element, parts)),
}
"""Parts of Office's formulas (ISO/IEC 29500-1, 22.1.2) and of MathML by what they look like."""
_MATHML: dict[str, tuple[int, Callable[..., str]]] = {
    "msup": (2, _raised),
    "mover": (2, _over),
    "msub": (2, _lowered),
    "munder": (2, _under),
    "msubsup": (3, _both),
    "munderover": (3, _both),
    "mroot": (2, _root),
}
"""Elements of MathML with as many children, each of which has its place."""
