"""Recognizes texts that bind somebody, such as contracts, and what is at stake in their sentences.

Who signs wants to know what is paid, for how long and up to which limit. Where a
clause stands in its section says little.
"""

import re
from collections.abc import Sequence

import numpy as np

from pipeline.summarize.extractive.centrality import Float64
from pipeline.summarize.extractive.excerpt import STATEMENTS, Excerpt

_BINDS = re.compile(
    r"\b(?:shall|must|hereby|undertakes?|agree[sd]? (?:to|that)|may (?:not )?(?:terminate|assign)"
    r"|(?:is|are) (?:not )?(?:entitled|liable|obliged|required|responsible|payable)"
    r"|verpflichtet|berechtigt|haftet|schuldet|ist zu zahlen|(?:ha[bt]|haben)\b[^.]{1,60}\bzu \w+en\b)|应当|不得|有权",
    re.IGNORECASE,
)
# Share of sentences that bind: in chapters of two manuals and 160 news articles at most 0.14, in contracts from 0.49.
_FEW_BINDING, _MANY_BINDING = 0.15, 0.3
_CURRENCY = r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|SEK|NOK|DKK|JPY|CNY|RMB|INR|CAD|AUD|Euro|dollars?|pounds?|Franken)\b|元)"
_MONEY = re.compile(rf"{_CURRENCY}\s?\d|\d[.,]*\s?(?:million |Mio\. |万)?{_CURRENCY}", re.IGNORECASE)
_SHARE = re.compile(r"\d\s?(?:%|％|percent\b|per cent\b|Prozent\b)", re.IGNORECASE)
_SPELLED = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|sixty|ninety"
    r"|eine[mnrs]?|zwei|drei|vier|fünf|sechs|acht|zehn|zwölf)"
)
_PERIOD = re.compile(
    rf"(?:\b(?:\d+|{_SPELLED})\)?(?: (?:calendar|business|working|full))?[ -]"
    r"(?:hour|day|week|month|year|Tag|Woche|Monat|Jahr)|\d\s?(?:日|天|个月|年))",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:exceed(?:s|ing)?|at most|up to|limited to|(?:no|not) (?:more|less|later) than|at least|höchstens|mindestens"
    r"|bis zu|begrenzt|beschränkt)\b|不超过|至少",
    re.IGNORECASE,
)
_CONSEQUENCE = re.compile(
    r"\b(?:liab(?:le|ility|ilities)|penalt(?:y|ies)|indemnif\w+|damages|terminate[sd]?|termination|renew(?:s|al)?"
    r"|end (?:this|the)|haftet|Haftung|Vertragsstrafe|Schadens\w+|kündig\w*|verlängert)\b|责任|违约|终止|解除",
    re.IGNORECASE,
)
_KINDS = ((_MONEY, 3.0), (_SHARE, 1.0), (_PERIOD, 1.0), (_LIMIT, 1.0), (_CONSEQUENCE, 1.0))
_FULL_STAKES, _STAKES_WEIGHT = 3.0, 0.5


def blend_stakes(score: Float64, excerpts: Sequence[Excerpt], positions: Sequence[int], binding: float) -> Float64:
    """Returns what sentences are worth, the more by what is at stake the more of the text binds.

    Args:
        score: shape (sentences,), in [0, 1].
        positions: of the sentences.
        binding: see `bindingness`.
    """
    if not binding:
        return score
    stakes = np.array([_stakes(excerpts[position].text) for position in positions])
    return np.asarray(score + _STAKES_WEIGHT * binding * (stakes - score))


def bindingness(excerpts: Sequence[Excerpt]) -> float:
    """Returns 0 for a text that tells or explains, 1 for one that is agreed on."""
    sentences = [excerpt for excerpt in excerpts if excerpt.kind in STATEMENTS and not excerpt.is_cut]
    share = sum(bool(_BINDS.search(excerpt.text)) for excerpt in sentences) / max(1, len(sentences))
    return min(1.0, max(0.0, (share - _FEW_BINDING) / (_MANY_BINDING - _FEW_BINDING)))


def _stakes(text: str) -> float:
    """Returns from 0 to 1 how much a sentence says of money, shares, periods and limits."""
    return min(1.0, sum(weight * bool(pattern.search(text)) for pattern, weight in _KINDS) / _FULL_STAKES)
