"""Words for numbers and what they count: English, German."""

from __future__ import annotations

SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
SMALL |= {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
SMALL |= {"dozen": 12, "twice": 2, "thrice": 3}
_GERMAN = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn"
SMALL |= {word: value for value, word in enumerate(_GERMAN.split())}
SMALL |= {"fünfzehn": 15, "sechzehn": 16, "siebzehn": 17, "achtzehn": 18, "neunzehn": 19}
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
SMALL |= {word: 10 * value for value, word in enumerate(_GERMAN_TENS, 2)}
SMALL |= {
    f"{one}und{ten}": value + 10 * tens
    for tens, ten in enumerate(_GERMAN_TENS, 2)
    for value, one in enumerate("ein zwei drei vier fünf sechs sieben acht neun".split(), 1)
}
SMALL |= {"hundert": 100, "einhundert": 100, "zweihundert": 200, "dreihundert": 300}
ORDINAL = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split(),
        1,
    )
}
ORDINAL |= {"twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100}
SCALE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
SCALE |= {"tausend": 10**3, "millionen": 10**6, "milliarde": 10**9, "milliarden": 10**9}
SCALE |= {"trillion": 10**12, "k": 10**3, "mn": 10**6, "mio": 10**6, "bn": 10**9}
NUMBER_WORDS = frozenset({*SMALL, *ORDINAL, "hundred", "thousand", "million", "billion"})
ORDER = frozenset({"st", "nd", "rd", "th", *SCALE})
PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8}
PARTS |= {"tenth": 10, "hälfte": 2, "halbe": 2, "halber": 2, "halben": 2, "viertel": 4}
PARTS |= {"drittel": 3, "fünftel": 5}
