"""Units of measurement as they stand in manuals: SI with prefixes, imperial, data, time, ratios."""

import re

_PREFIXED = {
    "m": "k c m µ n d", "g": "k m µ", "s": "m µ n", "l": "m c d", "L": "m", "t": "", "Hz": "k M G T", "V": "k m µ M",
    "A": "k m µ", "W": "k m M G", "VA": "k M", "Wh": "k M", "Ah": "m k", "Ω": "k M m", "F": "µ n p m", "H": "m µ",
    "Pa": "k M h G", "bar": "m", "N": "k M m", "Nm": "k", "J": "k M m", "K": "", "B": "k K M G T P", "b": "k M G",
    "iB": "K M G T P", "bps": "k M G", "bit": "k M G", "lm": "", "lx": "", "cd": "", "mol": "m µ", "dB": "", "dBA": "",
    "dBm": "", "cal": "k", "eV": "k M", "T": "m", "Sv": "m µ", "Bq": "k M",
}  # fmt: skip
_WORDS = """
    % ‰ ° °C °F ° C F ℃ ℉ ft yd mi lb lbs oz gal psi PSI psig psia rpm RPM r/min min h hr hrs d Ω ohm ohms kph mph km/h
    px dpi ppm ppb sqft cfm CFM gpm GPM hp HP fps mil mils in inHg mmHg inch inches foot feet yard yards mile miles
    meter meters metre metres millimeter millimeters millimetre millimetres centimeter centimeters centimetre
    centimetres kilometer kilometers kilometre kilometres micron microns gram grams kilogram kilograms pound pounds
    ounce ounces ton tons tonne tonnes liter liters litre litres gallon gallons second seconds sec secs minute minutes
    mins hour hours day days week weeks month months year years millisecond milliseconds microsecond microseconds volt
    volts amp amps ampere amperes watt watts kilowatt kilowatts joule joules newton newtons pascal pascals hertz
    kilohertz megahertz gigahertz degree degrees celsius fahrenheit kelvin percent bit bits byte bytes kilobyte
    kilobytes megabyte megabytes gigabyte gigabytes terabyte terabytes cycles pixels characters lines
"""
# "4 in a row", "2 C programs": words that are units only when they touch the number.
_ONLY_ATTACHED = {"in", "d", "C", "F", "T", "H", "mi", "mil", "b", "°"}
_UNITS = frozenset(_WORDS.split()) | {
    prefix + unit for unit, prefixes in _PREFIXED.items() for prefix in ("", *prefixes.split())
} - {"iB"}
_EXPONENT = re.compile(r"\^?[-−]?[¹²³23]$")
_FACTORS = re.compile(r"[/·*⋅]")


def is_unit(word: str, *, is_attached: bool) -> bool:
    """Tells whether a word is a unit, alone or composed: "mm", "N·m", "m/s²", "l/min".

    Args:
        word: as it stands, without punctuation around it.
        is_attached: True if it touches the number before it.
    """
    if not word or len(word) > len("millimetres/millisecond"):
        return False
    if word in _UNITS:
        return is_attached or word not in _ONLY_ATTACHED
    factors = _FACTORS.split(word.replace("μ", "µ"))
    return all(factor in _UNITS or _EXPONENT.sub("", factor) in _UNITS for factor in factors)
