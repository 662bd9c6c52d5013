"""Characters of fonts that draw signs in the places of letters: Symbol and Wingdings, in Unicode.

Word writes them by font and code, where "5 μm" would be read as "5 m".
"""

from __future__ import annotations

import re

_FIRST, _LAST = 0xF020, 0xF0FF
"""The private characters that stand for the codes of such a font."""
_PRIVATE = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")
_CODE = re.compile("[0-9A-Fa-f]{1,4}")


def _from(start: int, signs: str) -> dict[int, str]:
    return dict(enumerate(signs, start))


_ASCII = {code: chr(code) for code in range(0x20, 0x40)}
_SYMBOL = (
    _ASCII
    | {0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅"}
    | _from(0x41, "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_")
    | _from(0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼")
    | _from(0xA0, "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|―↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑")
    | {0xF1: "⟩", 0xF2: "∫"}
)  # fmt: skip
_WINGDINGS = (
    {0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x76: "❖", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢"}
    | _from(0xDF, "←→↑↓")
    | _from(0xFB, "✗✓☒☑")
)
_FONTS = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x54: "☒", 0xA3: "☐"},
}
"""By the name of the font, code to sign: as http://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/
has Symbol's; of Wingdings those that say something."""


def sign_of(font: str, code: str) -> str:
    """The sign of a hexadecimal code in a font; '' of what neither font nor Unicode tells."""
    number = int(code, 16) if _CODE.fullmatch(code) else 0
    if _FIRST <= number <= _LAST or font.lower() in _FONTS:
        return _FONTS.get(font.lower(), {}).get(number & 0xFF, "")
    return chr(number) if number >= ord(" ") and not 0xD800 <= number <= 0xDFFF else ""


def has_signs(text: str) -> bool:
    """True where a text has private characters of such fonts."""
    return _PRIVATE.search(text) is not None


def with_signs(font: str, text: str) -> str:
    """A text in ``font`` with the signs of its private characters, as they are without one."""
    signs = _FONTS.get(font.lower(), {})
    return _PRIVATE.sub(lambda found: signs.get(ord(found[0]) & 0xFF, found[0]), text)
