"""The numbers of lists, in the forms that Word and HTML write them in."""

from __future__ import annotations

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_ROMAN, _MOST_LETTERS, _MOST_IDEOGRAPHS = 3999, 26 * 9, 99
_DIGITS = " 一二三四五六七八九"


def numeral(number: int, form: str) -> str:
    """A number in a form that is named as Word does: "lowerRoman", "upperLetter", "none".

    In figures where it is beyond the form, or that is rare.
    """
    if form.endswith("Letter") and 0 < number <= _MOST_LETTERS:
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif form.endswith("Roman") and 0 < number <= _MOST_ROMAN:
        text = ""
        for value, letters in _ROMAN:
            text += letters * (number // value)
            number %= value
    elif "ounting" in form and 0 < number <= _MOST_IDEOGRAPHS:
        tens, ones = divmod(number, 10)
        text = (_DIGITS[tens].replace("一", "") + "十" if tens else "") + _DIGITS[ones]
    else:
        text = "" if form in ("none", "bullet") else str(number)
    return text.upper().strip() if form.startswith("upper") else text.strip()
