"""What words tell of a sentence: how many there are, that it warns, or that it points back."""

import re

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WARNING = re.compile(
    r"\b(?:warnings?|cautions?|danger(?:ous)?|beware|hazards?|never|(?:must|do|does|should|may) not|cannot be undone"
    r"|don['’]t|mustn['’]t|be careful|at your own risk|irreversibl[ey]|risk of|data loss|injury|electric shock"
    r"|achtung|warnung|vorsicht|gefahr|avertissement|danger|advertencia|precaución|peligro|avvertenza|pericolo)\b",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"[\"“'(]*(?:th(?:is|at|ese|ose|ey|en|us|erefore)|it|its|their|he|she|his|her|such|however|hence|moreover"
    r"|furthermore|also|additionally|otherwise|instead|similarly|likewise|but|and|or|so|nevertheless|nonetheless"
    r"|conversely|consequently|still|yet|finally|afterwards?|meanwhile|again|both|neither|another|others?"
    r"|in (?:addition|this case|that case|these cases|both cases|contrast|turn|other words|particular|such cases?)"
    r"|for (?:example|instance|this|that)|as (?:a result|such)"
    r"|on the other hand|the (?:latter|former|same|second|other))\b",
    re.IGNORECASE,
)


def count_words(text: str) -> int:
    """Counts words; a character of a script without spaces counts as one."""
    return len(text.split()) + (0 if text.isascii() else len(_CJK.findall(text)))


def is_warning(text: str) -> bool:
    """Tells whether a text warns of something or forbids it."""
    return bool(_WARNING.search(text))


def leans_on_previous(text: str) -> bool:
    """Tells whether a sentence begins with a word that points back: "It", "However", "For example"."""
    return bool(_OPENER.match(text))


def starts_inside(text: str) -> bool:
    """Tells whether a text begins in the middle of a sentence: with a small letter or a closing mark."""
    return text[:1].islower() or text[:1] in ",;:)]}"
